"""Joining a webhook's urlPrefix and paths."""

from __future__ import annotations

import posixpath
from urllib.parse import urlsplit, urlunsplit


def joined(prefix: str, path: str) -> str:
    """``path`` below ``prefix``: one slash between segments, dot segments resolved, never above the root; a final
    slash and the prefix's query stay. Source: Go's url.JoinPath."""
    parts = urlsplit(prefix)
    clean = posixpath.normpath(f"/{parts.path}/{path}").lstrip("/")
    final = "/" if clean and path.endswith("/") else ""
    return urlunsplit(parts._replace(path=f"/{clean}{final}"))
