"""A fault of kadm's own in one line."""

from __future__ import annotations

import traceback
from pathlib import Path

from kadm.errors import Problem


def bug(error: Exception) -> Problem:
    """Where it happened. Its message is left out: it may quote a value that must not be shown.

    Of faults that came together, or one within the other, the first is told: where tasks were waited for says nothing.
    """
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    *_, last = traceback.extract_tb(first.__traceback__)
    return Problem(
        what=f"a fault in kadm: {type(first).__name__} in {Path(last.filename).name}:{last.lineno}",
        hint="please report it, with what kadm --debug prints",
    )
