"""The command line: which commands there are, and how a run ends. Commands themselves stand one per file."""

from __future__ import annotations

import errno
import itertools
import os
import sys
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from kadm import __version__
from kadm.cli import (
    apply,
    clusters,
    completion,
    convert,
    demo,
    explain,
    help_topic,
    init,
    join,
    plan,
    record,
    render,
    sandbox,
    schemas,
    show,
    simulate,
    status,
    unjoin,
    validate,
    watch,
)
from kadm.cli.anywhere import in_front
from kadm.cli.bug import bug
from kadm.cli.console import Color, Console
from kadm.cli.exit_code import MEANINGS, ExitCode
from kadm.cli.main import INTERRUPTED, WORD
from kadm.cli.settings import Settings, without_command
from kadm.cli.streams import give_up, take_over
from kadm.errors import KadmError, Problem

EPILOG = "Exit codes: " + "; ".join(f"{code:d} {meaning}" for code, meaning in MEANINGS.items()) + "."

app = typer.Typer(
    name="kadm",
    add_completion=False,
    pretty_exceptions_enable=False,  # it shows local variables: values of Secrets may be among them
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
)
app.command("init", short_help="Start a fleet: files with comments that teach.")(init.init)
app.command("validate", short_help="Check every file of the repository.")(validate.validate)
app.command("join", short_help="Make a cluster a member of the fleet.")(join.join)
app.command("unjoin", short_help="Take a member out of the fleet.")(unjoin.unjoin)
app.command("render", short_help="Print what each member must hold.")(render.render)
app.command("plan", short_help="Show what apply would change. Writes nothing.")(plan.plan)
app.command("apply", short_help="Make the members hold what the repository says.")(apply.apply)
app.command("show", short_help="Show a saved plan.")(show.show)
app.command("explain", short_help="Say why an object is where it is.")(explain.explain)
app.command("status", short_help="Show workloads across all members.")(status.status)
app.command("watch", short_help="Keep the fleet as git says, until stopped.")(watch.watch)
app.command("simulate", short_help="Show what would move if members were gone.")(simulate.simulate)
app.add_typer(convert.app, name="convert", short_help="Convert policies of other tools.")
app.add_typer(record.app, name="record", short_help="What kadm wrote down in a member.")
app.command("clusters", short_help="Show the members, and what is free in them.")(clusters.clusters)
app.add_typer(sandbox.app, name="sandbox", short_help="Embedded members, for trying and testing.")
app.command("demo", short_help="Show all of it, on embedded members.")(demo.demo)
app.command("schemas", short_help="Write JSON Schemas, for editors.")(schemas.schemas)
app.command("help", short_help="Explain a topic at length.")(help_topic.show_help)
app.command("completion", short_help="Print the completion script of a shell.")(completion.completion)

COMPLETE = "_KADM_COMPLETE"
"""A shell that sets it wants completions instead of a run."""

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Faults of writing that name no file: it is the output."""

CLICK_ERROR = cast(type[Exception], typer.BadParameter.__mro__[2])
"""What the parser raises for wrong usage: typer exports the leaf only."""


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"kadm {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Option("-C", "--directory", metavar="DIR", help="The fleet's directory: where kadm.yaml is.")
    ] = Path(),
    verbose: Annotated[
        int, typer.Option("-v", "--verbose", count=True, help="Tell more; repeatable.", show_default=False)
    ] = 0,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Tell errors only.")] = False,
    color: Annotated[str, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = "auto",
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """GitOps for many Kubernetes clusters: KubeAdmiral's policies from a git repository, no control plane to run.

    Start with: kadm demo, or kadm init FLEET. The options below may stand after the command too.
    """
    context.obj = Settings(
        directory=directory, debug=debug, console=Console(color=_color(color), verbosity=-1 if quiet else verbose)
    )
    without_command(context)


def _color(text: str) -> Color:
    for color in get_args(Color):
        if text == color:
            return cast(Color, color)
    raise typer.BadParameter("it is one of auto, always, never", param_hint="--color")


def run() -> None:
    """The process's command line: parse, run, and end with the documented exit code."""
    take_over()
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        give_up(sys.stdout)
        if code != ExitCode.ERROR:  # else it is told already
            Console().problems([_system(error)])
        code = ExitCode.ERROR
    sys.exit(code)


def main(arguments: list[str]) -> int:
    """Run one command line and give its exit code; errors are told on stderr, without traceback but for ``--debug``."""
    debug = "--debug" in arguments
    if COMPLETE in os.environ:
        completion.prepare()
    try:
        code = app(args=in_front(arguments), prog_name="kadm", standalone_mode=False)
    except KadmError as error:
        if debug:
            raise
        Console(color=_asked_color(arguments)).problems(error.problems)
        return ExitCode.ERROR
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except CLICK_ERROR as error:
        Console(color=_asked_color(arguments)).problems([_usage(error)])
        return ExitCode.ERROR
    except OSError as error:
        if debug:
            raise
        known = error.filename is not None or error.errno in UNWRITABLE
        Console(color=_asked_color(arguments)).problems([_system(error) if known else bug(error)])
        return ExitCode.ERROR
    except Exception as error:  # the one place where a bug becomes a message
        if debug:
            raise
        Console().problems([bug(error)])
        return ExitCode.ERROR
    if code == INTERRUPTED:
        sys.stderr.write(WORD)
    return int(code or 0)


def _asked_color(arguments: list[str]) -> Color:
    for flag, value in itertools.pairwise(arguments):
        if flag == "--color" and value in ("always", "never"):
            return _color(value)
    return "auto"


def _usage(error: BaseException) -> Problem:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "kadm"
    message: str = error.format_message() if hasattr(error, "format_message") else str(error)
    message = message.replace("Value error, ", "")  # words of the library below the parser
    return Problem(what=message.rstrip("."), hint=f"{command} --help shows how it is used")


def _system(error: OSError) -> Problem:
    """What the operating system refuses: a directory that may not be written, a disk that is full."""
    what = f"{error.filename} cannot be used" if error.filename is not None else "the output cannot be written"
    return Problem(what=what, why=error.strerror or str(error))
