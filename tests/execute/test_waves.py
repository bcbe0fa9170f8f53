"""What a wave must show before the next begins."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.errors import Problem
from kadm.execute.waves import ALL, changed_in, sequence, why_not_well
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Held, Plan, PlannedWave
from kadm.model.report import ChangeResult, Result
from kadm.model.status import Health

WEB = ObjectKey("apps", "Deployment", "shop", "web")
API = ObjectKey("apps", "Deployment", "shop", "api")
CANARY = PlannedWave(name="canary", members=("eu", "lab"))
GONE = Problem(what="no connection", member="eu")


def change(cluster: str, key: ObjectKey = WEB) -> Change:
    return Change(cluster=cluster, key=key, version="v1", action="update")


def result(result: Result, why: str = "", cluster: str = "eu", key: ObjectKey = WEB) -> ChangeResult:
    problem = Problem(what=result, why=why) if why else None
    return ChangeResult(change=change(cluster, key), result=result, problem=problem)


@pytest.mark.parametrize(
    ("happened", "want"),
    [
        pytest.param({}, "", id="nothing was changed"),
        pytest.param({"results": [result("done")]}, "", id="all done and ready"),
        pytest.param(
            {"results": [result("not ready", "Progressing: 0 of 1 ready")]},
            "canary is not well: eu Deployment.apps shop/web: not ready: Progressing: 0 of 1 ready",
            id="not ready",
        ),
        pytest.param(
            {"results": [result("failed", "z", cluster="lab"), result("failed", "a", key=API)]},
            "canary is not well: eu Deployment.apps shop/api: failed: a (and 1 more)",
            id="the first by member and object, and how many more",
        ),
        pytest.param({"results": [result("held", "a move")]}, "", id="what a move keeps is not the wave's fault"),
        pytest.param({"lost": {"eu": GONE}}, "canary is not well: eu: no connection", id="a member was lost"),
        pytest.param({"lost": {"us": GONE}}, "", id="a member of another wave was lost"),
        pytest.param(
            {"standing": {"lab": {WEB: Health("Failed", "ImagePullBackOff")}}},
            "canary is not well: lab Deployment.apps shop/web: Failed: ImagePullBackOff",
            id="changed by an earlier run, and still not ready",
        ),
        pytest.param({"plan": {"unread": (GONE,)}}, "", id="one of two could not be read"),
        pytest.param(
            {"plan": {"unread": (GONE, Problem(what="401", member="lab"))}},
            "canary is not well: eu: no connection (and 1 more)",
            id="none could be read",
        ),
        pytest.param(
            {"plan": {"frozen": {"eu": {WEB: "the member refuses it"}}}},
            "canary is not well: eu Deployment.apps shop/web: frozen: the member refuses it",
            id="frozen here, changed later",
        ),
        pytest.param({"plan": {"frozen": {"eu": {API: "why"}}}}, "", id="frozen here, not changed later"),
        pytest.param(
            {"plan": {"held": (Held(change=change("lab"), why="protected", flag="-f"),)}},
            "canary is not well: lab Deployment.apps shop/web: held back: protected",
            id="held back here, changed later",
        ),
    ],
)
def test_why_not_well(happened: dict[str, Any], want: str) -> None:
    plan = Plan(fleet="shop", commit="", **happened.pop("plan", {}))
    given: dict[str, Any] = {"results": [], "lost": {}, "standing": {}, **happened}
    assert why_not_well(CANARY, plan, later={WEB}, **given) == want


def test_without_waves_all_members_are_one() -> None:
    plan = Plan(fleet="shop", commit="", members=("eu", "us"), changes=(change("eu"), change("us", API)))
    assert sequence(plan) == (PlannedWave(name=ALL, members=("eu", "us")),)
    assert changed_in(plan, ["us"]) == {API}
