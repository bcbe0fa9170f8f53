"""File names for rendered objects, one file per object."""

from __future__ import annotations

import hashlib
import re

from kadm.model.objects import ObjectKey

_MAX_CHARACTERS = 200
"""Well below the 255 bytes that file systems allow."""

_PLAIN = re.compile(r"[a-z0-9.-]*")


def file_name(key: ObjectKey) -> str:
    """A name that no other object's equals, not even on a file system that ignores case.

    Readable for ordinary names: ``deployment.apps_shop_web.yaml``, ``storageclass.storage.k8s.io__fast.yaml``.
    A hash is added wherever the readable name could be another object's too.
    """
    kind = f"{key.kind}.{key.group}" if key.group else key.kind
    readable = f"{kind.lower()}_{key.namespace}_{key.name}"
    if len(readable) <= _MAX_CHARACTERS and _unmistakable(key):
        return f"{readable}.yaml"
    exact = f"{key.group}\0{key.kind}\0{key.namespace}\0{key.name}"
    safe = re.sub(r"[^a-z0-9._-]", "-", readable.lower())[:_MAX_CHARACTERS]
    # One underscore more than a readable name has: the two sorts cannot meet.
    return f"{safe}_{hashlib.sha256(exact.encode()).hexdigest()[:16]}.yaml"


def _unmistakable(key: ObjectKey) -> bool:
    """Whether lower case loses nothing. Kubernetes' own groups hold no two kinds that differ in case alone."""
    if "." in key.kind or not all(
        _PLAIN.fullmatch(part) for part in (key.group, key.namespace, key.name, key.kind.lower())
    ):
        return False
    reserved = "." not in key.group or key.group.endswith(".k8s.io")
    return key.kind == key.kind.capitalize() or (reserved and key.kind[:1].isupper())
