"""ControllerRevisions, the history of StatefulSets and DaemonSets. Source: pkg/controller/history, Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadm.sandbox.api import Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update
from kadm.sandbox.controllers.hashes import revision_hash
from kadm.sandbox.controllers.objects import controller_reference

RESOURCE = "controllerrevisions.apps"
HASH_LABEL = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class History:
    """The owned revisions from the oldest on, the one of the present template among them; ``actions`` make it so."""

    revisions: tuple[Object, ...]
    update: Object
    actions: tuple[Action, ...]


def template_data(workload: Object) -> Object:
    """What a revision records of a workload: its pod template, as a patch that puts it in place."""
    template = workload["spec"]["template"]
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if value}
    return {"spec": {"template": {"$patch": "replace", **template, "metadata": metadata}}}


def history(workload: Object, owned: Sequence[Object]) -> History:
    """The revisions of ``workload``; a new template gets a new one, an old template its old one as the latest."""
    revisions = sorted(owned, key=lambda entry: (entry["revision"], entry["metadata"]["name"]))
    data = template_data(workload)
    latest = revisions[-1]["revision"] if revisions else 0
    same = next((entry for entry in reversed(revisions) if entry.get("data") == data), None)
    if same is None:
        made = _revision(workload, data, latest + 1)
        return History((*revisions, made), made, (Create(RESOURCE, made),))
    if same["revision"] == latest:
        return History(tuple(revisions), same, ())
    renumbered = {**same, "revision": latest + 1}
    others = tuple(entry for entry in revisions if entry is not same)
    return History((*others, renumbered), renumbered, (Update(RESOURCE, renumbered),))


def excess(found: History, in_use: Sequence[str], limit: int) -> list[Action]:
    """Deletions of the oldest revisions beyond ``limit`` that are neither the latest nor ``in_use`` (names)."""
    idle = [entry for entry in found.revisions if entry is not found.update and entry["metadata"]["name"] not in in_use]
    return [Delete(RESOURCE, entry) for entry in idle[: max(0, len(idle) - limit)]]


def _revision(workload: Object, data: Object, number: int) -> Object:
    metadata = workload["metadata"]
    digest = revision_hash(data, workload.get("status", {}).get("collisionCount") or 0)
    labels = (workload["spec"]["template"].get("metadata") or {}).get("labels") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{metadata['name']}-{digest}",
            "namespace": metadata["namespace"],
            "labels": {**labels, HASH_LABEL: digest},
            "ownerReferences": [controller_reference(workload)],
        },
        "data": data,
        "revision": number,
    }
