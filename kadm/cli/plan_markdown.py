"""A plan as the comment on a pull request: bounded, changes grouped over members, deletions never cut."""

from __future__ import annotations

from kadm.cli.plan_groups import Group, grouped, note, where
from kadm.cli.plan_text import MARKS, named, shown, summary_line
from kadm.model.plan import Plan

LIMIT_BYTES = 60_000
"""What fits into a comment of the usual forges (GitHub: 65,536 characters), with room for what a pipeline adds."""


def plan_markdown(plan: Plan, *, limit_bytes: int = LIMIT_BYTES) -> str:
    """The plan as Markdown of at most ``limit_bytes``, unless deletions alone need more: these are never cut.

    The first line is a hidden marker, by which a pipeline finds its comment again to update it in place.
    """
    head = [
        f"<!-- kadm plan {plan.fleet} -->",
        f"### kadm plan: {plan.fleet}",
        "",
        summary_line(plan.summary),
        "",
    ]
    if plan.moves:
        head += ["**Moves between members**", ""]
        for move in plan.moves:
            leaves = ", ".join(f"{name} −{number}" for name, number in move.leaves.items())
            arrives = ", ".join(f"{name} +{number}" for name, number in move.arrives.items())
            head.append(f"- {_code(named(move.key))}: {leaves} → {arrives}")
        head.append("")
    groups = grouped(plan.changes)
    removals = [group for group in groups if group.change.action in ("delete", "release")]
    head += _list("Leaves the members", [_headline(group, plan) for group in removals])
    head += _list(
        "Held back",
        [f"{_code(named(one.change.key))} in {one.change.cluster}: {one.why} ({_code(one.flag)})" for one in plan.held],
    )
    head += _list("Members that could not be read", [f"{one.member}: {one.what}" for one in plan.unread])
    head += _list("Problems", [str(one) for one in dict.fromkeys(plan.problems)])
    blocks = [_block(group, plan) for group in groups if group not in removals]
    return _bounded("\n".join(head), blocks, limit_bytes)


def _bounded(head: str, blocks: list[str], limit_bytes: int) -> str:
    """The head, and as many blocks as fit; how many do not, is said."""
    text = head + ("\n**Changes**\n" if blocks else "")
    reserve = 120
    for index, block in enumerate(blocks):
        if len((text + block).encode()) > limit_bytes - reserve:
            left = len(blocks) - index
            return text + f"\n…and {left} more changes: `kadm plan` shows all of them.\n"
        text += block
    return text if text.endswith("\n") else text + "\n"


def _block(group: Group, plan: Plan) -> str:
    change = group.change
    lines = [f"\n- {_headline(group, plan)}"]
    if change.action != "create":
        for field in change.fields:
            by = f" (set by {field.manager})" if field.manager else ""
            lines.append(f"  - {_code(field.path)}: {_code(shown(field.before))} → {_code(shown(field.after))}{by}")
    return "\n".join(lines) + "\n"


def _headline(group: Group, plan: Plan) -> str:
    mark, _ = MARKS[group.change.action]
    said = f" ({text})" if (text := note(group, plan)) else ""
    return f"{_code(mark)} {group.change.action} {_code(named(group.change.key))} in {where(group, plan)}{said}"


def _list(title: str, entries: list[str]) -> list[str]:
    return [f"**{title}**", "", *(f"- {entry}" for entry in entries), ""] if entries else []


def _code(text: str) -> str:
    """Inline code that no backtick in the text can end."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"
