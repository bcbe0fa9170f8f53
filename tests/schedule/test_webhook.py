"""Webhook plugins in the stage: what they are sent, what their answers do, and what a fault of theirs does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kadm.model.cluster import Taint
from kadm.model.decision import Decisions
from kadm.model.observation import MemberState, Observation
from kadm.model.repository import Repo
from kadm.model.webhook import WebhookCall, WebhookReply
from kadm.schedule import plugins_of, schedule
from tests.schedule.builders import (
    NOW,
    WEB,
    a_cluster,
    a_deployment,
    a_policy,
    a_repo,
    a_state,
    apply,
    changed,
    observed,
    placement,
    unread,
)

HOOK = {
    "payloadVersions": ["v1alpha1"],
    "urlPrefix": "http://hook",
    "filterPath": "f",
    "scorePath": "s",
    "selectPath": "x",
}
NAMES = ("ap", "eu", "us")
SEEN = observed(*(a_state(name, cpu=("10", "5")) for name in NAMES))


@dataclass
class FakeTransport:
    """Answers with what ``says`` gives for a path and a member (empty for a selection); notes what was asked."""

    says: Callable[[str, str], Any]
    batches: list[Sequence[WebhookCall]] = field(default_factory=list)

    def call_many(self, calls: Sequence[WebhookCall]) -> Sequence[WebhookReply]:
        self.batches.append(calls)
        return [self._reply(call) for call in calls]

    def fault(self, hook: str) -> str:
        return ""

    def _reply(self, call: WebhookCall) -> WebhookReply:
        request = json.loads(call.body)
        answer = self.says(call.path, request.get("cluster", {}).get("metadata", {}).get("name", ""))
        if isinstance(answer, WebhookReply):
            return answer
        return WebhookReply(status=200, body=answer if isinstance(answer, bytes) else json.dumps(answer).encode())


def repo_with(point: str, *, policy: Any = None, objects: Any = None, clusters: Any = NAMES, **hook: Any) -> Repo:
    """A repository whose profile enables the webhook at one extension point."""
    return a_repo(
        clusters,
        policies=[policy or a_policy("Duplicate", schedulingProfile="s")],
        objects=objects,
        profiles={"s": {"plugins": {point: {"enabled": [{"name": "hook", "type": "Webhook"}]}}}},
        webhooks={"hook": {**HOOK, **hook}},
    )


def decided(repo: Repo, transport: FakeTransport, seen: Observation = SEEN) -> Decisions:
    return schedule(repo, seen, now=NOW, plugins=plugins_of(repo, seen, transport))


def test_a_filter() -> None:
    transport = FakeTransport(lambda path, member: {"selected": member != "eu", "unknown": 1})
    decision = decided(repo_with("filter"), transport).by_key[WEB]
    assert (list(decision.placement), [entry.verdicts[-1].reason for entry in decision.members]) == (
        ["ap", "us"],
        ["", "webhook hook does not select it", ""],
    )
    assert [[call.path for call in batch] for batch in transport.batches] == [["f", "f", "f"]]


def test_a_filter_is_asked_about_what_passed_the_filters_before() -> None:
    clusters = ["ap", a_cluster("eu", taints=[Taint("k", "NoExecute")]), "us"]
    transport = FakeTransport(lambda path, member: {"selected": True})
    decision = decided(repo_with("filter", clusters=clusters), transport).by_key[WEB]
    assert list(decision.placement) == ["ap", "us"]
    assert [len(batch) for batch in transport.batches] == [2]


def test_a_score() -> None:
    transport = FakeTransport(lambda path, member: {"score": {"ap": -5, "eu": 250, "us": 500}[member]})
    policy = a_policy("Duplicate", schedulingProfile="s", maxClusters=1)
    decision = decided(repo_with("score", policy=policy), transport).by_key[WEB]
    assert list(decision.placement) == ["us"]
    assert {entry.member: entry.scores["hook"] for entry in decision.members} == {"ap": -1, "eu": 50, "us": 100}


def test_a_selection_sees_what_is_left_and_gives_the_order() -> None:
    transport = FakeTransport(lambda path, member: {"selectedClusterNames": ["us", "ap", "us"]})
    policy = a_policy(
        schedulingProfile="s", replicasStrategy="Binpack", placement=placement(ap=None, us={"maxReplicas": 4})
    )
    decision = decided(repo_with("select", policy=policy), transport).by_key[WEB]
    assert decision.placement == {"ap": 5, "us": 4}
    (batch,) = transport.batches
    (call,) = batch
    sent = json.loads(call.body)
    assert [(entry["cluster"]["metadata"]["name"], entry["score"]) for entry in sent["clusterScores"]] == [
        ("ap", 0),
        ("us", 0),
    ]


FAULTS = {
    "no answer": (
        WebhookReply(failure="no answer from http://hook/f within 5 s"),
        "no answer from http://hook/f within 5 s",
    ),
    "500": (WebhookReply(status=500, body=b"out of order"), "status 500: out of order"),
    "201": (WebhookReply(status=201, body=b'{"selected": true}'), 'status 201: {"selected": true}'),
    "empty": (b"", "the answer is no JSON: (an empty body)"),
    "text": (b"yes", "the answer is no JSON: yes"),
    "cut off": (b'{"selected": tr', 'the answer is no JSON: {"selected": tr'),
    "a list": ([], "the answer is wrong: Expected `object`, got `array`"),
    "deep": (b"[" * 100_000, f"the answer is no JSON: {'[' * 200}…"),
    "no UTF-8": (b'{"error": "\xff"}', 'the answer is no JSON: {"error": "\ufffd"}'),
    "it says so": ({"selected": True, "error": "no data"}, "it says: no data"),
    "a string for a bool": (
        {"selected": "true"},
        "the answer is wrong: Expected `bool | null`, got `str` - at `$.selected`",
    ),
    "a number for a bool": (
        {"selected": 1},
        "the answer is wrong: Expected `bool | null`, got `int` - at `$.selected`",
    ),
    "NaN": (b'{"selected": NaN}', 'the answer is no JSON: {"selected": NaN}'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_filter_that_fails_leaves_the_workload_as_it_is(fault: str) -> None:
    answer, why = FAULTS[fault]
    before = apply(SEEN, schedule(a_repo(NAMES, policies=[a_policy("Duplicate")]), SEEN, now=NOW))
    transport = FakeTransport(lambda path, member: {"selected": True} if member == "ap" else answer)
    decisions = decided(repo_with("filter"), transport, before)
    assert (decisions.by_key[WEB].outcome, list(decisions.by_key[WEB].placement)) == ("frozen", ["ap", "eu", "us"])
    assert [(problem.severity, problem.what, problem.why) for problem in decisions.problems] == [
        ("error", "webhook hook gave no filter for eu, us", why)
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_filter_whose_failures_are_ignored_leaves_members_out(fault: str) -> None:
    answer, why = FAULTS[fault]
    transport = FakeTransport(lambda path, member: {"selected": True} if member == "ap" else answer)
    decisions = decided(repo_with("filter", failurePolicy="Ignore"), transport)
    assert (decisions.by_key[WEB].outcome, list(decisions.by_key[WEB].placement), decisions.problems) == (
        "scheduled",
        ["ap"],
        (),
    )
    assert (
        decisions.by_key[WEB].members[1].verdicts[-1].reason
        == f"webhook hook failed, which its failurePolicy ignores: {why}"
    )


@pytest.mark.parametrize(
    ("point", "answer", "why"),
    [
        pytest.param("score", {"score": 1.0}, "the answer is wrong: Expected `int | null`, got", id="no integer"),
        pytest.param("score", {"score": 1e3}, "the answer is wrong: Expected `int | null`, got", id="an exponent"),
        pytest.param("score", {"score": True}, "the answer is wrong: Expected `int | null`, got `bool`", id="a bool"),
        pytest.param(
            "score", {"score": 2**63}, "the answer is wrong: Expected `int` <= 9223372036854775807", id="too large"
        ),
        pytest.param("score", WebhookReply(failure="gone"), "gone", id="no score"),
        pytest.param(
            "select", {"selectedClusterNames": ["eu", "mars"]}, "it selects 'mars', which was not offered", id="strange"
        ),
        pytest.param(
            "select",
            {"selectedClusterNames": "eu"},
            "the answer is wrong: Expected `array | null`, got `str`",
            id="text",
        ),
        pytest.param("select", WebhookReply(status=404, body=b"?"), "status 404: ?", id="no selection"),
    ],
)
@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
def test_faults_of_scores_and_selections_are_never_ignored(
    point: str, answer: Any, why: str, failure_policy: str
) -> None:
    policy = a_policy("Duplicate", schedulingProfile="s", maxClusters=2)
    transport = FakeTransport(lambda path, member: answer)
    decisions = decided(repo_with(point, policy=policy, failurePolicy=failure_policy), transport)
    assert decisions.by_key[WEB].outcome == "frozen"
    (problem,) = decisions.problems
    assert problem.why.startswith(why)


@pytest.mark.parametrize(
    ("answer", "placed"),
    [
        pytest.param(b' {"selected": true} and more', True, id="the first value counts"),
        pytest.param({"selected": True, "error": None}, True, id="null is no error"),
        pytest.param({"selected": None}, False, id="null is false"),
        pytest.param({}, False, id="absent is false"),
    ],
)
def test_what_counts_as_an_answer(answer: Any, placed: bool) -> None:
    transport = FakeTransport(lambda path, member: answer)
    assert bool(decided(repo_with("filter"), transport).by_key[WEB].placement) == placed


def test_nothing_is_asked_where_nothing_changed() -> None:
    repo = repo_with("filter")
    transport = FakeTransport(lambda path, member: {"selected": True})
    before = apply(SEEN, decided(repo, transport))
    transport.batches.clear()
    assert decided(repo, transport, before).by_key[WEB].outcome == "kept"
    assert transport.batches == []


@pytest.mark.parametrize("change", [{"urlPrefix": "http://other"}, {"filterPath": "g"}, {"failurePolicy": "Ignore"}])
def test_an_edit_of_the_configuration_places_anew(change: Any) -> None:
    transport = FakeTransport(lambda path, member: {"selected": True})
    before = apply(SEEN, decided(repo_with("filter"), transport))
    decision = decided(repo_with("filter", **change), transport, before).by_key[WEB]
    assert (decision.outcome, decision.reasons) == ("scheduled", ("its policy or profile changed",))


def test_an_unread_member_is_unknown_and_not_asked_about() -> None:
    transport = FakeTransport(lambda path, member: {"selected": True})
    decisions = decided(repo_with("filter"), transport, changed(SEEN, unread("us")))
    assert list(decisions.by_key[WEB].placement) == ["ap", "eu"]
    assert [len(batch) for batch in transport.batches] == [2]


def test_what_members_have_free_is_read_first() -> None:
    transport = FakeTransport(lambda path, member: {"selected": True})
    without = observed(*(a_state(name) for name in NAMES))
    assert (decided(repo_with("filter"), transport, without).capacity_needed, transport.batches) == (NAMES, [])


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        pytest.param(
            {"filterPath": ""}, "webhook plugin hook is no filter plugin: its filterPath is empty", id="no path"
        ),
        pytest.param(
            {"payloadVersions": ["v2"]},
            "webhook plugin hook cannot be used: payloadVersions must hold v1alpha1, it holds v2",
            id="no known version",
        ),
        pytest.param(
            {"tlsConfig": {"insecure": True, "caData": "LS0tLS1CRUdJTiA="}},
            "webhook plugin hook cannot be used: tlsConfig sets insecure, so that caData would not be looked at",
            id="insecure and caData",
        ),
    ],
)
def test_a_configuration_that_cannot_be_used(hook: Any, what: str) -> None:
    decisions = decided(repo_with("filter", **hook), FakeTransport(lambda path, member: {}))
    assert [problem.what for problem in decisions.problems] == [f"profile s: {what}"]


def test_offline_none_is_called() -> None:
    repo = repo_with("filter")
    decisions = schedule(repo, SEEN, now=NOW, plugins=plugins_of(repo, SEEN))
    assert [problem.what for problem in decisions.problems] == [
        "profile s: webhook plugin hook cannot be used: webhooks are not called offline"
    ]


def test_the_payload() -> None:
    policy = a_policy(
        schedulingProfile="s",
        placement=placement(us={"weight": 2, "priority": 3}, eu={"minReplicas": 1, "maxReplicas": 8}, ap=None),
        clusterSelector={"env": "prod"},
        clusterAffinity=[{"matchExpressions": [{"key": "env", "operator": "Exists", "values": []}]}],
        tolerations=[{"key": "k", "operator": "Exists"}],
        maxClusters=3,
    )
    web = a_deployment(replicas=9, annotations={"team": "a", "kubeadmiral.io/dry-run": "x"})
    web["metadata"]["labels"] = {"app": "web", "kubeadmiral.io/cluster-propagation-policy-name": "p"}
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1500m", "memory": "1Gi"}}
    clusters = [a_cluster(name, labels={"env": "prod"}, taints=[Taint("k", "NoSchedule", "v")]) for name in NAMES]
    state = a_state("eu", cpu=("10", "-500m"), served=[("apps", "v1", "Deployment")])
    seen = changed(SEEN, state)
    assert isinstance(state, MemberState)
    repo = repo_with("filter", policy=policy, objects=[web], clusters=clusters)
    before = apply(seen, schedule(a_repo(NAMES, policies=[a_policy(placement=placement(us=1, eu=1))]), seen, now=NOW))
    transport = FakeTransport(lambda path, member: {"selected": True})
    decided(repo, transport, before)
    (batch,) = transport.batches
    assert json.loads(batch[1].body) == {
        "schedulingUnit": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "resource": "deployments",
            "namespace": "default",
            "name": "web",
            "labels": {"app": "web"},
            "annotations": {"team": "a"},
            "schedulingMode": "Divide",
            "desiredReplicas": 9,
            "resourceRequest": {"cpu": "1500m", "ephemeral-storage": "0", "memory": "1073741824"},
            "currentClusters": ["eu", "us"],
            "currentReplicaDistribution": {"eu": 4, "us": 5},
            "clusterSelector": {"env": "prod"},
            "clusterAffinity": [{"matchExpressions": [{"key": "env", "operator": "Exists", "values": []}]}],
            "tolerations": [{"key": "k", "operator": "Exists"}],
            "maxClusters": 3,
            "placements": [
                {"cluster": "ap", "preferences": {}},
                {"cluster": "eu", "preferences": {"minReplicas": 1, "maxReplicas": 8}},
                {"cluster": "us", "preferences": {"weight": 2, "priority": 3}},
            ],
        },
        "cluster": {
            "apiVersion": "core.kubeadmiral.io/v1alpha1",
            "kind": "FederatedCluster",
            "metadata": {"name": "eu", "labels": {"env": "prod"}},
            "spec": {"apiEndpoint": "", "taints": [{"key": "k", "effect": "NoSchedule", "value": "v"}]},
            "status": {
                "conditions": [{"type": "Joined", "status": "True"}, {"type": "Ready", "status": "True"}],
                "resources": {
                    "schedulableNodes": 1,
                    "allocatable": {"cpu": "10"},
                    "available": {"cpu": "-500m"},
                },
                "apiResourceTypes": [
                    {
                        "group": "apps",
                        "version": "v1",
                        "kind": "Deployment",
                        "pluralName": "deployments",
                        "scope": "Namespaced",
                    }
                ],
            },
        },
    }


def test_the_payload_of_what_is_duplicated_and_nowhere_yet() -> None:
    transport = FakeTransport(lambda path, member: {"selected": True})
    decided(repo_with("filter"), transport)
    unit = json.loads(transport.batches[0][0].body)["schedulingUnit"]
    assert unit == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "resource": "deployments",
        "namespace": "default",
        "name": "web",
        "schedulingMode": "Duplicate",
        "resourceRequest": {"cpu": "0", "ephemeral-storage": "0", "memory": "0"},
        "currentClusters": [],
    }
