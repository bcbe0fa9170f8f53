"""A fleet of real control planes on loopback, which lives exactly as long as somebody uses it.

One process keeps it: an etcd with a key prefix for each member, and per member an API server (RBAC, one administrator's
token), a controller manager, a scheduler, and played nodes. Users hold a shared lock on a file; the keeper waits for
the exclusive one, which the kernel grants when the last user has let go or has died, whatever way. Then it stops
everything and removes the directory. Its children die with it, even where it is killed.

Usage: ``python -m tests.real.control_plane DIR [MEMBERS]`` keeps a fleet in DIR until interrupted, for work by hand;
DIR/kubeconfig has a context for each member.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import aiohttp

from kadm.sandbox.certificates import Authority, Certificate
from tests.real.binaries import Binaries, binaries
from tests.real.nodes import Machines

MEMBERS = 3
NODES = 3
START_WITHIN_S = 240.0
"""An idle machine takes 20 s."""
STOP_WITHIN_S = 20.0
ASK_AGAIN_S = 0.2
PORTS = range(20_000, 32_768)
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Files:
    """What a fleet's directory holds."""

    directory: Path

    @property
    def kubeconfig(self) -> Path:
        return self.directory / "kubeconfig"

    @property
    def ready(self) -> Path:
        """Appears when all members answer and their nodes are there."""
        return self.directory / "ready"

    @property
    def users(self) -> Path:
        """Locked by everyone who uses the fleet. Beside the directory: it outlives it."""
        return self.directory.with_suffix(".users")

    @property
    def starting(self) -> Path:
        """Locked by whoever starts the fleet."""
        return self.directory.with_suffix(".starting")

    def log(self, name: str) -> Path:
        return self.directory / f"{name}.log"


# Using


@contextmanager
def used(directory: Path, *, members: int = MEMBERS) -> Iterator[Path]:
    """The kubeconfig of the fleet in ``directory``, started where nobody has yet, for the time of the block.

    Raises NoControlPlane where there are no programs to start, RuntimeError where they do not come up.
    """
    files = Files(directory)
    wanted = binaries()
    directory.parent.mkdir(parents=True, exist_ok=True)
    with files.starting.open("w") as starting, files.users.open("w") as users:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        keeper = None if files.ready.exists() else _start(files, wanted, members)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield files.kubeconfig
    if keeper is not None:
        keeper.wait()


