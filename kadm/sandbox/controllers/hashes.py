"""The short hashes in the names of ReplicaSets, ControllerRevisions and their pods.

Written in the alphabet that Kubernetes uses for them (apimachinery, util/rand.SafeEncodeString).
"""

from __future__ import annotations

import json

from kadm.sandbox.api import Object
from kadm.sandbox.controllers.template_dump import dump

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
FNV_OFFSET, FNV_PRIME = 2166136261, 16777619


def safe_encoded(text: str) -> str:
    """``text``, each character replaced by one of the alphabet that spells no words."""
    return "".join(ALPHABET[ord(char) % len(ALPHABET)] for char in text)


def fnv32(data: bytes) -> int:
    """FNV-1, 32 bits."""
    digest = FNV_OFFSET
    for byte in data:
        digest = (digest * FNV_PRIME & 0xFFFFFFFF) ^ byte
    return digest


def fnv32a(data: bytes) -> int:
    """FNV-1a, 32 bits."""
    digest = FNV_OFFSET
    for byte in data:
        digest = ((digest ^ byte) * FNV_PRIME) & 0xFFFFFFFF
    return digest


def pod_template_hash(template: Object, collisions: int | None) -> str:
    """The hash of a pod template; ``collisions`` (a status' collisionCount) gives another one for the same template.

    Source: pkg/controller ComputeHash.
    """
    data = dump(template).encode()
    if collisions is not None:
        data += collisions.to_bytes(4, "little").ljust(8, b"\0")
    return safe_encoded(str(fnv32a(data)))


def revision_hash(data: Object, collisions: int | None) -> str:
    """The hash of a ControllerRevision's data (history.HashControllerRevision)."""
    raw = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    if collisions is not None:
        raw += str(collisions).encode()
    return safe_encoded(str(fnv32(raw)))
