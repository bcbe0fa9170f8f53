"""A plan as people read it: golden text, no colour."""

from __future__ import annotations

import io
from typing import Any

import pytest

from kadm.cli.console import Console
from kadm.cli.plan_text import plan_lines, summary_line
from kadm.errors import Problem
from kadm.model.plan import Held, Move, Plan, PlannedPlacement, Summary, Unplaced
from tests.cli.builders import a_change, a_key, a_plan

NAMESPACE = a_key("shop", kind="Namespace", group="", namespace="")
CONFIG = a_key("web", kind="ConfigMap", group="")


def _text(plan: Plan, **options: Any) -> str:
    out = io.StringIO()
    console = Console(out=out)
    for line in plan_lines(plan, **options):
        console.print(line)
    return out.getvalue()


EVERYTHING = a_plan(
    [
        a_change("eu", "create", key=CONFIG, fields=[("data.a", None, "1")]),
        a_change("us", "create", key=CONFIG, fields=[("data.a", None, "1")]),
        a_change("eu", fields=[("spec.replicas", 3, 1), ("spec.paused", True, None)]),
        a_change("us", fields=[("spec.replicas", 1, 5, "kubectl")]),
        a_change("eu", "delete", key=a_key("old"), note="its policy is gone"),
        a_change("eu", "adopt", key=a_key("found")),
        a_change("eu", "release", key=a_key("theirs")),
        a_change("eu", "recreate", key=a_key("fixed"), fields=[("spec.selector.matchLabels.app", "a", "b")]),
    ],
    unchanged=12,
    moves=(Move(key=a_key(), leaves={"eu": 2}, arrives={"us": 4, "asia": 1}),),
    held=(
        Held(change=a_change("us", "delete", key=a_key("db")), why="it is protected", flag="--allow-protected"),
        Held(change=a_change("us", "delete", key=a_key("never")), why="never", flag="none"),
    ),
    unplaced=(
        Unplaced(key=a_key("big"), replicas=3, why="no member has room"),
        Unplaced(key=a_key("lost"), replicas=None, why="no policy"),
    ),
    frozen={"asia": {a_key("web"): "an override fails"}},
    problems=(Problem(what="told elsewhere"),),
)

TEXT = """\
+ ConfigMap shop/web  in all members
± Deployment shop/fixed  in eu
    spec.selector.matchLabels.app: a → b
& Deployment shop/found  in eu
- Deployment shop/old  in eu  (its policy is gone)
o Deployment shop/theirs  in eu
~ Deployment shop/web  in eu
    spec.replicas: 3 → 1
    spec.paused: true → (none)
~ Deployment shop/web  in us
    spec.replicas: 1 → 5  (set by kubectl)

Moves between members
  Deployment shop/web: eu -2 → us +4, asia +1

Held back
  - Deployment shop/db  in us: it is protected (to permit it: --allow-protected)
  - Deployment shop/never  in us: never

Placed nowhere
  3 replicas of Deployment shop/big: no member has room
  Deployment shop/lost: no policy

Frozen: left exactly as they are
  Deployment shop/web  in asia: an override fails

Plan: 2 to create, 2 to update, 1 to delete, 1 to adopt, 1 to release, 1 to recreate; 12 unchanged, 2 held back, \
1 frozen, 1 placed nowhere, 3 replicas placed nowhere.
"""


def test_everything_that_a_plan_may_say() -> None:
    assert _text(EVERYTHING) == TEXT


def test_nothing_to_do() -> None:
    assert _text(a_plan(unchanged=7)) == "No changes: 7 objects are as the repository says.\n"


def test_a_divided_workload_shows_its_replicas_and_no_obvious_note() -> None:
    plan = a_plan(
        [
            a_change("eu", "create", key=NAMESPACE),
            a_change("eu", "create", note="after its namespace", fields=[("spec.replicas", None, 2)]),
            a_change("us", "create", note="after its namespace", fields=[("spec.replicas", None, 4)]),
        ],
        placements=(PlannedPlacement(key=a_key(), clusters={"eu": 2, "us": 4}),),
    )
    assert _text(plan) == (
        "+ Namespace shop  in eu\n+ Deployment shop/web  in eu (2), us (4)\n\nPlan: 3 to create; 0 unchanged.\n"
    )


def test_fields_of_creates_where_they_are_asked_for() -> None:
    plan = a_plan([a_change("eu", "create", key=CONFIG, fields=[("data.a", None, "1")])])
    assert _text(plan, shows_fields_of_creates=True) == (
        "+ ConfigMap shop/web  in eu\n    data.a: 1\n\nPlan: 1 to create; 0 unchanged.\n"
    )


@pytest.mark.parametrize(
    ("action", "where"),
    [
        pytest.param("update", ", ".join(f"m{number:02}" for number in range(12)) + " and 8 more", id="a change"),
        pytest.param("delete", ", ".join(f"m{number:02}" for number in range(20)), id="what leaves is named in full"),
    ],
)
def test_many_members(action: Any, where: str) -> None:
    changes = [a_change(f"m{number:02}", action) for number in range(20)]
    text = _text(a_plan([*changes, a_change("other", "create", key=CONFIG)]))
    assert text.splitlines()[1].partition("  in ")[2] == where


