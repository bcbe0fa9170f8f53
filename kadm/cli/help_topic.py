"""``kadm help``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.errors import UsageError

TEXTS = Path(__file__).parent / "topics"


def topics() -> list[str]:
    """What there is a text about, sorted."""
    return sorted(path.stem for path in TEXTS.glob("*.txt"))


def text(topic: str) -> str:
    """The text about a topic; its first line says what it is about."""
    return (TEXTS / f"{topic}.txt").read_text(encoding="utf-8")


def show_help(
    context: typer.Context,
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="A topic, or a command.", autocompletion=topics)
    ] = None,
) -> None:
    """Explain a topic at length, or a command.

    Examples:

      kadm help                        the topics

      kadm help placement              how members and numbers come about

      kadm help plan                   as kadm plan --help
    """
    if topic is None:
        width = max(len(name) for name in topics())
        listed = "\n".join(f"  {name:{width}}  {text(name).splitlines()[0].partition(': ')[2]}" for name in topics())
        typer.echo(f"kadm help TOPIC tells more about:\n\n{listed}\n\nkadm --help lists the commands.")
    elif topic in topics():
        typer.echo(text(topic), nl=False)
    else:
        typer.echo(_of_command(context, topic))


def _of_command(context: typer.Context, name: str) -> str:
    """The help of a command. Raises UsageError where there is none of this name."""
    parent = context.find_root()
    commands = getattr(parent.command, "commands", {})
    if name not in commands:
        raise UsageError(f"there is no help on {name}", hint=f"topics are: {', '.join(topics())}")
    with commands[name].make_context(name, [], parent=parent, resilient_parsing=True) as inner:
        found: str = inner.get_help()
    return found
