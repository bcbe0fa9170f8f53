"""The scheduling stage: where objects go, what is kept, what is frozen, and the reasons that go with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import pytest

from kadm.model.cluster import Taint
from kadm.model.decision import Verdict
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.policy import (
    Enabled,
    FederatedTypeConfig,
    FederatedTypeConfigSpec,
    PathDefinition,
    PolicyKey,
    PropagationPolicy,
    SourceType,
)
from kadm.model.record import Record, RecordedObject, RecordedWorkload
from kadm.schedule import Learned, schedule
from tests.schedule.builders import (
    NOW,
    SERVED,
    WEB,
    a_cluster,
    a_deployment,
    a_manifest,
    a_policy,
    a_repo,
    a_state,
    an_object,
    apply,
    at,
    changed,
    decide,
    observed,
    placement,
    unread,
)

CONFIG = ObjectKey("", "ConfigMap", "default", "o")
THREE = ("ap", "eu", "us")
EVEN = placement(ap=1, eu=1, us=1)
ALL_READ = observed(*(a_state(name) for name in THREE))


def test_members_must_pass_every_rule_at_once() -> None:
    """The placement list, the selector, the affinity and the taints each admit other members; only one passes all."""
    env, zone = {"env": "prod"}, {"zone": "a"}
    clusters = [
        a_cluster("all", labels=env | zone),
        a_cluster("no-affinity", labels=env),
        a_cluster("no-selector", labels=zone),
        a_cluster("tainted", labels=env | zone, taints=[Taint("dedicated", "NoSchedule", "db")]),
        a_cluster("unlisted", labels=env | zone),
    ]
    policy = a_policy(
        "Duplicate",
        placement=[{"cluster": name} for name in ("all", "no-affinity", "no-selector", "tainted", "elsewhere")],
        clusterSelector=env,
        clusterAffinity=[{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}],
        tolerations=[{"key": "dedicated", "value": "web"}],
    )
    states = observed(*(a_state(cluster.name) for cluster in clusters))
    decision = decide(a_repo(clusters, policies=[policy]), states)
    assert decision.placement == {"all": None}
    assert {entry.member: entry.verdicts[-1] for entry in decision.members} == {
        "all": Verdict("ClusterEvicted", True),
        "no-affinity": Verdict("ClusterAffinity", False, "no term of the cluster affinity matches it"),
        "no-selector": Verdict("ClusterAffinity", False, "it has no label env, the cluster selector wants 'prod'"),
        "tainted": Verdict("TaintToleration", False, "taint dedicated=db:NoSchedule is not tolerated"),
        "unlisted": Verdict("PlacementFilter", False, "it is not in the placement list"),
    }


@pytest.mark.parametrize(
    ("policy", "replicas", "want"),
    [
        pytest.param(a_policy("Duplicate"), 9, {"ap": None, "eu": None, "us": None}, id="duplicated"),
        pytest.param(a_policy(placement=placement(ap=1, eu=2)), 9, {"ap": 3, "eu": 6}, id="divided by weight"),
        pytest.param(a_policy(placement=placement(ap=1, eu=2)), None, {"eu": 1}, id="absent replicas are 1"),
        pytest.param(
            a_policy(placement=placement(ap={"weight": 1, "minReplicas": 4}, eu={"weight": 9, "maxReplicas": 5})),
            12,
            {"ap": 7, "eu": 5},
            id="minimum and maximum",
        ),
        pytest.param(
            a_policy(placement=placement(ap={"weight": 1, "priority": 1}, eu={"weight": 1}), maxClusters=1),
            9,
            {"ap": 9},
            id="maxClusters takes the highest priority",
        ),
        pytest.param(a_policy("Duplicate", maxClusters=0), 9, {}, id="maxClusters 0 selects none"),
        pytest.param(a_policy(placement=EVEN), 0, {"ap": 0, "eu": 0, "us": 0}, id="0 replicas are placed with 0"),
        pytest.param(a_policy(placement=placement(ap=100, eu=1)), 1, {"ap": 1}, id="a share of 0 is no placement"),
        pytest.param(
            a_policy(replicasStrategy="Binpack", placement=placement(us={"maxReplicas": 4, "priority": 2}, ap=None)),
            9,
            {"ap": 5, "us": 4},
            id="Binpack fills in order",
        ),
    ],
)
def test_first_placement(policy: PropagationPolicy, replicas: int | None, want: Mapping[str, int | None]) -> None:
    repo = a_repo(THREE, policies=[policy], objects=[a_deployment(replicas=replicas)])
    decision = decide(repo, ALL_READ)
    assert (decision.outcome, decision.placement, decision.reasons[-1]) == (
        "scheduled",
        want,
        "it was never scheduled",
    )


def test_the_way_to_a_number_is_told() -> None:
    policy = a_policy(placement=placement(ap=1, eu={"weight": 2, "maxReplicas": 4}))
    decision = decide(a_repo(THREE, policies=[policy]), ALL_READ)
    assert {entry.member: (entry.selected, entry.replicas, entry.notes) for entry in decision.members} == {
        "ap": (True, 5, ("weight 1/3: 5 of 9",)),
        "eu": (True, 4, ("weight 2/3 (max 4): 4 of 9",)),
        "us": (False, None, ()),
    }


def test_replicas_that_fit_nowhere_are_reported() -> None:
    policy = a_policy(placement=placement(ap={"weight": 1, "maxReplicas": 2}, eu={"weight": 1, "maxReplicas": 3}))
    repo = a_repo(THREE, policies=[policy])
    first = schedule(repo, ALL_READ, now=NOW)
    second = schedule(repo, apply(ALL_READ, first), now=NOW)
    for decisions, outcome in ((first, "scheduled"), (second, "kept")):
        decision = decisions.by_key[WEB]
        assert (decision.outcome, decision.placement, decision.unplaced_replicas) == (outcome, {"ap": 2, "eu": 3}, 4)
        assert [(problem.severity, problem.what) for problem in decisions.problems] == [
            ("error", "4 of 9 replicas find no place")
        ]


CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "capacity": {"states": [a_state("ap", cpu=("100", "0"))]},
    "readiness": {"states": [a_state("ap", ready="False")]},
    "replicas": {"objects": [a_deployment(replicas=12)]},
    "request": {
        "objects": [
            {
                **a_deployment(),
                "spec": {
                    "replicas": 9,
                    "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}},
                },
            }
        ]
    },
    "image": {
        "objects": [
            {**a_deployment(), "spec": {"replicas": 9, "template": {"spec": {"containers": [{"image": "nginx:2"}]}}}}
        ]
    },
    "annotation": {"objects": [a_deployment(annotations={"kubeadmiral.io/maxClusters": "3"})]},
    "policy content": {"policy": {"maxClusters": 3}},
    "label": {"clusters": [a_cluster("ap", labels={"a": "b"}), "eu", "us"]},
    "taint": {"clusters": [a_cluster("ap", taints=[Taint("a", "PreferNoSchedule")]), "eu", "us"]},
    "a member outside the list": {"clusters": [*THREE, "zz"]},
    "a member left": {"clusters": ["ap", "eu"]},
    "API": {"states": [a_state("us", served=SERVED[1:])]},
}
"""Change → what differs in the second run."""


@pytest.mark.parametrize(
    ("when", "change", "outcome", "reason"),
    [
        pytest.param("default", "nothing", "kept", "nothing that counts changed", id="a second run keeps everything"),
        pytest.param("default", "capacity", "kept", "nothing that counts changed", id="capacity does not count"),
        pytest.param("default", "readiness", "kept", "nothing that counts changed", id="readiness does not count"),
        pytest.param("default", "image", "kept", "nothing that counts changed", id="the image does not count"),
        pytest.param("default", "replicas", "scheduled", "its replicas changed: 9 → 12", id="replicas count"),
        pytest.param("default", "request", "scheduled", "the resources that its pods ask for changed", id="requests"),
        pytest.param("default", "annotation", "scheduled", "its scheduling annotations changed", id="annotations"),
        pytest.param("default", "policy content", "scheduled", "its policy or profile changed", id="policy content"),
        pytest.param(
            "default",
            "label",
            "kept",
            "labels of ap changed, but rescheduleWhen.clusterLabelsChanged is false",
            id="labels only where asked for",
        ),
        pytest.param("all", "label", "scheduled", "labels of ap changed", id="labels where asked for"),
        pytest.param("default", "taint", "scheduled", "taints of ap changed", id="taints always count"),
        pytest.param(
            "all", "a member outside the list", "kept", "nothing that counts changed", id="members that are not listed"
        ),
        pytest.param("default", "a member left", "scheduled", "us left the fleet, and held it", id="a member left"),
        pytest.param("sticky", "a member left", "scheduled", "it is sticky: it keeps its members", id="even if sticky"),
        pytest.param(
            "default",
            "API",
            "kept",
            "what us serves changed, but rescheduleWhen.clusterAPIResourcesChanged is false",
            id="API resources only where asked for",
        ),
        pytest.param("all", "API", "scheduled", "what us serves changed", id="API resources where asked for"),
        pytest.param(
            "none",
            "policy content",
            "kept",
            "changes of policy and members do not count: rescheduleWhen is not set",
            id="an empty reschedulePolicy",
        ),
        pytest.param("none", "replicas", "scheduled", "its replicas changed: 9 → 12", id="replicas even then"),
        pytest.param(
            "sticky",
            "taint",
            "kept",
            "changes of policy and members do not count: disableRescheduling is set",
            id="sticky ignores taints",
        ),
        pytest.param("sticky", "replicas", "scheduled", "it is sticky: it keeps its members", id="sticky is divided"),
    ],
)
def test_what_schedules_anew(when: str, change: str, outcome: str, reason: str) -> None:
    switches = ("policyContentChanged", "clusterJoined", "clusterLabelsChanged", "clusterAPIResourcesChanged")
    policies: dict[str, dict[str, Any]] = {
        "default": {},
        "all": {"reschedulePolicy": {"rescheduleWhen": dict.fromkeys(switches, True)}},
        "none": {"reschedulePolicy": {}},
        "sticky": {"reschedulePolicy": {"disableRescheduling": True, "rescheduleWhen": {}}},
    }
    reschedule = policies[when]
    first = a_repo(THREE, policies=[a_policy(placement=EVEN, **reschedule)])
    applied = apply(ALL_READ, schedule(first, ALL_READ, now=NOW))
    differs = CHANGES[change]
    second = a_repo(
        differs.get("clusters", THREE),
        policies=[a_policy(placement=EVEN, **reschedule, **differs.get("policy", {}))],
        objects=differs.get("objects"),
    )
    decision = decide(second, changed(applied, *differs.get("states", ())))
    assert (decision.outcome, decision.reasons[0]) == (outcome, reason)


@pytest.mark.parametrize("joined", [True, False])
def test_a_joining_member_counts_where_asked_for(joined: bool) -> None:
    policy = a_policy("Duplicate", reschedulePolicy={"rescheduleWhen": {"clusterJoined": joined}})
    seen = observed(a_state("ap"))
    applied = apply(seen, schedule(a_repo(["ap"], policies=[policy]), seen, now=NOW))
    decision = decide(a_repo(["ap", "eu"], policies=[policy]), changed(applied, a_state("eu")))
    assert (decision.outcome, list(decision.placement)) == (("scheduled", ["ap", "eu"]) if joined else ("kept", ["ap"]))
    assert decision.joined == (() if joined else ("eu",))


def test_a_plan_after_an_apply_is_empty_and_what_is_recorded_stays() -> None:
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)])
    first = schedule(repo, ALL_READ, now=NOW)
    second = schedule(repo, apply(ALL_READ, first), now=NOW)
    assert [(d.placement, d.triggers) for d in second.by_key.values()] == [
        (d.placement, d.triggers) for d in first.by_key.values()
    ]


def test_rescheduling_can_be_asked_for() -> None:
    policy = a_policy(placement=EVEN, reschedulePolicy={"replicaRescheduling": {"avoidDisruption": False}})
    repo = a_repo(THREE, policies=[policy], objects=[a_deployment(), a_deployment("other")])
    applied = apply(ALL_READ, schedule(repo, ALL_READ, now=NOW))
    decisions = schedule(repo, applied, now=NOW, reschedule=frozenset({WEB})).by_key
    assert {key.name: decision.outcome for key, decision in decisions.items()} == {"other": "kept", "web": "scheduled"}
    every = schedule(repo, applied, now=NOW, reschedule="all").by_key
    assert {decision.outcome for decision in every.values()} == {"scheduled"}


def test_a_killed_run_is_finished_not_repeated() -> None:
    """One member has the record of the new decision, the others still that of the old one."""
    old = a_repo(THREE, policies=[a_policy(placement=EVEN)])
    new = a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=[a_deployment(replicas=12)])
    before = apply(ALL_READ, schedule(old, ALL_READ, now=NOW))
    decided = schedule(new, before, now=NOW)
    half = changed(before, apply(before, decided).read["eu"])
    assert decide(new, half).placement == decided.by_key[WEB].placement
    assert decide(new, half).outcome == "kept"
    # Back to the old commit: the old decision is still there, and nothing needs to be divided anew.
    assert decide(old, half).outcome == "kept"
    assert decide(old, half).placement == decide(old, before).placement


def test_records_without_the_whole_decision_are_put_together() -> None:
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)])
    states = [
        a_state(
            name,
            record=Record(
                fleet="shop",
                member_uid=f"uid-{name}",
                workloads=(
                    RecordedWorkload(group="apps", kind="Deployment", namespace="default", name="web", replicas=n),
                ),
            ),
        )
        for name, n in (("ap", 7), ("eu", 1), ("us", 1))
    ]
    decision = decide(repo, observed(*states))
    assert (decision.placement, decision.reasons) == (
        {"ap": 7, "eu": 1, "us": 1},
        ("it has no recorded inputs",),
    )


def _applied(repo_policy: PropagationPolicy, held_by: tuple[str, ...]) -> Observation:
    """The members, of which some hold the workload, under a policy of the same name that listed only them."""
    listed = [entry for entry in EVEN if entry["cluster"] in held_by]
    if not listed:
        return ALL_READ
    before = a_policy(repo_policy.spec.scheduling_mode, placement=listed)
    return apply(ALL_READ, schedule(a_repo(THREE, policies=[before]), ALL_READ, now=NOW))


@pytest.mark.parametrize(
    ("policy", "held_by", "outcome", "want"),
    [
        pytest.param(a_policy("Duplicate"), (), "scheduled", {"ap": None, "eu": None}, id="duplicates do without it"),
        pytest.param(
            a_policy("Duplicate"),
            ("eu", "us"),
            "scheduled",
            {"ap": None, "eu": None, "us": None},
            id="what is duplicated there stays there",
        ),
        pytest.param(a_policy("Duplicate", maxClusters=2), (), "frozen", {}, id="a limited number needs all"),
        pytest.param(a_policy(placement=EVEN), (), "frozen", {}, id="a division needs all"),
        pytest.param(a_policy(placement=EVEN), ("eu",), "frozen", {"eu": 9}, id="also where it is known"),
        pytest.param(
            a_policy(placement=placement(ap=1, eu=2)), (), "scheduled", {"ap": 3, "eu": 6}, id="it is not in the list"
        ),
        pytest.param(
            a_policy(placement=EVEN, clusterSelector={"unlike": "us"}),
            (),
            "scheduled",
            {"ap": 5, "eu": 4},
            id="the selector excludes it",
        ),
        pytest.param(
            a_policy(
                placement=EVEN,
                clusterAffinity=[{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["us"]}]}],
            ),
            (),
            "scheduled",
            {"ap": 5, "eu": 4},
            id="the affinity excludes it",
        ),
    ],
)
def test_an_unread_member(
    policy: PropagationPolicy, held_by: tuple[str, ...], outcome: str, want: Mapping[str, int | None]
) -> None:
    seen = changed(_applied(policy, held_by), unread("us"))
    clusters = [a_cluster(name, labels={"unlike": "us"} if name != "us" else None) for name in THREE]
    decision = decide(a_repo(clusters, policies=[policy]), seen, reschedule="all")
    assert (decision.outcome, decision.placement) == (outcome, want)


@pytest.mark.parametrize(
    ("taint", "held_by", "outcome"),
    [
        pytest.param(Taint("gone", "NoExecute"), (), "scheduled", id="NoExecute excludes it"),
        pytest.param(Taint("cordoned", "NoSchedule"), ("eu",), "scheduled", id="NoSchedule does where it is not"),
        pytest.param(Taint("cordoned", "NoSchedule"), (), "frozen", id="nobody knows whether it is there"),
        pytest.param(Taint("cordoned", "NoSchedule"), ("eu", "us"), "frozen", id="it is there"),
    ],
)
def test_a_tainted_unread_member(taint: Taint, held_by: tuple[str, ...], outcome: str) -> None:
    policy = a_policy(placement=EVEN)
    seen = changed(_applied(policy, held_by), unread("us"))
    repo = a_repo(["ap", "eu", a_cluster("us", taints=[taint])], policies=[policy])
    assert decide(repo, seen, reschedule="all").outcome == outcome


def test_what_waits_for_an_unread_member_is_named() -> None:
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)])
    decisions = schedule(repo, changed(ALL_READ, unread("us")), now=NOW)
    assert decisions.by_key[WEB].reasons == ("it depends on us: it could not be read: connection refused",)
    assert [(problem.member, problem.what, problem.why) for problem in decisions.problems] == [
        (
            "us",
            "1 object (Deployment.apps default/web) left as it is, because it depends on this member",
            "connection refused",
        )
    ]


def test_what_is_kept_waits_for_nobody() -> None:
    policy = a_policy(placement=EVEN)
    repo = a_repo(THREE, policies=[policy])
    seen = changed(_applied(policy, THREE), unread("us"))
    decision = decide(repo, seen)
    assert (decision.outcome, decision.placement) == ("kept", decide(repo, ALL_READ).placement)


def test_a_member_that_was_not_observed_is_unread() -> None:
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)])
    assert decide(repo, observed(a_state("ap"), a_state("eu"))).reasons == (
        "it depends on us: it could not be read: it was not asked",
    )


def test_a_duplicate_reaches_a_member_that_can_be_read_again() -> None:
    repo = a_repo(THREE, policies=[a_policy("Duplicate")])
    without = changed(ALL_READ, unread("us"))
    applied = apply(without, schedule(repo, without, now=NOW))
    assert decide(repo, applied).outcome == "kept"
    decision = decide(repo, changed(applied, a_state("us")))
    assert (list(decision.placement), decision.reasons[0]) == (
        ["ap", "eu", "us"],
        "us could not be read when it was scheduled",
    )


def test_a_group_that_could_not_be_discovered_is_unknown() -> None:
    state = a_state("us", served=[], undiscovered={"apps/v1": "503 Service Unavailable"})
    decision = decide(a_repo(THREE, policies=[a_policy(placement=EVEN)]), changed(ALL_READ, state))
    assert (decision.outcome, decision.reasons) == (
        "frozen",
        ("it depends on us: discovery of apps/v1 failed: 503 Service Unavailable",),
    )


@pytest.mark.parametrize(
    ("repo", "what"),
    [
        pytest.param(
            a_repo(THREE), "its policy, ClusterPropagationPolicy p, does not exist", id="the policy is missing"
        ),
        pytest.param(
            a_repo(THREE, policies=[a_policy(schedulingProfile="s")]),
            "its scheduling profile, s, does not exist",
            id="the profile is missing",
        ),
        pytest.param(
            a_repo(
                THREE,
                policies=[a_policy(schedulingProfile="s")],
                profiles={"s": {"plugins": {"filter": {"enabled": [{"name": "Nothing"}]}}}},
            ),
            "profile s: there is no plugin Nothing",
            id="the profile cannot run",
        ),
        pytest.param(
            a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=[a_deployment(replicas="3")]),
            "spec.replicas is '3', not an integer of at least 0",
            id="replicas are no number",
        ),
        pytest.param(
            a_repo(THREE, policies=[a_policy()]),
            "it is decided by free capacity, and that of ap, eu, us is not known",
            id="capacity is needed, and was not read",
        ),
    ],
)
def test_what_is_wrong_freezes_where_it_is(repo: Any, what: str) -> None:
    policy = a_policy(placement=placement(ap=1, eu=2))
    applied = apply(ALL_READ, schedule(a_repo(THREE, policies=[policy]), ALL_READ, now=NOW))
    decisions = schedule(repo, applied, now=NOW)
    decision = decisions.by_key[WEB]
    assert (decision.outcome, decision.placement, [problem.what for problem in decisions.problems]) == (
        "frozen",
        {"ap": 3, "eu": 6},
        [what],
    )


def test_frozen_stays_also_where_only_the_list_of_objects_knows_it() -> None:
    record = Record(
        fleet="shop",
        member_uid="uid-ap",
        objects=(RecordedObject(version="v1", kind="ConfigMap", namespace="default", name="o", uid="u"),),
    )
    repo = a_repo(THREE, objects=[an_object("v1", "ConfigMap")])
    assert decide(repo, changed(ALL_READ, a_state("ap", record=record)), CONFIG).placement == {"ap": None}


def test_dividing_what_has_no_replicas_is_an_error() -> None:
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=[an_object("v1", "ConfigMap")])
    decisions = schedule(repo, ALL_READ, now=NOW)
    assert decisions.by_key[CONFIG].placement == {}
    assert [problem.what for problem in decisions.problems] == [
        "schedulingMode Divide needs a replica count, and ConfigMap has none"
    ]


def a_type(kind: str, path: str, *, version: str = "v1") -> FederatedTypeConfig:
    """A FederatedTypeConfig of a kind in group example.com."""
    source = SourceType(
        group="example.com", version=version, kind=kind, plural_name=f"{kind.lower()}s", scope="Namespaced"
    )
    spec = FederatedTypeConfigSpec(source_type=source, path_definition=PathDefinition(replicas_spec=path))
    return FederatedTypeConfig(name=f"{kind}-{version}", spec=spec, location=at("policies/t.yaml"))


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param({"spec": {"size": {"pods": 9}}}, {"ap": 3, "eu": 6}, id="divided at the path of its version"),
        pytest.param(
            {"spec": {"size": {"pods": "9"}}}, "spec.size.pods is '9', not an integer of at least 0", id="text"
        ),
        pytest.param({"spec": {}}, "spec.size.pods is missing", id="nothing is known of a default"),
    ],
)
def test_any_kind_can_be_divided_whose_replicas_are_known(fields: Any, want: Any) -> None:
    served = [("example.com", "v1", "Car"), ("example.com", "v2", "Car")]
    repo = a_repo(
        THREE,
        policies=[a_policy(placement=placement(ap=1, eu=2))],
        objects=[an_object("example.com/v1", "Car", **fields)],
        types=[a_type("Car", "spec.size.pods"), a_type("Car", "spec.pods", version="v2")],
    )
    decisions = schedule(repo, observed(*(a_state(name, served=served) for name in THREE)), now=NOW)
    (decision,) = decisions.by_key.values()
    assert (decision.placement or decisions.problems[0].what) == want


@pytest.mark.parametrize(
    ("enabled", "want"), [(True, {"ap": 1, "eu": 8}), (False, {"ap": 3, "eu": 6})], ids=["on", "off"]
)
def test_what_was_learned_counts_where_the_type_migrates(enabled: bool, want: Any) -> None:
    source = SourceType(group="apps", version="v1", kind="Deployment", plural_name="deployments", scope="Namespaced")
    spec = FederatedTypeConfigSpec(source_type=source, auto_migration=Enabled(enabled=enabled))
    repo = a_repo(
        THREE,
        policies=[a_policy(placement=placement(ap=1, eu=2), autoMigration={})],
        types=[FederatedTypeConfig(name="deployments.apps", spec=spec, location=at("policies/t.yaml"))],
    )
    decisions = schedule(repo, ALL_READ, now=NOW, learned={WEB: Learned(estimated={"ap": 1})})
    assert {key: dict(decision.placement) for key, decision in decisions.by_key.items()} == {WEB: want}


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_kinds_of_apps_are_divided(kind: str) -> None:
    served = [("apps", "v1", kind)]
    policy = a_policy(placement=placement(ap=1, eu=2))
    repo = a_repo(THREE, policies=[policy], objects=[a_deployment(kind=kind)])
    decisions = schedule(repo, observed(*(a_state(name, served=served) for name in THREE)), now=NOW)
    assert [decision.placement for decision in decisions.by_key.values()] == [{"ap": 3, "eu": 6}]


@pytest.mark.parametrize("via", ["entry", "default"])
def test_a_policy_for_many_objects_divides_those_that_can_be(via: Literal["entry", "default"]) -> None:
    objects = [a_manifest(obj, via=via) for obj in (a_deployment(), an_object("v1", "ConfigMap"))]
    repo = a_repo(THREE, policies=[a_policy(placement=placement(ap=1, eu=2))], objects=objects)
    decisions = schedule(repo, ALL_READ, now=NOW)
    assert ({key: dict(decision.placement) for key, decision in decisions.by_key.items()}, decisions.problems) == (
        {CONFIG: {"ap": None, "eu": None}, WEB: {"ap": 3, "eu": 6}},
        (),
    )


def test_where_nothing_fits_it_stays_unless_permitted() -> None:
    applied = _applied(a_policy(placement=EVEN), THREE)
    nobody = a_repo(THREE, policies=[a_policy(placement=EVEN, clusterSelector={"a": "b"})])
    decisions = schedule(nobody, applied, now=NOW)
    frozen = decisions.by_key[WEB]
    assert (frozen.outcome, sum(number or 0 for number in frozen.placement.values())) == ("frozen", 9)
    assert [(problem.what, problem.hint) for problem in decisions.problems] == [
        ("no member takes it", "--allow-empty removes it everywhere")
    ]
    assert "ap, eu, us: it has no label a, the cluster selector wants 'b'" in frozen.reasons[0]
    permitted = decide(nobody, applied, allow_empty=True)
    assert (permitted.outcome, permitted.placement) == ("scheduled", {})


def test_where_nothing_fits_and_nothing_is_it_is_unplaced() -> None:
    repo = a_repo(THREE, policies=[a_policy("Duplicate", clusterSelector={"a": "b"})])
    assert decide(repo, ALL_READ).outcome == "unplaced"


def test_scaled_to_0_it_stays_where_it_is() -> None:
    applied = _applied(a_policy(placement=EVEN), ("ap", "eu"))
    policy = a_policy(placement=EVEN)
    repo = a_repo(THREE, policies=[policy], objects=[a_deployment(replicas=0)])
    zero = schedule(repo, applied, now=NOW)
    assert zero.by_key[WEB].placement == {"ap": 0, "eu": 0}
    again = a_repo(THREE, policies=[policy], objects=[a_deployment(replicas=3)])
    assert sum(number or 0 for number in decide(again, apply(applied, zero)).placement.values()) == 3


@pytest.mark.parametrize("alias", ["policy", "annotation"])
def test_sticky_keeps_its_members_and_divides_a_new_total(alias: str) -> None:
    sticky: dict[str, Any] = {"reschedulePolicy": {"disableRescheduling": True}} if alias == "policy" else {}
    annotations = {"kubeadmiral.io/sticky-cluster": "true"} if alias == "annotation" else {}
    first = a_repo(
        THREE,
        policies=[a_policy(placement=placement(ap=1, eu=1), **sticky)],
        objects=[a_deployment(replicas=4, annotations=annotations)],
    )
    applied = apply(ALL_READ, schedule(first, ALL_READ, now=NOW))
    second = a_repo(
        THREE,
        policies=[a_policy(placement=EVEN, **sticky)],
        objects=[a_deployment(replicas=8, annotations=annotations)],
    )
    assert decide(second, applied).placement == {"ap": 4, "eu": 4}


def test_annotations_override_the_policy_unless_forbidden() -> None:
    annotations = {"kubeadmiral.io/placements": json.dumps([{"cluster": "us"}])}
    objects = [a_deployment(annotations=annotations)]
    policy = a_policy("Duplicate", placement=[{"cluster": "ap"}])
    assert decide(a_repo(THREE, policies=[policy], objects=objects), ALL_READ).placement == {"us": None}
    forbidden = schedule(a_repo(THREE, policies=[policy], objects=objects, annotations_count=False), ALL_READ, now=NOW)
    assert forbidden.by_key[WEB].placement == {"ap": None}
    assert [(problem.severity, problem.what) for problem in forbidden.problems] == [
        ("warning", "annotation kubeadmiral.io/placements does not count")
    ]


def test_an_annotation_that_cannot_be_read_is_reported() -> None:
    objects = [a_deployment(annotations={"kubeadmiral.io/maxClusters": "-1"})]
    decisions = schedule(a_repo(THREE, policies=[a_policy("Duplicate")], objects=objects), ALL_READ, now=NOW)
    assert len(decisions.by_key[WEB].placement) == 3
    assert [problem.why for problem in decisions.problems] == ["it must be an integer, and not negative"]


def test_no_scheduling_keeps_the_old_record() -> None:
    applied = _applied(a_policy(placement=EVEN), ("ap", "eu"))
    paused = [a_deployment(replicas=20, annotations={"kubeadmiral.io/no-scheduling": "true"})]
    decision = decide(a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=paused), applied)
    assert (decision.outcome, decision.placement, decision.triggers["replicas"]) == (
        "kept",
        {"ap": 5, "eu": 4},
        "9",
    )


def test_an_eviction_ends_by_itself() -> None:
    def objects(until: str) -> list[Any]:
        moves = {"workloadMigrations": [{"cluster": "us", "validUntil": until}]}
        return [a_deployment(annotations={"kubeadmiral.io/migration-configuration": json.dumps(moves)})]

    repo = a_repo(THREE, policies=[a_policy("Duplicate")], objects=objects("2026-01-02T00:00:00Z"))
    first = schedule(repo, ALL_READ, now=NOW)
    assert list(first.by_key[WEB].placement) == ["ap", "eu"]
    later = schedule(repo, apply(ALL_READ, first), now=NOW.replace(day=3)).by_key[WEB]
    assert (list(later.placement), later.reasons[0]) == (
        ["ap", "eu", "us"],
        "the members that it migrated away from changed",
    )


def test_a_member_that_ceased_to_serve_the_version_keeps_it_and_does_not_grow() -> None:
    applied = _applied(a_policy(placement=EVEN), THREE)
    seen = changed(applied, a_state("us", served=SERVED[1:]))
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=[a_deployment(replicas=30)])
    before, after = decide(repo, applied).placement, decide(repo, seen).placement
    assert (
        before["us"]
        != after["us"]
        == decide(a_repo(THREE, policies=[a_policy(placement=EVEN)]), applied).placement["us"]
    )
    assert sum(number or 0 for number in after.values()) == 30


def test_a_version_that_is_not_served_is_named() -> None:
    seen = observed(a_state("ap", served=[("apps", "v1beta1", "Deployment")]), a_state("eu", served=[]))
    decision = decide(a_repo(["ap", "eu"], policies=[a_policy("Duplicate")]), seen)
    assert [entry.verdicts[-1].reason for entry in decision.members] == [
        "it serves Deployment as apps/v1beta1, not apps/v1",
        "it does not serve apps/v1 Deployment",
    ]


def test_a_type_counts_as_served_where_its_definition_goes() -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "cars.example.com", "namespace": ""},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Car"},
            "versions": [{"name": "v1", "served": True}, {"name": "v2", "served": False}],
        },
    }
    crd_policy = a_policy(
        "Duplicate", key=PolicyKey("ClusterPropagationPolicy", "", "crds"), placement=[{"cluster": "ap"}]
    )
    repo = a_repo(
        THREE,
        policies=[a_policy("Duplicate"), crd_policy],
        objects=[
            a_manifest(definition, crd_policy.key),
            an_object("example.com/v1", "Car", "one"),
            an_object("example.com/v2", "Car", "two"),
        ],
    )
    served = (*SERVED, ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"))
    decisions = schedule(repo, observed(*(a_state(name, served=served) for name in THREE)), now=NOW).by_key
    assert {key.name: list(decision.placement) for key, decision in decisions.items()} == {
        "cars.example.com": ["ap"],
        "one": ["ap"],
        "two": [],
    }


@pytest.mark.parametrize(
    ("obj", "outcome"),
    [
        pytest.param(a_deployment(), "unplaced", id="a workload follows nobody"),
        pytest.param(an_object("v1", "ConfigMap", "web"), "following", id="a ConfigMap may follow"),
    ],
)
def test_without_a_policy(obj: Any, outcome: str) -> None:
    manifest = a_manifest(obj, None)
    assert decide(a_repo(THREE, objects=[manifest]), ALL_READ, manifest.key).outcome == outcome


def test_a_job_is_divided_once() -> None:
    job = ObjectKey("batch", "Job", "default", "o")

    def repo(parallelism: int, completions: int) -> Any:
        spec = {"parallelism": parallelism, "completions": completions, "template": {"spec": {"containers": []}}}
        objects = [an_object("batch/v1", "Job", spec=spec)]
        return a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=objects)

    first = schedule(repo(6, 2), ALL_READ, now=NOW)
    assert sum(number or 0 for number in first.by_key[job].placement.values()) == 2
    second = decide(repo(9, 9), apply(ALL_READ, first), job)
    assert (second.outcome, second.placement) == ("kept", first.by_key[job].placement)


def test_an_indexed_job_cannot_be_divided() -> None:
    spec = {"completionMode": "Indexed", "completions": 3, "template": {"spec": {"containers": []}}}
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=[an_object("batch/v1", "Job", spec=spec)])
    assert "Indexed" in schedule(repo, ALL_READ, now=NOW).problems[0].what


def capacity_needed(repo: Any, observation: Observation) -> tuple[str, ...]:
    return schedule(repo, observation, now=NOW).capacity_needed


def test_capacity_is_asked_for_only_where_it_decides() -> None:
    static, dynamic = a_policy(placement=EVEN), a_policy()
    limited = a_policy("Duplicate", maxClusters=1)
    assert capacity_needed(a_repo(THREE, policies=[static]), ALL_READ) == ()
    assert capacity_needed(a_repo(THREE, policies=[dynamic]), ALL_READ) == THREE
    assert capacity_needed(a_repo(THREE, policies=[limited]), ALL_READ) == THREE
    full = observed(*(a_state(name, cpu=("10", free)) for name, free in (("ap", "10"), ("eu", "5"), ("us", "0"))))
    applied = apply(full, schedule(a_repo(THREE, policies=[dynamic]), full, now=NOW))
    without = changed(applied, *(a_state(name) for name in THREE))
    assert capacity_needed(a_repo(THREE, policies=[dynamic]), without) == ()
    assert decide(a_repo(THREE, policies=[dynamic]), full).placement == {"ap": 6, "eu": 3}
    assert decide(a_repo(THREE, policies=[limited]), full).placement == {"ap": None}


def test_order_of_input_does_not_matter() -> None:
    objects = [a_deployment(name) for name in ("a", "b", "c")]
    repo = a_repo(THREE, policies=[a_policy(placement=EVEN)], objects=objects)
    turned = Observation(members=dict(reversed(list(ALL_READ.members.items()))))
    again = a_repo(
        reversed(THREE), policies=[a_policy(placement=list(reversed(EVEN)))], objects=list(reversed(objects))
    )
    assert [(key, decision.placement) for key, decision in schedule(again, turned, now=NOW).by_key.items()] == [
        (key, decision.placement) for key, decision in schedule(repo, ALL_READ, now=NOW).by_key.items()
    ]


def test_units_with_the_same_rules_share_their_verdicts() -> None:
    """The cost of filtering grows with distinct rules, not with workloads."""
    objects = [an_object("v1", "ConfigMap", f"c{index}") for index in range(3)]
    repo = a_repo(THREE, policies=[a_policy("Duplicate", placement=EVEN[:2])], objects=objects)
    decisions = list(schedule(repo, ALL_READ, now=NOW).by_key.values())
    assert all(decision.members is decisions[0].members for decision in decisions)
