"""What a fleet, and the controllers that work for it, hold in members: everything that two runs must leave equal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kadm.model.applyset import applyset_id
from tests.e2e.access import Access
from tests.e2e.test_sigkill import record

Json = Any

KINDS = {
    "Namespace": "/api/v1/namespaces",
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "Pod": "/api/v1/pods",
    "Service": "/api/v1/services",
    "ConfigMap": "/api/v1/configmaps",
    "Secret": "/api/v1/secrets",
}
MADE_BY_CONTROLLERS = frozenset({"Pod", "ReplicaSet"})
OF_THE_MEMBER = frozenset({"kube-root-ca.crt", "kubernetes.io/service-account-token"})
"""A ConfigMap's name, and a Secret's type: every namespace has its own."""


@dataclass(frozen=True)
class Look:
    """What was there at one time, member → kind and object; not what is on its way out, or in a namespace that is.

    ``own`` are kadm's ConfigMaps and Secrets. A fleet's namespaces are those whose names begin with its name.
    """

    fleet: str
    objects: Mapping[str, list[tuple[str, Json]]]
    own: Mapping[str, list[tuple[str, Json]]]

    @classmethod
    def at(cls, accesses: Mapping[str, Access], fleet: str) -> Look:
        """Look at these members now."""
        objects, own = {}, {}
        for member, access in accesses.items():
            listed = {kind: access.call("GET", path)["items"] for kind, path in KINDS.items()}
            there = {
                one["metadata"]["name"]
                for one in listed["Namespace"]
                if one["metadata"]["name"].startswith(fleet) and "deletionTimestamp" not in one["metadata"]
            }
            objects[member] = list(_inside(listed, there))
            own[member] = [
                (kind, item)
                for kind in ("ConfigMap", "Secret")
                for item in listed[kind]
                if item["metadata"]["namespace"] == "kadm-system"
                and item["metadata"]["name"].startswith(f"kadm-{fleet}")
            ]
        return cls(fleet, objects, own)

    def uids(self) -> dict[str, str]:
        """Member and object → uid, but for what controllers make."""
        return {
            self._alike(f"{member} {_named(kind, item)}"): item["metadata"]["uid"]
            for member, objects in self.objects.items()
            for kind, item in objects
            if kind not in MADE_BY_CONTROLLERS
        }

    def replaced(self, before: Look) -> frozenset[str]:
        """The objects that were there before, too, and are others now."""
        then, now = before.uids(), self.uids()
        return frozenset(key for key in then.keys() & now.keys() if then[key] != now[key])

    def pods(self) -> dict[str, dict[str, str]]:
        """Member → uid of a pod → its workload."""
        return {
            member: {
                item["metadata"]["uid"]: item["metadata"]["labels"]["app"] for kind, item in objects if kind == "Pod"
            }
            for member, objects in self.objects.items()
        }

    def kept(self, before: Look) -> Json:
        """Member → workload → how many of its earlier pods are left."""
        now = self.pods()
        return {
            member: dict(sorted(Counter(app for uid, app in pods.items() if uid in now[member]).items()))
            for member, pods in before.pods().items()
        }

    def state(self) -> Json:
        """Member → everything that must be equal: specs, labels, generations, what kadm owns, and its record.

        Its Lease is not: one that a killed run leaves with nothing to do expires by itself.
        """
        return {member: self._state(member) for member in self.objects}

    def _state(self, member: str) -> Json:
        found = {_named(kind, item): _essence(kind, item) for kind, item in self.objects[member] if kind != "Pod"}
        for kind, item in self.own[member]:
            is_record = kind == "ConfigMap" and item["metadata"]["name"] == f"kadm-{self.fleet}"
            found[_named(kind, item)] = record(item) if is_record else "there"
        alike = json.loads(self._alike(json.dumps(found, sort_keys=True)))
        tracked = alike["ConfigMap/kadm-system/kadm-$NS"]
        tracked["objects"] = [one for one in tracked["objects"] if not _may_be_on_its_way_out(one)]
        return alike

    def _alike(self, text: str) -> str:
        """The text as it is for every fleet, whatever it is called."""
        return text.replace(applyset_id(f"kadm-{self.fleet}"), "$SET").replace(self.fleet, "$NS")


def _inside(listed: Mapping[str, Json], namespaces: set[str]) -> Iterator[tuple[str, Json]]:
    for kind, items in listed.items():
        for item in items:
            metadata = item["metadata"]
            of_the_member = metadata["name"] in OF_THE_MEMBER or item.get("type") in OF_THE_MEMBER
            place = metadata["name"] if kind == "Namespace" else metadata["namespace"]
            if place in namespaces and not of_the_member and "deletionTimestamp" not in metadata:
                yield kind, item


def _named(kind: str, item: Json) -> str:
    return f"{kind}/{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _may_be_on_its_way_out(recorded: Json) -> bool:
    """A namespace takes its time to go: the run that finds it being deleted keeps it in the record."""
    return (recorded["kind"], recorded["name"]) == ("Namespace", "$NS-old")


def _essence(kind: str, item: Json) -> Json:
    """What must be equal of an object."""
    metadata, spec = item["metadata"], dict(item.get("spec", {}))
    if kind == "ReplicaSet":
        return {"replicas": spec["replicas"], "template": spec["template"]}
    for name in ("clusterIP", "clusterIPs"):
        spec.pop(name, None)
    owned = [
        (one["manager"], one["operation"], one["fieldsV1"])
        for one in metadata.get("managedFields", ())
        if one["manager"].startswith("kadm")
    ]
    return {
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
        "generation": metadata.get("generation"),
        "spec": spec,
        "data": item.get("data", {}),
        "owned": sorted(owned, key=str),
    }
