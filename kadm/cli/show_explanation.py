"""An explanation as people read it: what became of the object, where that comes from, and a table of the members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kadm.cli.console import Console
from kadm.cli.plan_text import named
from kadm.cli.plan_values import shown
from kadm.errors import Location
from kadm.model.explanation import BoundPolicy, Explanation, Following, MemberExplanation, OverriddenField

_VIA = {
    "label": "named by its label",
    "entry": "named for its directory",
    "default": "the fleet's default",
}

_PLACED = {
    "written": ("yes", "green"),
    "frozen": ("frozen", "yellow"),
    "absent": ("no", "dim"),
}
"""State → how the table says it, and its style."""

_LABELS = 13
"""Width of what stands before a line."""


def show_explanation(console: Console, found: Explanation) -> None:
    """One object to stdout."""
    from rich.text import Text

    def line(label: str, text: str) -> None:
        console.print(Text.assemble((f"{label:{_LABELS}}", "bold"), text))

    console.print(Text.assemble((named(found.object), "bold"), (f"  {_place(found.location)}", "dim")))
    console.print(_headline(found))
    console.data("\n")
    for label, texts in _origins(found):
        for index, text in enumerate(texts):
            line("" if index else label, text)
    _members(console, found)
    _numbers(console, found)
    _fields(console, found)


def _headline(found: Explanation) -> str:
    """What becomes of the object, in a sentence."""
    here = [member for member in found.members if member.state != "absent"]
    where = f"{len(here)} of {_counted(len(found.members), 'member')}"
    frozen = sum(member.state == "frozen" for member in found.members)
    if not here:
        return "It goes nowhere."
    if frozen == len(here):
        return f"It is frozen: it stays exactly as it is live, in {where}."
    also = f" In {frozen} of them it is frozen: it stays exactly as it is live." if frozen else ""
    if found.outcome == "following" or found.policy is None:
        return f"It has no policy of its own, and goes where others need it: {where}.{also}"
    done = "It keeps its place" if found.outcome == "kept" else "It is placed"
    placed = f"{done}: {where}."
    if found.replicas is not None:
        total = sum(member.replicas or 0 for member in found.members)
        placed = f"{done}: {total} of {_counted(found.replicas, 'replica')}, in {where}."
    lacking = f" {found.unplaced_replicas} find no place." if found.unplaced_replicas else ""
    return placed + lacking + also


def _origins(found: Explanation) -> Iterator[tuple[str, Sequence[str]]]:
    """What stands above the table: a label, and its lines."""
    yield "Why", found.reasons
    yield "Learned", found.learned
    if found.policy is not None:
        yield "Policy", _policy(found.policy)
    yield "Asks for", found.asks
    yield (
        "Annotations",
        [
            f"{one.name} ({_place(one.where)}) counts, and not {one.instead_of} of the policy"
            for one in found.annotations
        ],
    )
    yield "Overrides", [text for one in found.overrides for text in _policy(one)]
    yield "Follows", [_following(one) for one in found.follows]
    yield "Followed by", [_following(one) for one in found.followers]
    yield "Selected", [found.selection] if found.selection else ()


def _policy(bound: BoundPolicy) -> Sequence[str]:
    stands = _place(bound.location) if bound.location is not None else "which does not exist"
    return (f"{bound.policy}, {stands}", f"  {_VIA[bound.via]}, {_place(bound.where)}")


def _following(one: Following) -> str:
    return f"{named(one.object)}, in {', '.join(one.members)}"


def _members(console: Console, found: Explanation) -> None:
    """The table of the members, and in which order the filters were asked."""
    from rich.text import Text

    if not found.members:
        return
    filters = max((member.filters for member in found.members), key=len)
    scores = list(dict.fromkeys(name for member in found.members for name in member.scores))
    rows = [
        [
            member.member,
            Text(*_PLACED[member.state]),
            "" if member.replicas is None else member.replicas,
            "" if member.first_ordinal is None else f"from {member.first_ordinal}",
            "" if member.rank is None else member.rank,
            "" if member.score is None else member.score,
            _why(found, member),
        ]
        for member in found.members
    ]
    console.data("\n")
    console.table(
        ["MEMBER", "PLACED", "REPLICAS", "ORDINALS", "RANK", "PRIORITY" if not scores else "SCORE", "WHY"],
        rows,
        numbers=("REPLICAS", "RANK", "PRIORITY", "SCORE"),
    )
    if scores:
        console.data("\nScores, from 0 to 100 each; SCORE is their weighted sum\n")
        console.table(
            ["MEMBER", *scores],
            [[member.member, *(member.scores[name] for name in scores)] for member in found.members if member.scores],
            numbers=scores,
        )
    if filters:
        console.data(f"\nFilters, in order: {', '.join(verdict.plugin for verdict in filters)}\n")


def _why(found: Explanation, member: MemberExplanation) -> str:
    """Why it is there or stays, which filters do not let the member pass, and how its number came about.

    What the whole object is told above is not said of each member again.
    """
    told = member.because == "; ".join(found.reasons) or (member.state == "written" and found.policy is not None)
    because = [] if told or not member.because else [member.because]
    if member.state == "written" and member.follows:
        because = [f"follows {', '.join(named(leader) for leader in member.follows)}"]
    refused = [f"{one.plugin}: {one.reason}" for one in member.filters if not one.fits]
    passed = ["every filter lets it pass"] if member.filters and not refused and not member.notes else []
    if passed and found.outcome == "kept":  # where it is kept, what is there has a note
        passed = ["every filter lets it pass, but it is not in the recorded placement"]
    return "; ".join([*because, *refused, *member.notes, *([] if because else passed)])


def _numbers(console: Console, found: Explanation) -> None:
    """How each number came about, where it took more than one step."""
    told = [member for member in found.members if len(member.steps) > 1 or any(" but " in one for one in member.steps)]
    if told:
        console.data("\nStep by step\n")
        width = max(len(member.member) for member in told)
        for member in told:
            console.data(f"  {member.member:{width}}  {'; then '.join(member.steps)}\n")


def _fields(console: Console, found: Explanation) -> None:
    """What overrides change, the same change of several members once."""
    members: dict[str, list[str]] = {}
    for member in found.members:
        for field in member.fields:
            if field.policy is not None:
                members.setdefault(_field(field), []).append(member.member)
    if not members:
        return
    console.data("\nWhat differs from the manifest\n")
    everywhere = sum(member.state == "written" for member in found.members)
    for text, names in members.items():
        what, by = text.split("\n")
        where = "everywhere" if len(names) == everywhere > 1 else f"in {', '.join(names)}"
        console.data(f"  {what}\n    {by}, {where}\n")


def _field(field: OverriddenField) -> str:
    """Two lines: what, and by what."""
    change = f"{field.path}: {shown(field.before)} → {shown(field.after)}"
    return f"{change}\nrule {field.rule} of {field.policy}, {_place(field.location)}"


def _place(location: Location | None) -> str:
    return f"{location.path}:{location.line}" if location is not None else "unknown"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
