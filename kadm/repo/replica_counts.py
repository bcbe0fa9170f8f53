"""How many replicas a workload asks for: what no API server takes is refused before any member is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kadm.errors import Problem
from kadm.model.objects import at, path_text
from kadm.model.workload import workload_kind
from kadm.repo.documents import Document

_MAX = 2**31 - 1
"""The field is an int32 (apps/v1, batch/v1)."""


def replica_problems(group: str, kind: str, document: Document) -> Iterator[Problem]:
    """What is wrong with the replicas of a workload; nothing where it names none, or is none."""
    known = workload_kind(group, kind)
    if known is None or known.replicas_path is None:
        return
    path = known.replicas_path
    value = at(document.value, path)
    if value is None or (_is_whole(value) and 0 <= value <= _MAX):
        return
    hint = "write it without quotes" if isinstance(value, str) and value.isdecimal() else ""
    yield Problem(
        what=f"`{path_text(path)}` must be a whole number from 0 on, and is {_shown(value)}",
        where=document.locate(path),
        hint=hint,
    )


def _is_whole(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:60]