def _start(files: Files, wanted: Binaries, members: int) -> subprocess.Popen[bytes]:
    files.directory.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.real.control_plane", str(files.directory), str(members), "--until-unused"]
    with files.log("keeper").open("wb") as log:
        keeper = subprocess.Popen(
            command,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "KUBEBUILDER_ASSETS": str(wanted.directory)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # an interrupt at the terminal ends the tests; the keeper sees to the rest
        )
    deadline = time.monotonic() + START_WITHIN_S
    while not files.ready.exists():
        if keeper.poll() is not None:
            raise RuntimeError(f"the control plane did not start:\n{_last_words(files)}")
        if time.monotonic() > deadline:
            keeper.terminate()
            raise RuntimeError(f"the control plane did not start within {START_WITHIN_S:.0f} s:\n{_last_words(files)}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            keeper.wait(ASK_AGAIN_S)
    return keeper


def _last_words(files: Files) -> str:
    told = [f"{log.name}: {line}" for log in sorted(files.directory.glob("*.log")) for line in _tail(log)]
    return "\n".join(told)


def _tail(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]


# Keeping


@dataclass(frozen=True)
class Member:
    """One control plane."""

    name: str
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


class Keeper:
    """Starts the processes of a fleet and stops them."""

    def __init__(self, files: Files, programs: Binaries) -> None:
        self._files = files
        self._programs = programs
        self._processes: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._authority = Authority("kadm tests", datetime.now(UTC))
        self._serving: Certificate = self._authority.serve("127.0.0.1", "localhost")

    async def run(self, count: int, end: asyncio.Event) -> None:
        """Keep so many members until ``end``. Raises RuntimeError when one of their processes ends by itself."""
        members = [Member(f"member{number}", _free_port(), secrets.token_hex(16)) for number in range(1, count + 1)]
        self._write(members)
        etcd = self._start_etcd()
        for member in members:
            self._start_server(member, etcd)
        trust = ssl.create_default_context(cadata=self._authority.certificate)
        async with contextlib.AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            playing = []
            for member in members:
                session = await stack.enter_async_context(
                    aiohttp.ClientSession(
                        headers={"Authorization": f"Bearer {member.token}"}, connector=aiohttp.TCPConnector(ssl=trust)
                    )
                )
                await self._until_ready(session, f"{member.url}/readyz")
                self._start_controllers(member)
                playing.append(tasks.create_task(Machines(session, member.url).play(NODES), name=member.name))
                await self._until_ready(session, f"{member.url}/api/v1/namespaces/default/serviceaccounts/default")
                await self._until_ready(session, f"{member.url}/api/v1/nodes/node-{NODES - 1}")
            self._files.ready.touch()
            while not end.is_set():
                self._check()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(end.wait(), ASK_AGAIN_S * 5)
            for task in playing:
                task.cancel()

    def stop(self) -> None:
        """End all processes, those that were started last first; etcd last, for servers end by writing to it."""
        deadline = time.monotonic() + STOP_WITHIN_S
        etcd, others = self._processes[:1], self._processes[1:]
        for group in (others, etcd):
            for _, process in reversed(group):
                process.terminate()
            for _, process in reversed(group):
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _write(self, members: Sequence[Member]) -> None:
        """Certificate, keys and kubeconfigs."""
        directory = self._files.directory
        (directory / "serving.crt").write_text(self._serving.certificate)
        _private(directory / "serving.key", self._serving.key)
        _private(directory / "accounts.key", self._authority.serve("accounts").key)
        _private(self._files.kubeconfig, self._config(members))
        for member in members:
            _private(directory / f"{member.name}.tokens", f'{member.token},admin,admin,"system:masters"\n')
            _private(directory / f"{member.name}.config", self._config([member]))

    def _config(self, members: Sequence[Member]) -> str:
        authority = _base64(self._authority.certificate)
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": members[0].name,
            "clusters": [
                {"name": one.name, "cluster": {"server": one.url, "certificate-authority-data": authority}}
                for one in members
            ],
            "users": [{"name": one.name, "user": {"token": one.token}} for one in members],
            "contexts": [{"name": one.name, "context": {"cluster": one.name, "user": one.name}} for one in members],
        }
        return json.dumps(config, indent=1)

    def _start_etcd(self) -> str:
        client, peer = (f"http://127.0.0.1:{_free_port()}" for _ in range(2))
        self._spawn(
            "etcd",
            "etcd",
            f"--data-dir={self._files.directory / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            *self._programs.without_fsync(),
        )
        return client

    def _start_server(self, member: Member, etcd: str) -> None:
        directory = self._files.directory
        self._spawn(
            f"{member.name}-server",
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            f"--etcd-prefix=/{member.name}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={member.port}",
            f"--tls-cert-file={directory / 'serving.crt'}",
            f"--tls-private-key-file={directory / 'serving.key'}",
            f"--cert-dir={directory / member.name}",
            f"--token-auth-file={directory / f'{member.name}.tokens'}",
            "--authorization-mode=RBAC",
            f"--service-account-issuer=https://{member.name}.test",
            f"--service-account-key-file={directory / 'accounts.key'}",
            f"--service-account-signing-key-file={directory / 'accounts.key'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--endpoint-reconciler-type=none",
            "--allow-privileged=true",
        )

    def _start_controllers(self, member: Member) -> None:
        directory = self._files.directory
        shared = [
            f"--kubeconfig={directory / f'{member.name}.config'}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ]
        self._spawn(
            f"{member.name}-controllers",
            "kube-controller-manager",
            *shared,
            f"--secure-port={_free_port()}",
            f"--cert-dir={directory / member.name / 'controllers'}",
            f"--service-account-private-key-file={directory / 'accounts.key'}",
            "--controllers=*,-nodelifecycle",  # played nodes send no heartbeats
            *self._programs.insecure_port_off("kube-controller-manager"),
        )
        self._spawn(
            f"{member.name}-scheduler",
            "kube-scheduler",
            *shared,
            f"--secure-port={_free_port()}",
            f"--cert-dir={directory / member.name / 'scheduler'}",
            *self._programs.insecure_port_off("kube-scheduler"),
        )

    def _spawn(self, name: str, program: str, *arguments: str) -> None:
        with self._files.log(name).open("wb") as log:
            process = subprocess.Popen(
                [self._programs.path(program), *arguments],
                cwd=self._files.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._processes.append((name, process))

    def _check(self) -> None:
        for name, process in self._processes:
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended with {process.returncode}")

    async def _until_ready(self, session: aiohttp.ClientSession, url: str) -> None:
        while True:
            self._check()
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(ASK_AGAIN_S)


async def keep(files: Files, programs: Binaries, *, members: int, until_unused: bool) -> None:
    """Keep a fleet until SIGTERM, SIGINT, or (``until_unused``) until nobody uses it; then remove its directory."""
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for kind in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(kind, end.set)
    keeper = Keeper(files, programs)
    with files.users.open("a") as users:  # locked to the very end: who comes meanwhile waits, and starts another fleet
        watching = loop.create_task(_nobody_uses(users, end)) if until_unused else None
        try:
            await keeper.run(members, end)
        finally:
            if watching is not None:
                watching.cancel()
            keeper.stop()
            if end.is_set():  # otherwise it failed, and its logs are asked for
                shutil.rmtree(files.directory)


async def _nobody_uses(users: IO[str], end: asyncio.Event) -> None:
    """Sets ``end`` when the last lock on the users' file is gone. Whoever starts the keeper holds one already."""
    while not end.is_set():
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(ASK_AGAIN_S * 2)
        else:
            end.set()


def _die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _free_port() -> int:
    """A port of the loopback that nobody listens on, from below those that the kernel gives to connections: it must
    still be free when the process that gets it comes to it."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _base64(text: str) -> str:
    import base64

    return base64.b64encode(text.encode()).decode()


def main(arguments: Sequence[str]) -> int:
    """Keep a fleet in the directory that is named."""
    directory = Path(arguments[0]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    files = Files(directory)
    until_unused = "--until-unused" in arguments
    if not until_unused:
        print(f"{files.kubeconfig} (ready when {files.ready} is there)", flush=True)
    members = next((int(one) for one in arguments[1:] if one.isdigit()), MEMBERS)
    asyncio.run(keep(files, binaries(), members=members, until_unused=until_unused))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
