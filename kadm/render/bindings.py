"""What an object's labels and annotations tell kadm. KubeAdmiral's internal twin of a key wins if it is there."""

from __future__ import annotations

from kadm.model.objects import at
from kadm.model.repository import Manifest

FOLLOWERS = "followers"
DISABLE_FOLLOWING = "disable-following"
NO_FEDERATED_RESOURCE = "no-federated-resource"


def annotation(manifest: Manifest, name: str) -> str:
    """The value of KubeAdmiral's annotation ``name``, empty where it is absent (propagation spec 0.1)."""
    found = at(manifest.object, ("metadata", "annotations")) or {}
    for prefix in ("internal.kubeadmiral.io/", "kubeadmiral.io/"):
        if prefix + name in found:
            return str(found[prefix + name])
    return ""
