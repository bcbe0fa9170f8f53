"""Members as their files record them, for whoever plans without asking anybody (``--offline``).

What a file does not record is assumed to be in order, and named: what is placed then may differ from what a plan that
asks the members would place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kadm.errors import Problem, RepoError
from kadm.model.cluster import FederatedCluster, RecordedStatus
from kadm.model.objects import GroupVersionKind
from kadm.model.observation import ApiResource, Capacity, MemberState, Observation, Ready
from kadm.model.quantity import QuantityError, parse_quantity
from kadm.model.repository import Repo

_READY: Mapping[str, Ready] = {"True": "True", "False": "False"}
_NAMED = 5


def recorded(repo: Repo) -> tuple[Observation, tuple[Problem, ...]]:
    """Every member by its recorded ``status``, and a warning for each thing that some of them do not record.

    A member that records no condition Ready counts as ready, one that records no types as serving every type that the
    repository uses; one without resources has no capacity. No member holds a record, so that nothing was placed before.
    Raises RepoError where a recorded resource is no quantity.
    """
    used = _types(repo)
    missing: dict[str, list[str]] = {}
    members: dict[str, MemberState] = {}
    problems: list[Problem] = []
    for cluster in sorted(repo.clusters, key=lambda cluster: cluster.name):
        status = cluster.status or RecordedStatus()
        problems += _resource_problems(cluster, status)
        ready = next((one for one in status.conditions if one.get("type") == "Ready"), None)
        if ready is None:
            missing.setdefault("whether the member is ready", []).append(cluster.name)
        if not status.api_resource_types:
            missing.setdefault("which types the member serves", []).append(cluster.name)
        members[cluster.name] = MemberState(
            name=cluster.name,
            uid="",
            version="",
            ready="True" if ready is None else _READY.get(str(ready.get("status")), "Unknown"),
            ready_reason="" if ready is None else str(ready.get("message") or ready.get("reason") or ""),
            api_resources=tuple(
                sorted(
                    ApiResource(
                        group=one.group,
                        version=one.version,
                        kind=one.kind,
                        plural=one.plural_name,
                        namespaced=one.scope != "Cluster",
                    )
                    for one in status.api_resource_types
                )
            )
            or used,
            capacity=_capacity(status),
        )
    if problems:
        raise RepoError(problems)
    return Observation(members), tuple(_unrecorded(what, names) for what, names in missing.items())


_ASSUMED = {
    "whether the member is ready": "it counts as ready",
    "which types the member serves": "it counts as serving whatever the repository uses",
}


def _unrecorded(what: str, names: list[str]) -> Problem:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    subject = "the file of" if len(names) == 1 else "the files of"
    does = "does" if len(names) == 1 else "do"
    return Problem(
        what=f"{subject} {', '.join(names[:_NAMED])}{more} {does} not record {what}",
        severity="warning",
        why=_ASSUMED[what],
        hint="a FederatedCluster records it in its status; without --offline the members are asked",
    )


def _types(repo: Repo) -> tuple[ApiResource, ...]:
    """The types of all manifests."""
    found: dict[GroupVersionKind, bool] = {}
    for manifest in repo.manifests:
        gvk = GroupVersionKind(manifest.key.group, manifest.version, manifest.key.kind)
        found[gvk] = bool(manifest.key.namespace)
    return tuple(
        sorted(
            ApiResource(group=gvk.group, version=gvk.version, kind=gvk.kind, plural="", namespaced=namespaced)
            for gvk, namespaced in found.items()
        )
    )


def _capacity(status: RecordedStatus) -> Capacity | None:
    resources = status.resources
    if not resources.allocatable:
        return None
    nodes = resources.schedulable_nodes or 0
    return Capacity(
        nodes=nodes,
        schedulable_nodes=nodes,
        allocatable=resources.allocatable,
        available=resources.available,
    )


def _resource_problems(cluster: FederatedCluster, status: RecordedStatus) -> Iterable[Problem]:
    for field in ("allocatable", "available"):
        for resource, text in getattr(status.resources, field).items():
            try:
                parse_quantity(text)
            except QuantityError as error:
                what = f"`status.resources.{field}.{resource}` is no quantity"
                yield Problem(what=what, where=cluster.location, why=str(error))
