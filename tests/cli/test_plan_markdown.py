"""A plan as a comment: golden text, its bound, and what is never cut."""

from __future__ import annotations

import pytest

from kadm.cli.plan_markdown import LIMIT_BYTES, plan_markdown
from kadm.errors import Problem
from kadm.model.plan import Held, Move, Plan
from tests.cli.builders import a_change, a_key, a_plan
from tests.cli.test_plan_text import EVERYTHING

TEXT = """\
<!-- kadm plan shop -->
### kadm plan: shop

Plan: 2 to create, 2 to update, 1 to delete, 1 to adopt, 1 to release, 1 to recreate; 12 unchanged, 2 held back, \
1 frozen, 1 placed nowhere, 3 replicas placed nowhere.

**Leaves the members**

- `-` delete `Deployment shop/old` in eu (its policy is gone)
- `o` release `Deployment shop/theirs` in eu

**Is deleted, and created again**

- `±` recreate `Deployment shop/fixed` in eu
  - `spec.selector.matchLabels.app`: `a` → `b`

**Held back: deletions**

- delete `Deployment shop/db` in us: `it is protected` (to permit it: `--allow-protected`)
- delete `Deployment shop/never` in us: `never`

**Moves between members**

- `Deployment shop/web`: eu −2 → us +4, asia +1

**Placed nowhere**

- 3 replicas of `Deployment shop/big`: `no member has room`
- `Deployment shop/lost`: `no policy`

**Frozen: left exactly as they are**

- `Deployment shop/web` in asia: `an override fails`

**Problems**

- `told elsewhere`

**Changes**

- `+` create `ConfigMap shop/web` in all members
- `&` adopt `Deployment shop/found` in eu
- `~` update `Deployment shop/web` in eu
  - `spec.replicas`: `3` → `1`
  - `spec.paused`: `true` → `(none)`
- `~` update `Deployment shop/web` in us
  - `spec.replicas`: `1` → `5` (set by `kubectl`)
"""


def test_everything_that_a_plan_may_say() -> None:
    assert plan_markdown(EVERYTHING) == TEXT


def test_nothing_to_do() -> None:
    assert plan_markdown(a_plan(unchanged=7)) == (
        "<!-- kadm plan shop -->\n### kadm plan: shop\n\nNo changes: 7 objects are as the repository says.\n"
    )


def test_no_text_of_an_object_ends_its_code() -> None:
    text = plan_markdown(a_plan([a_change("eu", fields=[("data.a", "`x`", "``y\n- z")])]))
    assert text.splitlines()[-1] == '  - `data.a`: `` `x` `` → ``` "``y\\n- z" ```'


def _large(deletions: int) -> Plan:
    return a_plan(
        [
            *(a_change("eu", "delete", key=a_key(f"old-{number:05}")) for number in range(deletions)),
            *(
                a_change("eu", key=a_key(f"new-{number:05}"), fields=[("spec.replicas", number, number + 1)])
                for number in range(2000)
            ),
        ],
        moves=tuple(Move(key=a_key(f"m-{number}"), leaves={"eu": 1}, arrives={"us": 1}) for number in range(2000)),
        problems=tuple(Problem(what=f"problem {number}") for number in range(2000)),
    )


@pytest.mark.parametrize("limit", [1_000, 10_000, LIMIT_BYTES])
def test_it_is_bounded_and_says_what_it_leaves_out(limit: int) -> None:
    text = plan_markdown(_large(0), limit_bytes=limit)
    shown = {title: text.count(mark) for title, mark in (("Changes", "- `~` update"), ("Problems", "- `problem "))}
    assert len(text.encode()) <= limit
    assert all(f"{2000 - count} more under “{title}”" in text for title, count in shown.items())


def test_deletions_are_never_cut() -> None:
    text = plan_markdown(_large(3000), limit_bytes=10_000)
    assert text.count("- `-` delete `Deployment shop/old-") == 3000
    assert text.endswith("2000 more under “Changes”: `kadm plan` shows all.\n")


def test_held_deletions_are_never_cut() -> None:
    held = [
        Held(change=a_change("eu", action, key=a_key(f"{action}-{number:03}")), why="why", flag="--flag")
        for action in ("delete", "update")
        for number in range(300)
    ]
    text = plan_markdown(a_plan(held=tuple(held)), limit_bytes=1_000)
    assert (text.count("`Deployment shop/delete-"), text.count("`Deployment shop/update-")) == (300, 0)
    folded = plan_markdown(a_plan(held=tuple(held)))
    assert folded.splitlines()[-1] == (
        "- update `Deployment shop/update-000`, `Deployment shop/update-001`, `Deployment shop/update-002`, "
        "`Deployment shop/update-003` and 296 more in eu: `why` (to permit it: `--flag`)"
    )
