"""Progress of an apply on a terminal: one line per member that is still at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kadm.cli.console import Console
from kadm.cli.plan_text import named
from kadm.execute import Event, Listener


@contextmanager
def progress(console: Console) -> Iterator[Listener]:
    """A listener that shows what is going on, for the time of the block.

    On a terminal a live line per member; elsewhere, with ``-v``, one line per event, so that a log tells the story.
    """
    if not console.shows_progress:
        yield lambda event: console.detail(_line(event))
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

    columns = (
        TextColumn("{task.fields[member]}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[text]}", style="dim"),
    )
    tasks: dict[str, TaskID] = {}
    bars = Progress(*columns, console=console.rich("err"), transient=True)

    def show(event: Event) -> None:
        if event.member not in tasks:
            bars.start()  # with the first event: before it, the plan is shown and the person is asked
            tasks[event.member] = bars.add_task("", member=event.member, text="", total=event.total)
        bars.update(
            tasks[event.member],
            completed=event.finished,
            total=event.total,
            text=_text(event),
            visible=event.stage != "done",  # of many members those are seen that are still at work
        )

    try:
        yield show
    finally:
        bars.stop()


def _text(event: Event) -> str:
    what = named(event.key) if event.key else ""
    return " ".join(part for part in (event.stage, what, event.text) if part)


def _line(event: Event) -> str:
    return f"{event.member}: {event.finished}/{event.total} {_text(event)}"
