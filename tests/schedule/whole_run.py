"""Prints what a whole run makes of a fleet: to compare runs that may differ in nothing but chance.

``python -m tests.schedule.whole_run DIRECTORY``: load, schedule for empty members, then anew with what was decided,
and render both. Everything is printed in the order in which the stages give it, places in files aside.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kadm.errors import Problem
from kadm.model.decision import Decisions
from kadm.model.desired import Desired
from kadm.model.observation import Observation
from kadm.model.repository import Repo
from kadm.render import render
from kadm.repo import load
from kadm.schedule import schedule
from tests.schedule.builders import NOW, a_state, apply, observed

CPU = {"ap": ("64", "48"), "cn": ("64", "48"), "eu": ("64", "48"), "sa": ("16", "2"), "us": ("100", "80")}
"""Member → allocatable and available; three of them tie."""

SERVED = (
    ("apps", "v1", "Deployment"),
    ("apps", "v1", "StatefulSet"),
    ("batch", "v1", "Job"),
    ("", "v1", "ConfigMap"),
    ("", "v1", "Secret"),
    ("", "v1", "Service"),
    ("", "v1", "Namespace"),
)


def observation() -> Observation:
    """All members, with room, and without a record."""
    return observed(*(a_state(name, served=SERVED, cpu=cpu) for name, cpu in CPU.items()))


def whole_run(repo: Repo) -> list[Any]:
    """Decisions and rendered objects, twice, as JSON values whose order is that of the stages."""
    empty = observation()
    first = schedule(repo, empty, now=NOW)
    settled = apply(empty, first)
    again = schedule(repo, settled, now=NOW, reschedule="all")
    return [
        decided(first),
        rendered(render(repo, first, empty)),
        decided(again),
        rendered(render(repo, again, settled)),
    ]


def decided(decisions: Decisions) -> Mapping[str, Any]:
    return {
        **{str(key): msgspec.to_builtins(decision) for key, decision in decisions.by_key.items()},
        "problems": said(decisions.problems),
    }


def rendered(desired: Desired) -> Mapping[str, Any]:
    return {
        **{
            name: [
                [{"of": str(one.key), "digest": one.digest, "object": one.object} for one in member.objects],
                [[str(key), why] for key, why in member.frozen.items()],
                [[str(key), replicas] for key, replicas in member.replicas.items()],
            ]
            for name, member in desired.members.items()
        },
        "problems": said(desired.problems),
    }


def said(problems: Iterable[Problem]) -> list[tuple[str, ...]]:
    return [(one.severity, one.object, one.member, one.what, one.why, one.hint) for one in problems]


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(whole_run(load(Path(sys.argv[1]), environ={}))))
