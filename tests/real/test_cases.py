"""Every case of the table, on every sort of member: nothing to do, what is seen, and that it is brought about."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from kadm.compare.difference import differences
from kadm.model.objects import path_text
from tests.e2e.running import Tools
from tests.real.case import Case
from tests.real.cases import CASES
from tests.real.fleet import Fleet
from tests.real.manifests import SHARED
from tests.real.members import Members
from tests.real.story import play

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(600)]

Json = Any

OF_CONTROLLERS = ('metadata.annotations["deployment.kubernetes.io/revision"]',)
"""What a controller writes on an object because kadm wrote on it."""


@pytest.fixture(scope="package")
def played(members: Members, run_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """All cases that fit the members, played by the first process of the run that asks."""
    kept = run_directory / f"cases-{members.sort}.json"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            fleet = Fleet(members, Tools(tmp_path_factory.mktemp("cases")))
            try:
                cases = {case.name: case for case in CASES if case.fits(members.version)}
                told = play(fleet, cases, SHARED)
            finally:
                fleet.remove()
            kept.write_text(json.dumps(told), encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8"))


@pytest.fixture
def story(request: pytest.FixtureRequest, case: Case, members: Members, played: Json) -> Json:
    """What was said of the case. Skips on members of another version; expects a failure where one is pending."""
    if not case.fits(members.version):
        pytest.skip(f"{case.id}: not on {'.'.join(map(str, members.version))}")
    reason = case.pending.get(members.sort)
    if reason and case.changes == ("after_it_was_applied" not in request.function.__name__):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    return played


def cases(*, changing: bool) -> pytest.MarkDecorator:
    """The cases, each by its id; ``changing``: those alone to which something happens."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.id) for case in CASES if case.changes or not changing]
    )


def planned(plan: Json, case: Case, namespace: str) -> Json:
    """What a plan says of a case's objects."""
    names = {case.name, f"{namespace}-{case.name}", f"{namespace}-{case.name}-part"}
    return {
        part: mine
        for part in ("changes", "held", "unplaced", "frozen", "problems")
        if (mine := [one for one in plan[part] if _names(one) & names])
    }


def _names(said: Json) -> set[str]:
    """The name of the object that a line of a plan is about; a problem names it as ``Kind namespace/name``."""
    return {str(said.get("name", "")), str(said.get("object") or "").rpartition("/")[2].rpartition(" ")[2]}


@cases(changing=False)
def test_nothing_is_to_do_after_it_was_applied(case: Case, story: Json) -> None:
    assert story["failed"].get(case.name, "") == "", story["said"][0]
    assert planned(story["plans"][0], case, story["namespace"]) == {}, story["said"][0]


@cases(changing=True)
def test_what_happens_is_seen_field_by_field(case: Case, story: Json) -> None:
    assert story["failed"].get(case.name, "") == "", story["said"][0]
    found = planned(story["plans"][1], case, story["namespace"])
    seen = [
        (one["action"], [(field["path"], field["before"], field["after"]) for field in one["fields"]])
        for one in found.pop("changes", [])
    ]
    assert (seen, found) == ([(case.action, sorted(case.fields))], {})


@cases(changing=True)
def test_apply_brings_it_about_and_nothing_else(case: Case, story: Json) -> None:
    before, after = story["live"][case.name]
    if case.action == "delete":
        assert (before is None, after) == (False, None), story["said"][1]
        return
    changed = {path_text(one.path) for one in differences(before, after)} - set(OF_CONTROLLERS)
    assert changed == {path for path, _, _ in case.fields}, story["said"][1]
    assert planned(story["plans"][2], case, story["namespace"]) == {}, story["said"][1]
