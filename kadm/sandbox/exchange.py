"""A request as it came in, and what answers it: in one piece, or as a stream that goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kadm.sandbox.store import Object
from kadm.sandbox.watches import ClientWatch, Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it came in. ``query`` has the last value of each key; ``dry_run`` all values of ``dryRun``."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    dry_run: list[str] = field(default_factory=list)
    body: bytes = b""
    content_type: str = ""
    accept: str = ""
    authorization: str | None = None
    impersonated: str = ""
    impersonated_groups: tuple[str, ...] = ()
    user_agent: str = ""

    @property
    def media_type(self) -> str:
        """The body's media type, without parameters."""
        return self.content_type.partition(";")[0].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer in one piece. ``body`` is an object to encode, or text."""

    status: int
    body: Object | str
    headers: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    yaml: bool = False
    media_parameters: str = ""
    """What follows ``application/json`` in the Content-Type, with its semicolon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer that goes on: the notices of ``watch``, each shown as ``show`` makes it, until ``timeout_s``."""

    watch: ClientWatch
    show: Callable[[Notice], Object]
    timeout_s: float
    bookmark: Callable[[], Notice] | None
    warnings: tuple[str, ...] = ()
