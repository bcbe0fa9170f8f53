"""What a namespace holds from the start, and how it empties when it is deleted.

Source: pkg/controller/serviceaccount, .../certificates/rootcacertpublisher and .../namespace of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, timestamp

FINALIZER = "kubernetes"
AT_A_TIME = 100  # deletions between which requests are answered
ROOT_CA = "kube-root-ca.crt"
ROOT_CA_TEXT = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


@dataclass(frozen=True)
class NamespaceDefaults:
    """ServiceAccount ``default`` and ConfigMap ``kube-root-ca.crt`` in every namespace. ``ca`` is the latter's PEM."""

    api: ApiServer
    ca: str = ""

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == "namespaces":
            yield "", metadata["name"]
        elif (event.resource, metadata["name"]) in (("serviceaccounts", "default"), ("configmaps", ROOT_CA)):
            yield "", metadata["namespace"]

    def sync(self, namespace: str, name: str) -> float | None:
        live = self.api.find("namespaces", "", name)
        if live is None or being_deleted(live):
            return None
        if self.api.find("serviceaccounts", name, "default") is None:
            metadata = {"name": "default", "namespace": name}
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
            perform(self.api, [Create("serviceaccounts", account)])
        bundle = self.api.find("configmaps", name, ROOT_CA)
        if bundle is None:
            perform(self.api, [Create("configmaps", root_ca(name, self.ca))])
        elif bundle.get("data") != {"ca.crt": self.ca}:
            perform(self.api, [Update("configmaps", {**bundle, "data": {"ca.crt": self.ca}})])
        return None


def root_ca(namespace: str, ca: str) -> Object:
    """The ConfigMap that tells pods which CA to trust."""
    annotations = {"kubernetes.io/description": ROOT_CA_TEXT}
    metadata = {"name": ROOT_CA, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"ca.crt": ca}}


@dataclass(frozen=True)
class NamespaceDeletion:
    """Deletes what is in a terminating namespace; the namespace goes once it is empty."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == "namespaces":
            if being_deleted(event.object):
                yield "", metadata["name"]
        elif space := metadata.get("namespace"):
            live = self.api.find("namespaces", "", space)
            if live and being_deleted(live):
                yield "", space

    def sync(self, namespace: str, name: str) -> float | None:
        live = self.api.find("namespaces", "", name)
        if live is None or not being_deleted(live) or FINALIZER not in live["spec"].get("finalizers", ()):
            return None
        # the kubelet ends pods, so they keep their grace period; a second request would shorten nothing
        todo = [
            Delete(resource, obj, propagation="Background")
            for resource, content in self._content(name)
            for obj in content
            if not being_deleted(obj)
        ]
        perform(self.api, todo[:AT_A_TIME])
        if len(todo) > AT_A_TIME:
            return 0.0
        remaining = self._content(name)
        if not remaining:
            self.api.finalize_namespace(
                name, tuple(entry for entry in live["spec"]["finalizers"] if entry != FINALIZER)
            )
            return None
        conditions = remaining_conditions(remaining, live.get("status", {}).get("conditions") or (), self.api.clock())
        if conditions != live.get("status", {}).get("conditions"):
            status = {**live["status"], "conditions": conditions}
            perform(self.api, [Update("namespaces", {**live, "status": status}, "status")])
        return None

    def _content(self, namespace: str) -> list[tuple[str, list[Object]]]:
        listed = ((resource, self.api.store.list(resource, namespace)) for resource in self.api.store.resources())
        return [(resource, content) for resource, content in listed if content]


def remaining_conditions(
    remaining: Sequence[tuple[str, Sequence[Object]]], before: Sequence[Object], now: datetime
) -> list[Object]:
    """The conditions that say what holds a namespace; ``remaining`` is what is left by resource."""
    resources = ", ".join(
        f"{resource if '.' in resource else f'{resource}.'} has {len(content)} resource instances"
        for resource, content in remaining
    )
    holders: dict[str, int] = {}
    for _, content in remaining:
        for obj in content:
            for finalizer in obj["metadata"].get("finalizers") or ():
                holders[finalizer] = holders.get(finalizer, 0) + 1
    finalizers = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(holders.items()))
    states = [
        ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered", False),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
            False,
        ),
        (
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
            False,
        ),
        ("NamespaceContentRemaining", "SomeResourcesRemain", f"Some resources are remaining: {resources}", True),
    ]
    if holders:
        text = f"Some content in the namespace has finalizers remaining: {finalizers}"
        states.append(("NamespaceFinalizersRemaining", "SomeFinalizersRemain", text, True))
    else:
        states.append(
            (
                "NamespaceFinalizersRemaining",
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
                False,
            )
        )
    known = {entry["type"]: entry for entry in before}
    conditions: list[Object] = []
    for kind, reason, message, holds in states:
        state = "True" if holds else "False"
        previous = known.get(kind)
        since = previous["lastTransitionTime"] if previous and previous["status"] == state else timestamp(now)
        conditions.append(
            {"type": kind, "status": state, "lastTransitionTime": since, "reason": reason, "message": message}
        )
    return conditions
