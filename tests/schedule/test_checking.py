"""Profiles are checked without members."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.schedule import profile_problems
from tests.schedule.builders import a_repo

HOOK = {"payloadVersions": ["v1alpha1"], "urlPrefix": "http://hook", "filterPath": "f"}


def at(point: str, *plugins: dict[str, Any]) -> dict[str, Any]:
    return {"plugins": {point: {"enabled": list(plugins)}}}


@pytest.mark.parametrize(
    ("profile", "hooks", "what"),
    [
        pytest.param(at("filter", {"name": "hook"}), ["hook"], [], id="fine"),
        pytest.param(at("filter", {"name": "hook"}), [], ["profile s: there is no plugin hook"], id="no such plugin"),
        pytest.param(
            at("score", {"name": "hook"}),
            ["hook"],
            ["profile s: webhook plugin hook is no score plugin: its scorePath is empty"],
            id="no path",
        ),
        pytest.param(
            at("filter", {"name": "ClusterReady", "type": "Webhook"}),
            [],
            ["profile s: filter plugin ClusterReady is enabled twice; disable the default one first"],
            id="enabled twice",
        ),
        pytest.param(
            at("score", {"name": "ClusterReady", "type": "Webhook"}),
            [],
            ["profile s: there is no plugin ClusterReady"],
            id="a webhook is asked for, not the plugin of that name",
        ),
        pytest.param(
            {},
            ["MaxCluster"],
            ["webhook plugin MaxCluster has the name of one of kadm's own plugins"],
            id="a taken name",
        ),
    ],
)
def test_profile_problems(profile: dict[str, Any], hooks: list[str], what: list[str]) -> None:
    repo = a_repo([], objects=[], profiles={"s": profile}, webhooks=dict.fromkeys(hooks, HOOK))
    assert [problem.what for problem in profile_problems(repo)] == what