@pytest.mark.parametrize(
    ("plan", "want"),
    [
        pytest.param(
            Plan(fleet="shop", commit="", summary=Summary(own=2, unchanged=1)),
            "Plan: 2 to own; 1 unchanged.",
            id="ownership only",
        ),
        pytest.param(
            a_plan(unchanged=3, held=(Held(change=a_change("us", "delete"), why="data", flag="--delete-pvcs"),)),
            "Plan: nothing to do; 3 unchanged, 1 held back.",
            id="what is held back is not as the repository says",
        ),
        pytest.param(
            Plan(fleet="shop", commit="", summary=Summary(unchanged=20, contested=1)),
            "Plan: nothing to do; 20 unchanged, 1 contested.",
            id="nor is what is contested",
        ),
        pytest.param(
            a_plan(unchanged=3, frozen={"eu": {a_key("web"): "refused"}, "us": {a_key("web"): "refused"}}),
            "Plan: nothing to do; 3 unchanged, 2 frozen.",
            id="nor is what is frozen",
        ),
        pytest.param(
            a_plan(
                unplaced=(
                    Unplaced(key=a_key("a"), replicas=None, why="no policy"),
                    Unplaced(key=a_key("b"), replicas=1, why="no room"),
                ),
                unread=(Problem(what="no answer", member="eu"),),
            ),
            "Plan: nothing to do; 0 unchanged, 1 placed nowhere, 1 replica placed nowhere, 1 member not read.",
            id="nor what is placed nowhere, and of a member that was not read nothing is known",
        ),
        pytest.param(a_plan(), "Plan: nothing to do.", id="nothing is planned at all"),
        pytest.param(a_plan(unchanged=1), "No changes: 1 object is as the repository says.", id="one object"),
    ],
)
def test_summary_line(plan: Plan, want: str) -> None:
    assert summary_line(plan) == want


def test_all_members_are_those_of_the_plan_and_not_those_that_change() -> None:
    changes = [a_change(name, key=CONFIG, fields=[("data.a", "1", "2")]) for name in ("eu", "us")]
    assert _text(a_plan(changes, members=("asia", "eu", "us"))).splitlines()[0] == "~ ConfigMap shop/web  in eu, us"


def test_what_is_held_back_or_frozen_alike_is_grouped_over_members() -> None:
    plan = a_plan(
        held=tuple(
            Held(change=a_change(name, "delete", key=CONFIG), why=why, flag="--allow-empty")
            for name, why in (("asia", "it would drop to nothing"), ("eu", "other"), ("us", "it would drop to nothing"))
        ),
        frozen={name: {CONFIG: "refused"} for name in ("asia", "eu", "us")},
        members=("asia", "eu", "us"),
    )
    assert _text(plan) == (
        "\nHeld back\n"
        "  - ConfigMap shop/web  in asia, us: it would drop to nothing (to permit it: --allow-empty)\n"
        "  - ConfigMap shop/web  in eu: other (to permit it: --allow-empty)\n"
        "\nFrozen: left exactly as they are\n"
        "  ConfigMap shop/web  in all members: refused\n"
        "\nPlan: nothing to do; 0 unchanged, 3 held back, 3 frozen.\n"
    )


def _held(count: int, action: Any, why: str, flag: str, member: str = "eu") -> tuple[Held, ...]:
    return tuple(
        Held(
            change=a_change(member, action, key=a_key(f"c{number}", kind="ConfigMap", group="")),
            why=why,
            flag=flag.replace("NAME", f"c{number}"),
        )
        for number in range(count)
    )


@pytest.mark.parametrize(
    ("held", "want"),
    [
        pytest.param(
            _held(6, "delete", "it is protected", "--allow-protected"),
            "  - ConfigMap shop/c0, ConfigMap shop/c1, ConfigMap shop/c2, ConfigMap shop/c3 and 2 more  in eu: "
            "it is protected (to permit it: --allow-protected)\n",
            id="many are counted",
        ),
        pytest.param(
            _held(2, "adopt", "it exists already", "--adopt configmap/NAME, or --adopt-all"),
            "  & ConfigMap shop/c0, ConfigMap shop/c1  in eu: "
            "it exists already (to permit it: --adopt KIND/NAME, or --adopt-all)\n",
            id="a flag that names the object",
        ),
        pytest.param(
            _held(1, "adopt", "it exists already", "--adopt configmap/NAME, or --adopt-all"),
            "  & ConfigMap shop/c0  in eu: it exists already (to permit it: --adopt configmap/c0, or --adopt-all)\n",
            id="one alone is named in its flag",
        ),
        pytest.param(
            (*_held(1, "delete", "never", "none"), *_held(2, "delete", "never", "none", "us")),
            "  - ConfigMap shop/c0  in eu, us: never\n  - ConfigMap shop/c1  in us: never\n",
            id="not together where the members are others",
        ),
    ],
)
def test_what_is_held_back_alike_is_one_line(held: tuple[Held, ...], want: str) -> None:
    assert _text(a_plan(held=held)).partition("Held back\n")[2].partition("\nPlan")[0] == want


def test_an_obvious_note_does_not_part_members() -> None:
    plan = a_plan(
        [
            a_change("eu", "create", key=NAMESPACE),
            a_change("eu", "create", key=CONFIG, note="after namespace shop"),
            a_change("us", "create", key=CONFIG),
        ]
    )
    assert _text(plan).splitlines()[:2] == ["+ ConfigMap shop/web  in all members", "+ Namespace shop  in eu"]


def test_what_is_placed_nowhere_for_one_reason_is_one_line() -> None:
    names = [f"w{number:02}" for number in range(15)]
    plan = a_plan(unplaced=tuple(Unplaced(key=a_key(name), replicas=None, why="nobody answers") for name in names))
    first = ", ".join(f"Deployment shop/{name}" for name in names[:12])
    assert _text(plan).splitlines()[1:3] == ["Placed nowhere", f"  {first} and 3 more: nobody answers"]
