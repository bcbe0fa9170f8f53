"""``kadm demo``: it tells its story, and takes everything back however it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.running import BIN, TIMEOUT_S, Tools

pytestmark = pytest.mark.e2e


@pytest.fixture
def demo_tools(tools: Tools) -> Iterator[Tools]:
    """Tools whose temporary files are below the test's own directory; nothing of them may run afterwards."""
    (tools.cwd / "tmp").mkdir()
    tools.env["TMPDIR"] = str(tools.cwd / "tmp")
    yield tools
    deadline = time.monotonic() + 10
    while _running(tools) and time.monotonic() < deadline:  # one that was told to end may be on its last steps
        time.sleep(0.05)
    assert _running(tools) == []


def _running(tools: Tools) -> list[str]:
    """Processes that were started with the test's directory as an argument."""
    return tools.run("pgrep", "-af", f"kadm.sandbox.daemon {tools.cwd}/").out.splitlines()


def _left(tools: Tools) -> list[str]:
    """Every file that is left below the test's directory."""
    return [str(path.relative_to(tools.cwd)) for path in sorted(tools.cwd.rglob("*")) if path != tools.cwd / "tmp"]


def test_it_tells_its_story_and_leaves_nothing(demo_tools: Tools) -> None:
    told = demo_tools.kadm("demo")
    assert "Deployment shop/web: eu-1 -2 → us-1 +4" in told.out, "replicas move between members"
    assert "spec.replicas: 1 → 5  (set by kubectl)" in told.out, "drift is named, with who set it"
    table = told.out[told.out.rindex("NAMESPACE") :]
    rows = re.findall(r"^shop +Deployment/web +(\S+) +(\S+) +\S+ +\S+ +(\S+)$", table, re.MULTILINE)
    assert rows == [("eu-1", "1/1", "Healthy"), ("eu-2", "2/2", "Healthy"), ("us-1", "5/5", "Healthy")]
    assert re.search(r"in \d+ seconds", told.out), "how long it took is told, not judged: the machine may be busy"
    assert (_left(demo_tools), told.err) == ([], "")


def test_what_it_keeps_goes_on(demo_tools: Tools) -> None:
    told = demo_tools.kadm("demo", "--keep", "--dir", "kept")
    commands = re.findall(r"^  (.+)$", told.out[told.out.index("To go on:") :], re.MULTILINE)
    stop = commands.pop()
    status = demo_tools.run("bash", "-euc", "\n".join(commands))
    assert "Deployment/web         8/8  Healthy" in status.out, status.err
    assert len(_running(demo_tools)) == 1
    assert "kept/clusters/us-1.yaml" in _left(demo_tools)
    assert demo_tools.run("bash", "-euc", stop).code == 0
    assert _left(demo_tools) == []


@pytest.mark.parametrize(
    ("number", "after", "code"),
    [
        pytest.param(signal.SIGINT, "$ kadm sandbox up", 130, id="Ctrl-C while members start"),
        pytest.param(signal.SIGTERM, "$ kadm apply", 143, id="SIGTERM during apply"),
    ],
)
def test_an_interrupt_takes_everything_back(demo_tools: Tools, number: int, after: str, code: int) -> None:
    with subprocess.Popen(
        [BIN / "kadm", "demo", "--keep", "--dir", "fleet"],
        cwd=demo_tools.cwd,
        env=demo_tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if line.startswith(after):
                break
        os.killpg(demo.pid, number)  # as a terminal does: to every process of the group
        _, err = demo.communicate(timeout=TIMEOUT_S)
    assert (demo.returncode, "Traceback" in err, _left(demo_tools)) == (code, False, [])


def test_a_directory_in_use_is_left_alone(demo_tools: Tools) -> None:
    (demo_tools.cwd / "mine").mkdir()
    (demo_tools.cwd / "mine" / "file").touch()
    told = demo_tools.kadm("demo", "--dir", "mine", code=1)
    assert (told.out, "is not empty" in told.err, _left(demo_tools)) == ("", True, ["mine", "mine/file"])


def test_the_fleet_is_one_of_the_examples() -> None:
    root = Path(__file__).parents[2]
    assert (root / "kadm/cli/demo_fleet").resolve() == root / "examples/demo"
