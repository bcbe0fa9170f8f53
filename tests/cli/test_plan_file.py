"""Saved plans in files: whose they are, and what lies beside them."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from kadm.cli.plan_file import read_plan, write_plan
from kadm.errors import UsageError
from kadm.model.plan import Summary
from kadm.model.saved import SavedChoices, SavedPlan

PLAN = SavedPlan(
    kadm="0.1.0",
    fleet="shop",
    commit="",
    saved="2026-01-01T00:00:00Z",
    choices=SavedChoices(),
    members=(),
    changes=(),
    held=(),
    placements=(),
    moves=(),
    waves=(),
    summary=Summary(),
    unread=(),
    unplaced=(),
    frozen=(),
    problems=(),
    records={},
)


def test_only_the_owner_reads_it_and_no_draft_stays(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("what was there")
    path.chmod(0o644)
    write_plan(path, PLAN)
    assert (read_plan(path), oct(path.stat().st_mode & 0o777), _names(tmp_path)) == (PLAN, "0o600", ["plan.json"])


def test_what_somebody_laid_ready_is_not_written_through(tmp_path: Path) -> None:
    """The draft's name is not to be foreseen: a link of the process's number once led anywhere."""
    theirs = tmp_path / "theirs"
    (tmp_path / f".plan.json.{os.getpid()}").symlink_to(theirs)
    write_plan(tmp_path / "plan.json", PLAN)
    assert (theirs.exists(), msgspec.json.decode((tmp_path / "plan.json").read_bytes())["fleet"]) == (False, "shop")


def test_a_failure_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "plan.json").mkdir()
    with pytest.raises(UsageError, match=r"the plan cannot be saved as .*plan\.json"):
        write_plan(tmp_path / "plan.json", PLAN)
    assert _names(tmp_path) == ["plan.json"]


def _names(directory: Path) -> list[str]:
    return sorted(one.name for one in directory.iterdir())
