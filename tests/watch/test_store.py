"""The state directory: one daemon each, and never half a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.errors import UsageError
from kadm.watch.state import WatchEvent
from kadm.watch.store import Kept, Store, write_whole

EVENT = WatchEvent(number=7, at="2026-01-02T03:04:05Z", kind="lost", text="no connection", member="eu")


def test_what_is_kept_is_there_again(tmp_path: Path) -> None:
    first = Store(tmp_path / "state")
    assert first.open() == Kept()
    first.save(Kept(events=(EVENT,)))
    first.close()
    second = Store(tmp_path / "state")
    assert second.open() == Kept(events=(EVENT,))
    second.close()


def test_a_second_daemon_is_refused(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    first.open()
    with pytest.raises(UsageError, match="another kadm watch uses"):
        second.open()
    second.close()
    first.close()


def test_a_damaged_file_costs_the_trail_alone(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"events": [')
    store = Store(tmp_path)
    assert (store.open(), store.damage.partition(": ")[0]) == (Kept(), f"{tmp_path}/state.json is damaged")
    store.close()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "state.json").mkdir()
    store = Store(tmp_path)
    assert (store.open(), store.damage) == (Kept(), f"{tmp_path}/state.json cannot be read: Is a directory")
    store.close()


def test_what_a_killed_daemon_had_half_written_goes(tmp_path: Path) -> None:
    (tmp_path / ".state.json.x1y2").write_text('{"events": [')
    store = Store(tmp_path)
    assert (store.open(), store.damage) == (Kept(), "")
    store.close()
    assert [one.name for one in tmp_path.iterdir()] == ["lock"]


def test_a_directory_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file/state cannot be used.*Not a directory.*--state-dir"):
        Store(tmp_path / "file/state").open()


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_whole(path, b"old")
    with pytest.raises(TypeError):
        write_whole(path, None)  # type: ignore[arg-type]  # a write that fails half way
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("x.json", b"old")]
