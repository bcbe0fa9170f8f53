"""What execute tells whoever watches it: progress, never results (those are in the report)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from kadm.model.objects import ObjectKey

Stage = Literal["recording", "writing", "waiting", "deleting", "done"]


class Event(Struct, frozen=True, kw_only=True):
    """Something began or ended in one member. ``finished`` of ``total`` changes are through there."""

    member: str
    stage: Stage
    finished: int
    total: int
    key: ObjectKey | None = None
    text: str = ""


Listener = Callable[[Event], None]


def nobody(_event: Event) -> None:
    """A listener that does not care."""
