"""Profiles, and what objects ask for, are checked without members."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.schedule import profile_problems, schedule, unit_problems
from tests.schedule.builders import (
    NOW,
    a_deployment,
    a_manifest,
    a_policy,
    a_repo,
    a_state,
    an_object,
    observed,
)

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


def asking(amount: str) -> JsonObject:
    deployment = a_deployment()
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": amount}}
    return deployment


@pytest.mark.parametrize(
    ("obj", "what"),
    [
        pytest.param(a_deployment(), [], id="fine"),
        pytest.param(
            an_object("v1", "Secret"),
            ["schedulingMode Divide needs a replica count, and Secret has none"],
            id="nothing to divide",
        ),
        pytest.param(a_deployment() | {"spec": None}, ["it has no pod spec"], id="no pods"),
        pytest.param(asking("much"), ["'much' is no quantity"], id="no quantity"),
        pytest.param(
            a_deployment(annotations={"kubeadmiral.io/sticky-cluster": "maybe"}),
            ["annotation kubeadmiral.io/sticky-cluster cannot be read, so the policy decides"],
            id="an annotation that cannot be read",
        ),
    ],
)
def test_unit_problems_are_those_of_a_plan(obj: JsonObject, what: list[str]) -> None:
    repo = a_repo(["eu"], policies=[a_policy()], objects=[obj])
    found = unit_problems(repo)
    assert [problem.what for problem in found] == what
    assert found == schedule(repo, observed(a_state("eu", cpu=("8", "8"))), now=NOW).problems
    assert all(problem.object and problem.where for problem in found)


def test_what_a_directory_binds_goes_whole() -> None:
    secret = a_manifest(an_object("v1", "Secret"), via="entry")
    assert unit_problems(a_repo(["eu"], policies=[a_policy()], objects=[secret])) == ()
