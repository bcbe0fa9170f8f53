"""A plan as the comment on a pull request: bounded, changes grouped over members, deletions never cut."""

from __future__ import annotations

from collections.abc import Sequence

from kadm.cli.console import one_line
from kadm.cli.merging import merged
from kadm.cli.plan_groups import HELD_LISTED, LEAVING, Group, Groups, HeldGroup, listed
from kadm.cli.plan_text import MARKS, move_text, named, summary_line, unplaced, wave_lines
from kadm.cli.plan_values import shown_change
from kadm.model.plan import Plan, Unplaced

LIMIT_BYTES = 60_000
"""What fits into a comment of the usual forges (GitHub: 65,536 characters), with room for what a pipeline adds."""

DELETING = (*LEAVING, "recreate")

CLOSING_BYTES = 120
"""More than the line takes that says how much of a section is left out."""

Section = tuple[str, Sequence[str]]
"""A title, and entries of a line or more each."""


def plan_markdown(plan: Plan, *, limit_bytes: int = LIMIT_BYTES) -> str:
    """The plan as Markdown of at most ``limit_bytes``, unless deletions alone need more: these are never cut.

    The first line is a hidden marker, by which a pipeline finds its comment again to update it in place.
    """
    groups = Groups(plan)
    removals = [group for group in groups if group.change.action in LEAVING]
    head = f"<!-- kadm plan {plan.fleet} -->\n### kadm plan: {plan.fleet}\n\n{summary_line(plan)}\n"
    head += _whole(("Leaves the members", [_headline(group, groups) for group in removals]))
    anew = [group for group in groups if group.change.action == "recreate"]
    head += _whole(("Is deleted, and created again", [_change(group, groups) for group in anew]))
    head += _whole(("Held back: deletions", [_held(held) for held in groups.held() if held.action in DELETING]))
    return _bounded(
        head,
        [
            ("Moves between members", [_move(plan, index) for index in range(len(plan.moves))]),
            ("Waves: each is well before the next", [_code(line) for line in wave_lines(plan)]),
            ("Held back", [_held(held) for held in groups.held() if held.action not in DELETING]),
            ("Placed nowhere", [_unplaced(why, ones) for why, ones in groups.unplaced()]),
            ("Frozen: left exactly as they are", _frozen(groups)),
            ("Members that could not be read", [f"{one.member}: {_code(one_line(one.what))}" for one in plan.unread]),
            ("Problems", [_code(one_line(str(one))) for one in merged(plan.problems)]),
            ("Changes", [_change(group, groups) for group in groups if group.change.action not in DELETING]),
        ],
        limit_bytes,
    )


def _whole(section: Section) -> str:
    title, entries = section
    return "".join([f"\n**{title}**\n\n", *(f"- {entry}\n" for entry in entries)]) if entries else ""


def _bounded(text: str, sections: Sequence[Section], limit_bytes: int) -> str:
    """The text, and of each section as many entries as fit; how many do not, is said."""
    size = len(text.encode())
    for index, (title, entries) in enumerate(sections):
        room = limit_bytes - CLOSING_BYTES * (len(sections) - index)
        for number, entry in enumerate(entries):
            line = f"- {entry}\n" if number else f"\n**{title}**\n\n- {entry}\n"
            if size + len(line.encode()) > room:
                line = f"\n{len(entries) - number} more under “{title}”: `kadm plan` shows all.\n"
                text, size = text + line, size + len(line.encode())
                break
            text, size = text + line, size + len(line.encode())
    return text


def _move(plan: Plan, index: int) -> str:
    move = plan.moves[index]
    return f"{_code(named(move.key))}: {move_text(move, minus='−')}"


def _held(held: HeldGroup) -> str:
    permit = f" (to permit it: {_code(held.flag)})" if held.flag != "none" else ""
    most = len(held.keys) if held.action in DELETING else HELD_LISTED
    names = listed([_code(named(key)) for key in held.keys], most)
    return f"{held.action} {names} in {held.where}: {_code(one_line(held.why))}{permit}"


def _unplaced(why: str, ones: Sequence[Unplaced]) -> str:
    return f"{listed([unplaced(one, _code(named(one.key))) for one in ones])}: {_code(one_line(why))}"


def _frozen(groups: Groups) -> list[str]:
    return [f"{_code(named(one.key))} in {one.where}: {_code(one_line(one.why))}" for one in groups.frozen()]


def _change(group: Group, groups: Groups) -> str:
    lines = [_headline(group, groups)]
    if group.change.action != "create":
        for field in group.change.fields:
            by = f" (set by {_code(field.manager)})" if field.manager else ""
            before, after = shown_change(field.before, field.after)
            lines.append(f"  - {_code(field.path)}: {_code(before)} → {_code(after)}{by}")
    return "\n".join(lines)


def _headline(group: Group, groups: Groups) -> str:
    mark, _ = MARKS[group.change.action]
    said = f" ({text})" if (text := groups.note(group)) else ""
    return f"{_code(mark)} {group.change.action} {_code(named(group.change.key))} in {groups.where(group)}{said}"


def _code(text: str) -> str:
    """Inline code that no backtick in the text can end."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"
