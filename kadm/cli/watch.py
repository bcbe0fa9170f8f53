"""``kadm watch``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import durations, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


class Drift(StrEnum):
    """What becomes of what others change in members."""

    CORRECT = "correct"
    REPORT = "report"


def watch(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    repo: Annotated[
        str | None,
        typer.Option(
            "--repo",
            metavar="URL|PATH",
            help="Follow this git repository, by a clone of its own.",
            show_default="the directory as it stands",
        ),
    ] = None,
    branch: Annotated[
        str, typer.Option("--branch", metavar="B", help="The branch to follow.", show_default="what its HEAD names")
    ] = "",
    path: Annotated[str, typer.Option("--path", metavar="DIR", help="Where kadm.yaml is in the repository.")] = ".",
    interval: Annotated[
        float,
        typer.Option(
            "--interval",
            metavar=durations.METAVAR,
            parser=durations.at_least(1),
            help="How often to look at git.",
        ),
    ] = Duration("30s"),
    git_timeout: Annotated[
        float,
        typer.Option(
            "--git-timeout",
            metavar=durations.METAVAR,
            parser=durations.at_least(1),
            help="Give up a look at git that takes longer.",
        ),
    ] = Duration("2m"),
    drift: Annotated[
        Drift, typer.Option("--drift", help="Correct what others change in members, or only report it.")
    ] = Drift.CORRECT,
    once: Annotated[
        bool, typer.Option("--once", help="Read everything, plan and apply once, serve nothing, and end.")
    ] = False,
    check_config: Annotated[
        bool,
        typer.Option(
            "--check-config", help="Read the repository and the secrets, say whether they can be used, and end."
        ),
    ] = False,
    state_dir: Annotated[
        Path | None,
        typer.Option(
            "--state-dir",
            metavar="DIR",
            help="Where the clone and the trail of events are kept.",
            show_default="$STATE_DIRECTORY, or below ~/.local/state/kadm",
        ),
    ] = None,
    status_dir: Annotated[
        Path | None,
        typer.Option(
            "--status-dir",
            metavar="DIR",
            help="Keep workloads here as native objects with their aggregated status.",
            show_default="nowhere",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            help="Serve the page, JSON and metrics here; none: nowhere.",
            show_default="127.0.0.1:5236",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Ask for the token in this file (mode 0600); needed beyond loopback.",
            show_default="nobody is asked",
        ),
    ] = None,
    hook_secret_file: Annotated[
        Path | None,
        typer.Option(
            "--hook-secret-file",
            metavar="FILE",
            help="Look at git when its server says so at /hook, with the secret in this file (mode 0600).",
            show_default="there is no webhook",
        ),
    ] = None,
    output: Annotated[options.Output, typer.Option("-o", "--output", help="Format of the log.")] = options.Output.TEXT,
    request_timeout: options.RequestTimeoutOption = Duration("15s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Keep the fleet as git says, and move what a member cannot run. Runs until it is stopped.

    It follows git, plans on each new commit, on drift and when members change, and applies what no guard holds back;
    the rest is named with what releases it. A broken commit is reported, and the last good one stays in force. Of
    several daemons one writes. What it knows is served as a page, JSON and metrics. SIGHUP looks at git at once;
    SIGTERM ends it.

    Examples:

      kadm watch --repo https://git.example/shop.git --branch main

      kadm watch -C shop --drift report       follow a directory, correct nothing

      kadm watch --repo URL --check-config    before it is started for good
    """
    import asyncio

    from kadm.cli.watching import Asked, run_watch

    asked = Asked(
        directory=settings(context, directory).directory,
        repo=repo,
        branch=branch,
        path=path,
        interval_s=interval,
        git_timeout_s=git_timeout,
        drift=drift.value,
        once=once,
        check_config=check_config,
        state_dir=state_dir,
        status_dir=status_dir,
        listen=listen,
        token_file=token_file,
        hook_secret_file=hook_secret_file,
        as_json=output is options.Output.JSON,
        request_timeout_s=request_timeout,
        parallel=parallel,
    )
    raise typer.Exit(asyncio.run(run_watch(settings(context).console, asked)))
