"""What members' annotations say of a Deployment's newest ReplicaSet, collected into one annotation.

Source: propagation spec 6.2 (``LatestReplicasetDigest``). Only a member whose annotations are about the generation that
it has counts, and only where all of them are legible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from kadm.model.objects import JsonObject, at

DIGESTS = "kubeadmiral.io/latest-replicaset-digests"
SOURCE_GENERATION = "kubeadmiral.io/source-generation"
_PREFIX = "latestreplicaset.kubeadmiral.io/"
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_INT64 = range(-(2**63), 2**63)


class ReplicaSetDigest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The newest ReplicaSet of a Deployment in one member."""

    cluster_name: str
    replicaset_name: str = ""
    replicas: int = 0
    available_replicas: int = 0
    ready_replicas: int = 0
    observed_generation: int = 0
    source_generation: int = 0


def digests_text(members: Mapping[str, JsonObject]) -> str:
    """The annotation's value: a JSON list of the members that tell, by name."""
    found = [digest for name in sorted(members, key=str.encode) if (digest := _digest(name, members[name]))]
    return msgspec.json.encode(found).decode()


def _digest(member: str, live: JsonObject) -> ReplicaSetDigest | None:
    annotations = at(live, ("metadata", "annotations")) or {}
    generation = at(live, ("metadata", "generation")) or 0
    if annotations.get(_PREFIX + "observed-generation") != str(generation):
        return None  # they are about another spec
    name = annotations.get(_PREFIX + "name")
    numbers = [
        _integer(annotations.get(key))
        for key in (
            _PREFIX + "replicas",
            _PREFIX + "available-replicas",
            _PREFIX + "ready-replicas",
            SOURCE_GENERATION,
        )
    ]
    observed = at(live, ("status", "observedGeneration"))
    match numbers:
        case [int(replicas), int(available), int(ready), int(source)] if name is not None and isinstance(observed, int):
            return ReplicaSetDigest(
                cluster_name=member,
                replicaset_name=name,
                replicas=replicas,
                available_replicas=available,
                ready_replicas=ready,
                observed_generation=observed,
                source_generation=source,
            )
        case _:
            return None


def _integer(text: str | None) -> int | None:
    if text is None or not _INTEGER.fullmatch(text) or int(text) not in _INT64:
        return None
    return int(text)
