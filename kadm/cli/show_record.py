"""A member's record as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kadm.cli.console import Console
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.plan_text import named
from kadm.model.record import Record, RecordedObject


def show_record(console: Console, record: Record, *, as_json: bool) -> None:
    """The record to stdout."""
    if as_json:
        console.data(encode(_document(record)))
        return
    commit = f", commit {record.commit}" if record.commit else ""
    console.data(f"Fleet {record.fleet} in {record.member or '(unnamed)'}: {len(record.objects)} objects{commit}.")
    workloads = {entry.key: entry for entry in record.workloads}
    rows = []
    for entry in sorted(record.objects, key=lambda entry: entry.key):
        decided = workloads.get(entry.key)
        replicas = decided.replicas if decided is not None else None
        divided = ", ".join(
            name if number is None else f"{name} {number}"
            for name, number in sorted((decided.placement if decided is not None else {}).items())
        )
        rows.append((named(entry.key), _origin(entry), "" if replicas is None else replicas, divided))
    if rows:
        console.table(("OBJECT", "ORIGIN", "REPLICAS", "PLACED IN"), rows, numbers=("REPLICAS",), gives_way="PLACED IN")


def object_lines(objects: Iterable[RecordedObject]) -> list[str]:
    """One line per object."""
    return [named(entry.key) for entry in sorted(objects, key=lambda entry: entry.key)]


def _origin(entry: RecordedObject) -> str:
    return entry.origin if entry.uid and not entry.recreating else f"{entry.origin}, not confirmed"


def _document(record: Record) -> dict[str, Any]:
    """The record as a document of kind Record."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Record",
        "fleet": record.fleet,
        "member": record.member,
        "memberUID": record.member_uid,
        "commit": record.commit,
        "format": record.format,
        "objects": [_object(entry) for entry in sorted(record.objects, key=lambda entry: entry.key)],
        "workloads": [msgspec.to_builtins(entry) for entry in sorted(record.workloads, key=lambda entry: entry.key)],
    }


def _object(entry: RecordedObject) -> dict[str, Any]:
    return {
        "group": entry.group,
        "version": entry.version,
        "kind": entry.kind,
        "namespace": entry.namespace,
        "name": entry.name,
        "uid": entry.uid,
        "origin": entry.origin,
    }
