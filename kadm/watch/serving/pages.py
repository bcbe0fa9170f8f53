"""The files of the page, read once: they are part of the package, and nothing comes from outside."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from msgspec import Struct

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""Ending → media type. Whatever else stands in the folder is not served."""

_INDEX = "index.html"


class PageFile(Struct, frozen=True, kw_only=True):
    """One file as it is served."""

    body: bytes
    content_type: str
    etag: str


def page_files() -> Mapping[str, PageFile]:
    """Path → file, sorted; the page itself is ``/``."""
    found = {}
    for entry in sorted(files(__package__).joinpath("page").iterdir(), key=lambda entry: entry.name):
        content_type = _TYPES.get(entry.name.rpartition(".")[2])
        if content_type is not None:
            body = entry.read_bytes()
            path = "/" if entry.name == _INDEX else f"/{entry.name}"
            found[path] = PageFile(body=body, content_type=content_type, etag=etag_of(body))
    return MappingProxyType(found)


def etag_of(content: bytes) -> str:
    """A strong ETag: the same for the same bytes, in every run."""
    return f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
