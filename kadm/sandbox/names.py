"""Names that the server makes: the suffix behind ``generateName``, and uids."""

from __future__ import annotations

import secrets
import uuid

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""What suffixes and template hashes are made of: no vowels and no look-alikes (apimachinery ``util/rand``)."""

_MAX_BASE = 58  # with the suffix 63 characters, the length of a label


def new_uid() -> str:
    """A fresh uid."""
    return str(uuid.uuid4())


def new_suffix(length: int = 5) -> str:
    """Random characters as the server appends them to ``generateName``."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def generated_name(base: str, suffix: str) -> str:
    """The name made of a ``generateName`` and a suffix; a base that is too long is cut."""
    return base[:_MAX_BASE] + suffix
