"""A plan as people read it on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from kadm.cli.plan_groups import LISTED, Group, Groups
from kadm.model.objects import JsonValue, ObjectKey
from kadm.model.plan import Action, FieldChange, Held, Plan

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

LONGEST_VALUE = 160


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
            yield Text(f"  {named(move.key)}: {numbers(move.leaves, '-')} → {numbers(move.arrives, '+')}")
    if lines := wave_lines(plan):
        yield Text("\nWaves: each is well before the next", style="bold")
        yield from (Text(f"  {line}") for line in lines)
    if plan.held:
        yield Text("\nHeld back", style="bold")
        yield from (_held_line(held) for held in plan.held)
    if plan.unplaced:
        yield Text("\nPlaced nowhere", style="bold")
        for one in plan.unplaced:
            what = "" if one.replicas is None else f"{one.replicas} replicas of "
            yield Text(f"  {what}{named(one.key)}: {one.why}")
    if plan.frozen:
        yield Text("\nFrozen: left exactly as they are", style="bold")
        for member, objects in plan.frozen.items():
            for key, reason in objects.items():
                yield Text(f"  {member}: {named(key)}: {reason}")
    yield Text(("\n" if plan.changes or plan.held or plan.frozen else "") + summary_line(plan), style="bold")


def summary_line(plan: Plan) -> str:
    """``Plan: 3 to create, 1 to update; 12 unchanged, 2 held back.``, or that there is nothing to do."""
    summary = plan.summary
    counts = {action: getattr(summary, action) for action in WORDS}
    parts = [f"{count} {WORDS[action]}" for action, count in counts.items() if count]
    if not parts and not plan.held:
        return f"No changes: {summary.unchanged} objects are as the repository says."
    held = f", {len(plan.held)} held back" if plan.held else ""
    return f"Plan: {', '.join(parts) or 'nothing to do'}; {summary.unchanged} unchanged{held}."


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


def numbers(members: Mapping[str, int], sign: str) -> str:
    """``eu-1 +2, us-1 +4``."""
    return ", ".join(f"{name} {sign}{number}" for name, number in members.items())


def shown(value: JsonValue) -> str:
    """A value on one line, shortened where it is long; absent is ``(none)``."""
    if value is None:
        return "(none)"
    text = value if isinstance(value, str) and value and "\n" not in value else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


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
    if field.before is not None or field.after is None:
        line.append(shown(field.before), style="red")
        line.append(" → ")
    line.append(shown(field.after), style="green")
    if field.manager:
        line.append(f"  (set by {field.manager})", style="dim")
    return line


def _held_line(held: Held) -> Text:
    from rich.text import Text

    mark, style = MARKS[held.change.action]
    permit = f" (to permit it: {held.flag})" if held.flag != "none" else ""
    return Text.assemble(
        (f"  {mark} {named(held.change.key)}", style), ("  in ", "dim"), f"{held.change.cluster}: {held.why}{permit}"
    )
