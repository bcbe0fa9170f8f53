"""What an object's labels and annotations tell kadm. KubeAdmiral's internal twin of a key wins if it is there."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from kadm.model.objects import at
from kadm.model.repository import Manifest

FOLLOWERS = "followers"
DISABLE_FOLLOWING = "disable-following"
DRY_RUN = "dry-run"
NO_FEDERATED_RESOURCE = "no-federated-resource"
CONFLICT_RESOLUTION = "conflict-resolution"
CLUSTERS_TO_ADOPT = "clusters-to-adopt"
ORPHAN = "orphan"
RETAIN_REPLICAS = "retain-replicas"


class ClustersToAdopt(Struct, frozen=True):
    """Value of annotation ``clusters-to-adopt``: names, or a regular expression that is searched in names."""

    clusters: tuple[str, ...] = ()
    regexp: str = ""


def annotation(manifest: Manifest, name: str) -> str:
    """The value of KubeAdmiral's annotation ``name``, empty where it is absent (propagation spec 0.1)."""
    found = at(manifest.object, ("metadata", "annotations")) or {}
    for prefix in ("internal.kubeadmiral.io/", "kubeadmiral.io/"):
        if prefix + name in found:
            return str(found[prefix + name])
    return ""


def adopts_in(manifest: Manifest, member: str) -> bool:
    """Whether the manifest permits that an object which exists in this member already is taken over.

    Both annotations are needed (propagation spec 5.7); the loader has checked that the second can be read.
    """
    text = annotation(manifest, CLUSTERS_TO_ADOPT)
    if annotation(manifest, CONFLICT_RESOLUTION) != "adopt" or not text:
        return False
    chosen = msgspec.json.decode(text, type=ClustersToAdopt)
    return member in chosen.clusters or bool(chosen.regexp and re.search(chosen.regexp, member))


def is_held_back(manifest: Manifest) -> bool:
    """Whether the object is sent to no member as long as it is in none (propagation spec 5.10)."""
    return annotation(manifest, DRY_RUN) == "true"


def is_released(manifest: Manifest) -> bool:
    """Whether members keep the object when it leaves the repository: it is released, never deleted. Adopted objects
    always are, so that ``adopted`` asks for nothing (propagation spec 5.8)."""
    return annotation(manifest, ORPHAN) == "all"


def retains_replicas(manifest: Manifest) -> bool:
    """Whether a member's own number of replicas wins over git's (propagation spec 5.5)."""
    return annotation(manifest, RETAIN_REPLICAS) == "true"
