"""How a record is written down: what many workloads have in common stands in it once.

The inputs of a decision tell of every member of the fleet, and a decision names every member that it places on; both
are the same for most workloads under one policy. Written once per workload, the record of a large fleet would be a
hundred megabytes.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from msgspec import Struct

from kadm.model.record import Record, RecordedWorkload

_LONG = 40
"""Texts of at least so many characters are written once: shorter ones are no longer than what would point to them."""


class _Workload(RecordedWorkload, frozen=True, kw_only=True, omit_defaults=True):
    """``texts``: trigger → index of its text. ``placed``: index of its placement, -1 for none."""

    texts: dict[str, int] = msgspec.field(default_factory=dict)
    placed: int = -1


class _Shared(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What workloads point to."""

    texts: tuple[str, ...] = ()
    placements: tuple[dict[str, int | None], ...] = ()


class _Stored(Record, frozen=True, kw_only=True, omit_defaults=True):
    workloads: tuple[_Workload, ...] = ()
    shared: _Shared = _Shared()


def encode_record(record: Record) -> bytes:
    """The record as JSON. The same record gives the same bytes; ``resource_version`` is not part of it."""
    texts: dict[str, int] = {}
    placements: dict[tuple[tuple[str, int | None], ...], int] = {}

    def stored(workload: RecordedWorkload) -> _Workload:
        long = {key: text for key, text in sorted(workload.triggers.items()) if len(text) >= _LONG}
        placement = tuple(sorted(workload.placement.items()))
        short = {key: text for key, text in workload.triggers.items() if key not in long}
        return _Workload(
            **_fields(workload, RecordedWorkload) | {"triggers": short, "placement": {}},
            texts={key: texts.setdefault(text, len(texts)) for key, text in long.items()},
            placed=placements.setdefault(placement, len(placements)) if placement else -1,
        )

    ordered = {
        "workloads": tuple(stored(workload) for workload in sorted(record.workloads, key=lambda entry: entry.key)),
        "objects": tuple(sorted(record.objects, key=lambda entry: entry.key)),
        "resource_version": "",
    }
    shared = _Shared(texts=tuple(texts), placements=tuple(dict(entries) for entries in placements))
    return msgspec.json.encode(_Stored(**_fields(record, Record) | ordered, shared=shared), order="sorted")


def decode_record(content: bytes) -> Record:
    """The record that ``encode_record`` wrote; workloads share what it holds once. Raises msgspec.DecodeError."""
    stored = msgspec.json.decode(content, type=_Stored)
    texts = [sys.intern(text) for text in stored.shared.texts]  # records of other members hold the same ones
    placements = stored.shared.placements
    try:
        workloads = tuple(
            RecordedWorkload(
                **_fields(entry, RecordedWorkload)
                | {
                    "triggers": {**entry.triggers, **{key: texts[index] for key, index in entry.texts.items()}},
                    "placement": placements[entry.placed] if entry.placed >= 0 else entry.placement,
                }
            )
            for entry in stored.workloads
        )
    except IndexError as error:
        raise msgspec.ValidationError("a workload points to what the record does not hold") from error
    return Record(**_fields(stored, Record) | {"workloads": workloads})


def _fields(value: Struct, kind: type[Struct]) -> dict[str, Any]:
    """The fields that ``kind`` has, by name."""
    return {name: getattr(value, name) for name in kind.__struct_fields__}
