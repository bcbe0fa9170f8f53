"""Image references: ``[registry/]repository[:tag][@digest]``, as the distribution project's grammar has them.

The registry is split off without Docker Hub's normalisation (propagation spec 1.4): ``nginx`` has none, and neither has
``ealen/echo``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kadm.overrides.error import OverrideError

_NAME_MAX = 255
_DOMAIN_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*(?::[0-9]+)?"
# The grammar's separator is `[-]*`; demanding one dash accepts the same names without exponential backtracking.
_PATH_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_TAG = r"\w[\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(
    rf"(?P<name>(?:{_DOMAIN}/)?{_PATH_PART}(?:/{_PATH_PART})*)(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?",
    re.ASCII,
)
_TAG_ALONE = re.compile(_TAG, re.ASCII)
_DIGEST_ALONE = re.compile(_DIGEST, re.ASCII)
_HEX_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
"""Registered algorithm → length of its digest in lower-case hex digits."""


@dataclass(frozen=True)
class ImageReference:
    """The parts of a reference; an empty one is absent."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        text = f"{self.registry}/{self.repository}" if self.registry else self.repository
        if self.tag:
            text += f":{self.tag}"
        return f"{text}@{self.digest}" if self.digest else text


def parse_image(text: str) -> ImageReference:
    """The parts of ``text``. Raises OverrideError where it is no image reference."""
    found = _REFERENCE.fullmatch(text)
    if not found or len(found["name"]) > _NAME_MAX:
        raise OverrideError("not a valid image reference")
    digest = found["digest"] or ""
    if digest:
        algorithm, _, digits = digest.partition(":")
        if len(digits) != _HEX_DIGITS.get(algorithm) or digits != digits.lower():
            raise OverrideError("not a valid image reference: its digest is not one of a registered algorithm")
    first, slash, rest = found["name"].partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return ImageReference(first, rest, found["tag"] or "", digest)
    return ImageReference("", found["name"], found["tag"] or "", digest)


def is_tag(text: str) -> bool:
    """Whether ``text`` can stand after the colon."""
    return _TAG_ALONE.fullmatch(text) is not None


def is_digest(text: str) -> bool:
    """Whether ``text`` has the form of a digest; the algorithm need not be a registered one."""
    return _DIGEST_ALONE.fullmatch(text) is not None
