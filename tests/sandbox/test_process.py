"""The real process: up, down, status, and what must not be able to break them."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kadm.errors import KadmError, UsageError
from kadm.sandbox.faults import Fault
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import SandboxStatus, down, inject, status, up
from kadm.sandbox.state import Files, holder

ONE = SandboxOptions(members=1, nodes=1, start_delay_s=0, ready_delay_s=0)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """A directory for a sandbox, which is down afterwards whatever happens."""
    place = tmp_path / "sandbox"
    yield place
    down(place)


def get(running: SandboxStatus, path: str, *, member: int = 0) -> int:
    """The status of an administrator's GET."""
    kubeconfig = yaml.safe_load(Path(running.kubeconfig).read_text(encoding="utf-8"))
    authority = kubeconfig["clusters"][member]["cluster"]["certificate-authority-data"]
    context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    host, _, port = running.members[member].url.removeprefix("https://").partition(":")
    connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=5)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {running.members[member].token}"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_up_serves_and_down_leaves_nothing(directory: Path) -> None:
    running = up(directory, SandboxOptions(members=2, nodes=1))
    assert [get(running, "/readyz", member=member) for member in (0, 1)] == [200, 200]
    assert (down(directory), down(directory), status(directory).running) == (True, False, False)
    assert sorted(path.name for path in directory.iterdir()) == [".gitignore", "lock", "sandbox.log"]
    host, _, port = running.members[0].url.removeprefix("https://").partition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


def test_files_are_for_their_owner_only(directory: Path) -> None:
    up(directory, ONE)
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in directory.iterdir()}
    secret = {"kubeconfig", "lock", "sandbox.log", "state.json"}
    assert {name: modes[name] for name in sorted(secret)} == dict.fromkeys(sorted(secret), "0o600")
    assert oct(stat.S_IMODE(directory.stat().st_mode)) == "0o700"


def test_kubectl_reads_it(directory: Path) -> None:
    kubectl = shutil.which("kubectl", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if kubectl is None:
        pytest.skip("kubectl is not installed")
    running = up(directory, SandboxOptions(members=2, nodes=2))
    environment = {"KUBECONFIG": running.kubeconfig, "HOME": str(directory), "PATH": os.environ.get("PATH", "")}
    command = [kubectl, "--context", "member2", "get", "nodes", "-o", "name"]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout.split(), answer.returncode) == (["node/node-0", "node/node-1"], 0), answer.stderr


def test_up_again_is_the_same_sandbox(directory: Path) -> None:
    assert up(directory, ONE) == up(directory, ONE)


def test_up_with_other_options_is_refused(directory: Path) -> None:
    up(directory, ONE)
    with pytest.raises(UsageError, match="a sandbox with 1 members of 1 nodes runs in"):
        up(directory, SandboxOptions(members=2, nodes=1))


def test_state_of_a_killed_process_is_no_obstacle(directory: Path) -> None:
    killed = up(directory, ONE)
    os.kill(killed.pid, signal.SIGKILL)
    _wait_until_gone(directory)
    assert (status(directory).running, (directory / "state.json").exists()) == (False, True)
    again = up(directory, ONE)
    assert (again.running, again.pid != killed.pid, get(again, "/readyz")) == (True, True, 200)


def test_down_after_a_kill_removes_the_state(directory: Path) -> None:
    os.kill(up(directory, ONE).pid, signal.SIGKILL)
    _wait_until_gone(directory)
    assert (down(directory), (directory / "state.json").exists()) == (False, False)


def test_a_process_that_does_not_listen_is_killed(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = up(directory, ONE)
    monkeypatch.setattr("kadm.sandbox.process.STOP_WITHIN_S", 0.2)
    os.kill(stopped.pid, signal.SIGSTOP)
    assert (down(directory), holder(Files(directory))) == (True, None)


def test_a_port_in_use(directory: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KadmError, match=f"port {port} cannot be used: Address already in use"):
            up(directory, SandboxOptions(members=1, port=port))
    assert not status(directory).running


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(SandboxOptions(members=0), id="no members"),
        pytest.param(SandboxOptions(nodes=-1), id="fewer than no nodes"),
        pytest.param(SandboxOptions(cpu="much"), id="no quantity"),
        pytest.param(SandboxOptions(memory="-1Gi"), id="a negative quantity"),
        pytest.param(SandboxOptions(members=2, port=65535), id="too high a port"),
        pytest.param(SandboxOptions(start_delay_s=-1), id="a negative delay"),
    ],
)
def test_impossible_options(options: SandboxOptions, directory: Path) -> None:
    with pytest.raises(UsageError):
        up(directory, options)
    assert not directory.exists()


def test_a_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KadmError, match="is no directory"):
        up(tmp_path / "file", ONE)


def test_no_directory_runs_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert (status(missing).running, down(missing), missing.exists()) == (False, False, False)


def test_unreadable_state(directory: Path) -> None:
    up(directory, ONE)
    (directory / "state.json").write_text("{", encoding="utf-8")
    with pytest.raises(KadmError, match=r"state.json cannot be read"):
        status(directory)
    assert down(directory)


def test_faults_come_and_go(directory: Path) -> None:
    running = up(directory, ONE)
    inject(directory, "member1", [Fault(mode="status", status=403)])
    refused = get(running, "/readyz")
    inject(directory, "member1", [Fault(mode="refuse")])
    with pytest.raises(ConnectionRefusedError):
        get(running, "/readyz")
    inject(directory, "member1", [])
    assert (refused, get(running, "/readyz")) == (403, 200)


def test_faults_need_a_sandbox_and_a_member(directory: Path) -> None:
    with pytest.raises(KadmError, match="no sandbox runs"):
        inject(directory, "member1", [])
    up(directory, ONE)
    with pytest.raises(UsageError, match="there is no member member9: the sandbox has member1"):
        inject(directory, "member9", [])
    with pytest.raises(KadmError, match="refuses these faults"):
        inject(directory, "member1", [Fault(mode="slow", path="(")])


def test_control_wants_its_token(directory: Path) -> None:
    up(directory, ONE)
    state = json.loads((directory / "state.json").read_text(encoding="utf-8"))
    host, _, port = state["control_url"].removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("GET", "/members/member1/faults", headers={"Authorization": "Bearer wrong"})
        assert connection.getresponse().status == 401
    finally:
        connection.close()


def _wait_until_gone(directory: Path) -> None:
    """Wait for the kernel to take the lock of a killed process away."""
    deadline = 1000
    while holder(Files(directory)) is not None and deadline:
        deadline -= 1
        os.sched_yield()
