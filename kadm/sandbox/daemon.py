"""The process that serves a sandbox: ``python -m kadm.sandbox.daemon DIRECTORY REPORT_FD OPTIONS``.

It detaches from whoever started it, takes the directory's lock, serves, writes one ``StartReport`` to the file
descriptor, and runs until SIGTERM, or until its directory is taken away.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from kadm.errors import KadmError
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import StartReport
from kadm.sandbox.state import Files, Locked, MemberState, SandboxState, held_lock, publish, remove

LOOK_AT_DIRECTORY_EVERY_S = 5.0


def main(arguments: list[str]) -> None:
    """Detach and serve."""
    directory, descriptor, options = arguments
    if os.fork():
        os._exit(0)  # the starter waits for this one only
    os.setsid()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("aiohttp").setLevel(logging.WARNING)
    files = Files(Path(directory))
    with os.fdopen(int(descriptor), "wb") as reports:
        try:
            _serve(files, msgspec.json.decode(options, type=SandboxOptions), reports)
        except Locked:
            why = "another process has just started one"
            _report(reports, StartReport(f"a sandbox runs in {directory} already", why))
        except KadmError as error:
            problem = error.problem
            _report(reports, StartReport(problem.what, problem.why, problem.hint))


def _report(reports: BinaryIO, report: StartReport) -> None:
    """Tell the starter how the start went; it hears one report only."""
    reports.write(msgspec.json.encode(report))
    reports.close()


def _serve(files: Files, options: SandboxOptions, reports: BinaryIO) -> None:
    with held_lock(files) as lock:
        remove(files)  # what a killed process has left
        try:
            asyncio.run(_run(files, options, reports, lock))
        finally:
            if _still_ours(files, lock):
                remove(files)


async def _run(files: Files, options: SandboxOptions, reports: BinaryIO, lock: int) -> None:
    from kadm.sandbox.control import Control  # here, after the fork: aiohttp takes its time to load
    from kadm.sandbox.running import LOOPBACK, Listener, running

    stop = asyncio.Event()
    for kind in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(kind, stop.set)
    async with running(options) as sandbox:
        token = secrets.token_urlsafe(32)
        control = Listener(Control(sandbox.members, token))
        await control.open()
        members = tuple(MemberState(name=m.name, url=m.url, token=m.token) for m in sandbox.members.values())
        state = SandboxState(
            pid=os.getpid(),
            nodes=options.nodes,
            control_url=f"http://{LOOPBACK}:{control.port}",
            control_token=token,
            ca=sandbox.ca,
            members=members,
        )
        publish(files, state)
        _report(reports, StartReport())
        try:
            while not stop.is_set() and _still_ours(files, lock):
                try:
                    await asyncio.wait_for(stop.wait(), LOOK_AT_DIRECTORY_EVERY_S)
                except TimeoutError:
                    continue
        finally:
            await control.close()


def _still_ours(files: Files, lock: int) -> bool:
    """Whether the directory still holds our lock; without it nobody could find this process to stop it."""
    try:
        return os.path.samestat(files.lock.stat(), os.fstat(lock))
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
