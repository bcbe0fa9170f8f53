"""The daemon as a process: its state directory, its signals, its log and its end."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import resource
import signal
import tempfile
from pathlib import Path
from typing import Literal

from msgspec import Struct

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, applied_code, exit_code
from kadm.cli.logging_setup import log_to
from kadm.cli.validating import problems_of
from kadm.cli.watch_serving import served, where_to_listen
from kadm.errors import KadmError, UsageError
from kadm.execute import Delivery
from kadm.watch.daemon import Daemon, WatchOptions
from kadm.watch.serving import Listening, Serving, read_token
from kadm.watch.source import Clone, Directory, Source
from kadm.watch.store import Store
from kadm.watch.tls_buffers import make_tls_buffers_small

_log = logging.getLogger(__name__)

END_WITHIN_S = 1.0
"""The process is gone so long after SIGTERM at the latest: two seconds are promised, and machines are busy."""

FINISH_WITHIN_S = 0.4
"""An apply is given so long to wait for what it sent."""

OPEN_FILES = 65536
"""Each watch of each member is a connection."""


class Asked(Struct, frozen=True, kw_only=True):
    """What the command line asks for."""

    directory: Path
    repo: str | None
    branch: str
    path: str
    interval_s: float
    git_timeout_s: float
    drift: Literal["correct", "report"]
    once: bool
    check_config: bool
    state_dir: Path | None
    status_dir: Path | None
    listen: str | None
    token_file: Path | None
    hook_secret_file: Path | None
    as_json: bool
    request_timeout_s: float
    parallel: int


async def run_watch(console: Console, asked: Asked) -> int:
    """One daemon, from its start to its exit code. Raises UsageError for options that cannot be."""
    if asked.repo is None and asked.branch:
        raise UsageError("--branch needs --repo", hint="a directory is followed as it stands")
    where = where_to_listen(asked.listen, asked.token_file, asked.hook_secret_file, once=asked.once)
    if asked.check_config:
        with tempfile.TemporaryDirectory(prefix="kadm-check-", ignore_cleanup_errors=True) as clone:
            return await _check(console, _source(asked, Path(clone) / "clone"), where, asked.status_dir)
    store = Store(_state_dir(asked))
    source = _source(asked, store.clone)
    _check_status_dir(asked.status_dir)
    kept = store.open()
    try:
        log_to(console.err, verbosity=console.verbosity, as_json=asked.as_json)
        _allow_open_files()
        make_tls_buffers_small()
        options = WatchOptions(
            interval_s=asked.interval_s,
            drift=asked.drift,
            once=asked.once,
            status_dir=asked.status_dir,
            request_timeout_s=asked.request_timeout_s,
            parallel=asked.parallel,
        )
        daemon = Daemon(source, store, kept, options)
        needed = asked.listen is not None or asked.hook_secret_file is not None
        async with served(daemon.board, where, daemon.pushed, needed=needed) as serving:
            return await _until_ended(daemon, serving)
    finally:
        store.close()


async def _until_ended(daemon: Daemon, serving: Serving | None) -> int:
    """Run the daemon until it ends, or somebody ends it."""
    loop = asyncio.get_running_loop()
    work = asyncio.create_task(daemon.run(), name="watch")
    asked_to_end = asyncio.Event()
    numbers: list[int] = []

    def end(number: int) -> None:
        if not numbers:
            _log.info("ending, as %s says", signal.Signals(number).name)
            daemon.end()
            loop.call_later(END_WITHIN_S, _end_now, number)
        numbers.append(number)
        asked_to_end.set()

    def reload() -> None:
        daemon.reload()
        if serving is not None:
            serving.reload()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end, number)
    loop.add_signal_handler(signal.SIGHUP, reload)
    ending = asyncio.create_task(asked_to_end.wait(), name="signals")
    await asyncio.wait([work, ending], return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        await daemon.idle(within_s=FINISH_WITHIN_S)
        work.cancel()
        await asyncio.wait([work])
    ending.cancel()
    if work.cancelled() or numbers:
        return _code(numbers[0]) if numbers else ExitCode.FINE
    return _exit_code(work.result())


def _end_now(number: int) -> None:
    """End without waiting for anything any more: state is on disk, and whatever was begun is resumed."""
    os._exit(_code(number))


def _code(number: int) -> int:
    """Being stopped is how a daemon ends well; Ctrl-C is told apart, as everywhere."""
    return 128 + number if number == signal.SIGINT else ExitCode.FINE


def _exit_code(delivery: Delivery | None) -> ExitCode:
    """That of ``--once``: as ``kadm apply`` has it."""
    if delivery is None:
        return ExitCode.FINE
    plan, report = delivery.planned.plan, delivery.report
    if report is None:
        return exit_code(problems=plan.problems, partial=bool(plan.unread))
    return applied_code(plan, report)


async def _check(console: Console, source: Source, where: Listening | None, status_dir: Path | None) -> ExitCode:
    """Whether the newest state of the repository, and the files of secrets, can be used. Raises KadmError where one
    cannot. Takes no lock and leaves nothing behind: a daemon may run, and reload what was found good."""
    _check_status_dir(status_dir, make=False)
    if where is not None and where.token_file is not None:
        read_token(where.token_file)
    if where is not None and where.hook_file is not None:
        read_token(where.hook_file, "hook secret")
    repo = await asyncio.to_thread(source.load, await source.look())
    if not repo.clusters:
        raise KadmError("the fleet has no members", hint="kadm join NAME --context CONTEXT adds one")
    problems = problems_of(repo)
    console.problems(problems)
    code = exit_code(problems=problems)
    if code is ExitCode.FINE:
        commit = f" at {repo.revision}" if repo.revision is not None else ""
        console.data(f"Fleet {repo.fleet.name}{commit}: {len(repo.manifests)} objects, {len(repo.clusters)} members.")
    return code


def _check_status_dir(directory: Path | None, *, make: bool = True) -> None:
    """Make it where it is missing. What becomes of it later is told, and stops nothing; raises UsageError.

    Without ``make`` one that is missing is fine.
    """
    if directory is None:
        return
    try:
        if make or directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"{directory} cannot be used", why=why, hint="name another --status-dir") from error
    if directory.exists() and not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"{directory} cannot be written", hint="name another --status-dir")


def _source(asked: Asked, clone: Path) -> Source:
    if asked.repo is None:
        return Directory(Path(os.path.abspath(asked.directory)))  # noqa: PTH100  # links in the path stay
    inside = os.path.normpath(asked.path)
    if inside.startswith("..") or Path(inside).is_absolute():
        raise UsageError(f"--path {asked.path} leads out of the repository", hint="name a directory inside of it")
    return Clone(asked.repo, asked.branch, clone, inside, timeout_s=asked.git_timeout_s)


def _state_dir(asked: Asked) -> Path:
    """Where state is kept: as asked, as systemd says, else one directory per followed branch."""
    if asked.state_dir is not None:
        return asked.state_dir
    if systemd := os.environ.get("STATE_DIRECTORY", ""):
        return Path(systemd.partition(":")[0])
    home = os.environ.get("XDG_STATE_HOME", "")
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".local" / "state"
    followed = "\0".join((asked.repo or str(asked.directory.resolve()), asked.branch, asked.path))
    return base / "kadm" / f"watch-{hashlib.sha256(followed.encode()).hexdigest()[:12]}"


def _allow_open_files() -> None:
    """Let the process open as many files as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
