"""A plan as people read it on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kadm.cli.plan_groups import HELD_LISTED, LISTED, Group, Groups, HeldGroup, listed
from kadm.cli.plan_values import shown_change
from kadm.model.objects import ObjectKey
from kadm.model.plan import Action, FieldChange, Move, Plan, Unplaced

if TYPE_CHECKING:
    from rich.text import Text

MARKS: dict[Action, tuple[str, str]] = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "delete": ("-", "red"),
    "adopt": ("&", "cyan"),
    "release": ("o", "cyan"),
    "own": (".", "dim"),
    "recreate": ("±", "red"),
}
"""Action → its mark and its style."""

WORDS: dict[Action, str] = {
    "create": "to create",
    "update": "to update",
    "delete": "to delete",
    "adopt": "to adopt",
    "release": "to release",
    "own": "to own",
    "recreate": "to recreate",
}


def plan_lines(plan: Plan, *, shows_fields_of_creates: bool = False) -> Iterable[Text]:
    """The plan, a styled line at a time; identical changes are grouped over members."""
    from rich.text import Text

    groups = Groups(plan, creates_by_fields=shows_fields_of_creates)
    for group in groups:
        yield _headline(group, groups)
        if group.change.action != "create" or shows_fields_of_creates:
            for field in group.change.fields:
                yield _field_line(field)
    if plan.moves:
        yield Text("\nMoves between members", style="bold")
        for move in plan.moves:
            yield Text(f"  {named(move.key)}: {move_text(move, minus='-')}")
    if lines := wave_lines(plan):
        yield Text("\nWaves: each is well before the next", style="bold")
        yield from (Text(f"  {line}") for line in lines)
    if plan.held:
        yield Text("\nHeld back", style="bold")
        yield from map(_held_line, groups.held())
    if plan.unplaced:
        yield Text("\nPlaced nowhere", style="bold")
        for why, ones in groups.unplaced():
            yield Text(f"  {listed([unplaced(one, named(one.key)) for one in ones])}: {why}")
    if plan.frozen:
        yield Text("\nFrozen: left exactly as they are", style="bold")
        yield from (Text(f"  {named(one.key)}  in {one.where}: {one.why}") for one in groups.frozen())
    nothing_above = not (plan.changes or plan.held or plan.unplaced or plan.frozen)
    yield Text(("" if nothing_above else "\n") + summary_line(plan), style="bold")


def summary_line(plan: Plan) -> str:
    """``Plan: 3 to create, 1 to update; 12 unchanged, 2 held back.``, or that there is nothing to do.

    ``No changes`` is said only where every member was read, and holds all that the repository says; not where that is
    nothing, as while everything is suspended.
    """
    summary = plan.summary
    counts = {action: getattr(summary, action) for action in WORDS}
    parts = [f"{count} {WORDS[action]}" for action, count in counts.items() if count]
    replicas = sum(one.replicas or 0 for one in plan.unplaced)
    rest = [
        (len(plan.held), "held back"),
        (summary.contested, "contested"),
        (sum(map(len, plan.frozen.values())), "frozen"),
        (sum(one.replicas is None for one in plan.unplaced), "placed nowhere"),
        (replicas, "replica placed nowhere" if replicas == 1 else "replicas placed nowhere"),
        (len(plan.unread), "member not read" if len(plan.unread) == 1 else "members not read"),
    ]
    said = "".join(f", {count} {what}" for count, what in rest if count)
    if not parts and not said and not summary.unchanged:
        return "Plan: nothing to do."
    if not parts and not said:
        whole = "1 object is" if summary.unchanged == 1 else f"{summary.unchanged} objects are"
        return f"No changes: {whole} as the repository says."
    return f"Plan: {', '.join(parts) or 'nothing to do'}; {summary.unchanged} unchanged{said}."


def wave_lines(plan: Plan) -> list[str]:
    """``canary: member1 (3 changes), then a pause`` for every wave with changes; empty where one begins with all."""
    lines = []
    for wave in plan.waves:
        count = sum(change.cluster in wave.members for change in plan.changes)
        if count:
            more = len(wave.members) - LISTED
            names = ", ".join(wave.members[:LISTED]) + (f" and {more} more" if more > 0 else "")
            pause = ", then a pause" if wave.pause else ""
            lines.append(f"{wave.name}: {names} ({count} change{'s' * (count > 1)}){pause}")
    return lines


def named(key: ObjectKey) -> str:
    """An object as a person names it: ``Deployment shop/web``."""
    return f"{key.kind} {key.qualified_name}"


def unplaced(one: Unplaced, name: str) -> str:
    """``3 replicas of NAME``, or the name where the whole object goes nowhere."""
    if one.replicas is None:
        return name
    return f"{one.replicas} replica{'s' * (one.replicas != 1)} of {name}"


def move_text(move: Move, *, minus: str) -> str:
    """``eu-1 -2 → us-1 +2``; of one that is not divided ``eu-1 → us-1``."""
    if move.whole:
        return f"{', '.join(move.leaves)} → {', '.join(move.arrives)}"
    return f"{numbers(move.leaves, minus)} → {numbers(move.arrives, '+')}"


def numbers(members: Mapping[str, int], sign: str) -> str:
    """``eu-1 +2, us-1 +4``."""
    return ", ".join(f"{name} {sign}{number}" for name, number in members.items())


def _headline(group: Group, groups: Groups) -> Text:
    from rich.text import Text

    mark, style = MARKS[group.change.action]
    line = Text.assemble((f"{mark} {named(group.change.key)}", style), ("  in ", "dim"), groups.where(group))
    if said := groups.note(group):
        line.append(f"  ({said})", style="dim")
    return line


def _field_line(field: FieldChange) -> Text:
    from rich.text import Text

    line = Text(f"    {field.path}: ")
    before, after = shown_change(field.before, field.after)
    if field.before is not None or field.after is None:
        line.append(before, style="red")
        line.append(" → ")
    line.append(after, style="green")
    if field.manager:
        line.append(f"  (set by {field.manager})", style="dim")
    return line


def _held_line(held: HeldGroup) -> Text:
    from rich.text import Text

    mark, style = MARKS[held.action]
    permit = f" (to permit it: {held.flag})" if held.flag != "none" else ""
    return Text.assemble(
        (f"  {mark} {listed([named(key) for key in held.keys], HELD_LISTED)}", style),
        ("  in ", "dim"),
        f"{held.where}: {held.why}{permit}",
    )
