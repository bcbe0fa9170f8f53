"""What a simulation found, as people read it."""

from __future__ import annotations

from kadm.cli.console import Console
from kadm.cli.plan_text import named
from kadm.model.simulation import Fate, Loss, Simulation

_FATES: dict[Fate, tuple[str, str]] = {
    "moves": ("moves", "green"),
    "short": ("short of replicas", "red"),
    "fewer": ("a copy less", "dim"),
    "gone": ("gone", "bold red"),
    "stuck": ("not decided", "yellow"),
}
"""Fate → how the table says it, and its style."""


def show_simulation(console: Console, found: Simulation) -> None:
    """The answer to stdout: a table, and a line that sums it up."""
    from rich.text import Text

    rows = []
    for loss in found.losses:
        word, style = _FATES[loss.fate]
        lost = str(loss.replicas_lost) if any(loss.before[name] is not None for name in _lost(loss, found)) else ""
        arrives = ", ".join(name if more is None else f"{name} +{more}" for name, more in sorted(loss.arrives.items()))
        rows.append((named(loss.key), Text(word, style=style), lost, arrives, loss.unplaced or ""))
    if rows:
        columns = ("OBJECT", "BECOMES", "LOSES", "ARRIVES IN", "NO PLACE")
        notes = [loss.why for loss in found.losses]
        console.table(columns, rows, numbers=("LOSES", "NO PLACE"), gives_way="ARRIVES IN", notes=notes)
        console.data("\n")
    console.data(_summary(found))


def _lost(loss: Loss, found: Simulation) -> list[str]:
    return [name for name in loss.before if name in found.lost]


def _summary(found: Simulation) -> str:
    members = " and ".join(found.lost)
    if not found.losses:
        return f"Without {members}: nothing is lost, {found.untouched} objects stay where they are."
    fates = [loss.fate for loss in found.losses]
    counts = [f"{fates.count(fate)} {word}" for fate, (word, _) in _FATES.items() if fate in fates]
    replicas = sum(sum(more or 0 for more in loss.arrives.values()) for loss in found.losses)
    unplaced = sum(loss.unplaced for loss in found.losses)
    told = [f"{', '.join(counts)}", f"{found.untouched} untouched"]
    if replicas:
        told.append(f"{replicas} replicas appear elsewhere")
    if unplaced:
        told.append(f"{unplaced} find no place")
    return f"Without {members}: {'; '.join(told)}."
