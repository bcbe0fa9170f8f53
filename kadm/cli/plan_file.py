"""Plans in files: written so that only their owner reads them, and read with a clear word where they are none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from kadm.errors import UsageError
from kadm.model.saved import SAVED_API_VERSION, SAVED_FORMAT, SAVED_KIND, SavedPlan


def write_plan(path: Path, saved: SavedPlan) -> None:
    """Put the plan into the file, whole or not at all. Raises UsageError where that cannot be."""
    body = msgspec.json.format(msgspec.json.encode(saved, order="sorted"), indent=1) + b"\n"
    try:
        descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # new, and its owner's alone
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink()
            raise
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"the plan cannot be saved as {path}", why=why, hint="name another file") from error


def read_plan(path: Path) -> SavedPlan:
    """The plan in the file. Raises UsageError where it holds none that this kadm can read, OSError where none is."""
    text = path.read_bytes()
    try:
        head: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _not_a_plan(path, "it is not JSON") from error
    if not isinstance(head, dict) or (head.get("apiVersion"), head.get("kind")) != (SAVED_API_VERSION, SAVED_KIND):
        what = f"it is a {head['kind']}" if isinstance(head, dict) and isinstance(head.get("kind"), str) else ""
        raise _not_a_plan(path, what)
    if head.get("format") != SAVED_FORMAT:
        raise UsageError(
            f"{path} has plan format {head.get('format')}, this kadm knows {SAVED_FORMAT}",
            why=f"kadm {head.get('kadm', '(unknown)')} wrote it",
            hint="apply it with the kadm that made it, or make it anew with kadm plan --out",
        )
    try:
        return msgspec.convert(head, SavedPlan)
    except msgspec.ValidationError as error:
        raise _not_a_plan(path, str(error)) from error


def of_fleet(saved: SavedPlan, path: Path, fleet: str) -> SavedPlan:
    """The plan, if it is one of this fleet. Raises UsageError where it is not."""
    if saved.fleet != fleet:
        raise UsageError(
            f"{path} is a plan of fleet {saved.fleet}, this is {fleet}", hint="-C names the fleet's directory"
        )
    return saved


def _not_a_plan(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} is no saved plan", why=why, hint="kadm plan --out FILE makes one")
