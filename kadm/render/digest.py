"""A short hash of a rendered object: equal for equal JSON values, whatever order their keys are in."""

from __future__ import annotations

import hashlib

import msgspec

from kadm.model.objects import JsonObject

_ENCODER = msgspec.json.Encoder(order="sorted")
_BYTES = 16


def digest_of(obj: JsonObject, *, secret: bytes = b"") -> str:
    """32 hex digits. With ``secret`` (at most 64 bytes) nobody without it can guess values from the digest."""
    return hashlib.blake2b(_ENCODER.encode(obj), digest_size=_BYTES, key=secret).hexdigest()
