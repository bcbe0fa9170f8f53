"""Whether a Lease's holder is provably dead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kadm.members.process import has_died, this_run


def _mark_of_a_child(*, killed: bool) -> str:
    """The mark of a process that runs no more: reaped, or a zombie."""
    code = "from kadm.members.process import this_run; print(this_run().mark, flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    mark = child.stdout.readline().strip()
    assert not has_died(mark), "it waits for input"
    if killed:
        child.kill()
    child.communicate()
    return mark


def test_this_run_lives() -> None:
    assert has_died(this_run().mark) is False


def test_a_killed_process_has_died() -> None:
    assert has_died(_mark_of_a_child(killed=True)) is True


def test_nothing_is_said_about_other_machines() -> None:
    boot, namespace, pid, _ = this_run().mark.split("/")
    marks = [f"other/{namespace}/{pid}/1", f"{boot}/pid:[1]/{pid}/1", f"{boot}/{namespace}/x/1", "nonsense", ""]
    assert [has_died(mark) for mark in marks] == [False] * 5


def test_a_pid_that_was_given_to_another_process_is_dead() -> None:
    boot, namespace, pid, _ = this_run().mark.split("/")
    assert has_died(f"{boot}/{namespace}/{pid}/1") is True


def test_two_runs_of_one_process_differ() -> None:
    assert this_run().identity != this_run().identity


def test_a_process_that_proc_hides_is_not_called_dead(tmp_path: Path) -> None:
    """As under hidepid or ProtectProc=: /proc tells of this machine, but not of the holder."""
    boot = tmp_path / "sys/kernel/random"
    boot.mkdir(parents=True)
    (boot / "boot_id").write_text("boot\n")
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/pid").symlink_to("pid:[1]")
    gone = subprocess.Popen(["true"])
    gone.wait()
    marks = [f"boot/pid:[1]/{pid}/1" for pid in (os.getpid(), gone.pid)]
    assert [has_died(mark, proc=tmp_path) for mark in marks] == [False, True]
