"""Policies: KubeAdmiral's defaults and older names, and what is said about mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.model.policy import (
    AutoMigration,
    AutoMigrationWhen,
    Placement,
    PropagationPolicySpec,
    ReplicaRescheduling,
    ReschedulePolicy,
    RescheduleWhen,
)
from tests.repo.fleets import FLEET, a_member, a_policy, loaded, problems_of, warnings_of

COOL_DOWN = "{{name: p, annotations: {{kadm.io/migration-cool-down: {}}}}}"
FAIL_OVER = "{{name: p, annotations: {{kadm.io/fail-over-after: {}}}}}"
DEFAULT_WHEN = RescheduleWhen(policy_content_changed=True)


def spec_of(root: Path, spec: str) -> PropagationPolicySpec:
    repo = loaded(
        root, {"policies/q.yaml": a_policy(f"{{schedulingMode: Divide{', ' if spec else ''}{spec}}}", name="q")}
    )
    (policy,) = (policy for key, policy in repo.propagation_policies.items() if key.name == "q")
    return policy.spec


@pytest.mark.parametrize(
    ("written", "want"),
    [
        pytest.param("", ReschedulePolicy(reschedule_when=DEFAULT_WHEN), id="absent"),
        pytest.param("reschedulePolicy: null", ReschedulePolicy(reschedule_when=DEFAULT_WHEN), id="null"),
        pytest.param("reschedulePolicy: {}", ReschedulePolicy(reschedule_when=None), id="empty: nothing reschedules"),
        pytest.param(
            "reschedulePolicy: {disableRescheduling: false}",
            ReschedulePolicy(reschedule_when=None),
            id="a switch",
        ),
        pytest.param(
            "reschedulePolicy: {rescheduleWhen: {}}", ReschedulePolicy(reschedule_when=DEFAULT_WHEN), id="empty when"
        ),
        pytest.param(
            "reschedulePolicy: {rescheduleWhen: {clusterJoined: true}}",
            ReschedulePolicy(reschedule_when=RescheduleWhen(cluster_joined=True, policy_content_changed=True)),
            id="one trigger more",
        ),
        pytest.param(
            "reschedulePolicy: {replicaRescheduling: {}}", ReschedulePolicy(reschedule_when=None), id="empty replicas"
        ),
        pytest.param(
            "stickyCluster: true",
            ReschedulePolicy(disable_rescheduling=True, reschedule_when=DEFAULT_WHEN),
            id="stickyCluster keeps the triggers",
        ),
        pytest.param(
            "replicaRescheduling: {avoidDisruption: false}",
            ReschedulePolicy(
                reschedule_when=DEFAULT_WHEN, replica_rescheduling=ReplicaRescheduling(avoid_disruption=False)
            ),
            id="replicaRescheduling in its older place",
        ),
    ],
)
def test_reschedule_policy(tmp_path: Path, written: str, want: ReschedulePolicy) -> None:
    assert spec_of(tmp_path, written).reschedule_policy == want


def test_auto_migration_has_a_default_threshold(tmp_path: Path) -> None:
    want = AutoMigration(when=AutoMigrationWhen(pod_unschedulable_for="1m"))
    assert spec_of(tmp_path, "autoMigration: {}").auto_migration == want


def test_cluster_name_of_earlier_versions(tmp_path: Path) -> None:
    assert spec_of(tmp_path, "placement: [{clusterName: eu}, {cluster: us}]").placement == (
        Placement(cluster="eu"),
        Placement(cluster="us"),
    )


HEAD = "policies/q.yaml:4:"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param(
            "stickyCluster: true, reschedulePolicy: {disableRescheduling: false}",
            "`spec.stickyCluster` and `spec.reschedulePolicy.disableRescheduling` disagree; the one that is true holds"
            " (remove stickyCluster, the name of earlier versions)",
            id="old and new disagree",
        ),
        pytest.param("placement: [{cluster: ue}]", "no member is called ue (known here: eu, us)", id="unknown member"),
        pytest.param(
            "maxClusters: 0",
            "`spec.maxClusters` is 0: the objects go nowhere, and leave the members where they are"
            " (leave it out for no limit)",
            id="no cluster at all",
        ),
        pytest.param(
            "reschedulePolicy: {replicaRescheduling: {avoidDisruption: false}}",
            "`spec.reschedulePolicy` has no rescheduleWhen: changes of the policy or of clusters place nothing anew"
            " (add `rescheduleWhen: {}`, and changes of the policy do)",
            id="no trigger",
        ),
        pytest.param(
            "clusterAffinity: [{}]",
            "a term with neither matchExpressions nor matchFields matches no member",
            id="empty term",
        ),
    ],
)
def test_warnings(tmp_path: Path, spec: str, said: str) -> None:
    files = {"policies/q.yaml": a_policy(f"{{schedulingMode: Divide, {spec}}}", name="q")}
    assert [warning.split(": ", 1)[1] for warning in warnings_of(tmp_path, files)] == [said]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        pytest.param(
            a_policy("{}"), "`spec.schedulingMode` is missing; it must be one of `Divide`, `Duplicate`", id="no mode"
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, maxClusters: -1}"),
            "`spec.maxClusters` must be a whole number of at least 0, and is -1",
            id="negative number",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, placement: [{cluster: eu}, {cluster: eu}]}"),
            "member eu is listed twice (it stands in spec.placement[0] already: list each member once)",
            id="a member twice",
        ),
        pytest.param(
            a_policy(
                "{schedulingMode: Divide, placement: [{cluster: eu, preferences: {minReplicas: 2, maxReplicas: 1}}]}"
            ),
            "member eu shall get at least 2 replicas and at most 1 (minReplicas may not be above maxReplicas)",
            id="bounds that exclude each other",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, stickyCluser: true}"),
            "`spec.stickyCluser` is no field that kadm knows (known here: schedulingMode, schedulingProfile,"
            " replicasStrategy, clusterSelector, clusterAffinity, tolerations, maxClusters, placement,"
            " disableFollowerScheduling, autoMigration, reschedulePolicy)",
            id="unknown field",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, placement: [{cluster: eu, weight: 1}]}"),
            "`spec.placement[0].weight` is no field that kadm knows (known here: cluster, preferences)",
            id="unknown field of a placement",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, autoMigration: {when: {}}}"),
            "`spec.autoMigration.when` is empty (write podUnschedulableFor, or leave `when` out: one minute)",
            id="empty when",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, autoMigration: {when: {podUnschedulableFor: 1 minute}}}"),
            '"1 minute" is no duration (write e.g. 90s, 1m30s, 2h)',
            id="duration",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, autoMigration: {}}").replace("{name: p}", COOL_DOWN.format("a while")),
            '"a while" is no duration (write e.g. 90s, 1m30s, 2h)',
            id="cool-down",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, autoMigration: {}}").replace("{name: p}", COOL_DOWN.format("0s")),
            "kadm.io/migration-cool-down is 0s, and must be above 0"
            " (write e.g. 10m: without one replicas would travel to and fro)",
            id="no cool-down at all",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide}").replace("{name: p}", FAIL_OVER.format("0s")),
            "kadm.io/fail-over-after is 0s, and must be above 0"
            " (write how long a member must be silent, e.g. 10m; without the annotation nothing leaves it)",
            id="fail-over at once",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide}").replace("{name: p}", FAIL_OVER.format("-5m")),
            "kadm.io/fail-over-after is -5m, and must be above 0"
            " (write how long a member must be silent, e.g. 10m; without the annotation nothing leaves it)",
            id="fail-over before",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, autoMigration: {when: {podUnschedulableFor: -5s}}}"),
            "podUnschedulableFor is -5s, and may not be below 0 (write how long a pod may find no node, e.g. 1m)",
            id="moved before it waits",
        ),
        pytest.param(
            a_policy(f"{{schedulingMode: Divide, autoMigration: {{when: {{podUnschedulableFor: {'9' * 400}s}}}}}}"),
            f'"{"9" * 60}" is no duration (write e.g. 90s, 1m30s, 2h)',
            id="longer than any time",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, schedulingProfile: fast}"),
            "there is no SchedulingProfile fast",
            id="missing profile",
        ),
        pytest.param(
            a_policy(
                "{schedulingMode: Divide, clusterAffinity:"
                " [{matchExpressions: [{key: region, operator: Gt, values: [eu]}]}]}"
            ),
            "no selector of members: operator Gt on 'region' needs exactly one integer",
            id="operator and values",
        ),
        pytest.param(
            a_policy(
                "{schedulingMode: Divide, clusterAffinity:"
                " [{matchFields: [{key: metadata.name, operator: Exists, values: []}]}]}"
            ),
            "no selector of members: operator Exists is not for fields (on 'metadata.name')",
            id="operator of a field",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide, clusterSelector: {a b: c}}"),
            "no selector of labels: 'a b' is no label key",
            id="selector",
        ),
        pytest.param(
            a_policy("{schedulingMode: Divide}", name="x" * 64),
            "the name of a ClusterPropagationPolicy has 63 characters at most: labels name it",
            id="long name",
        ),
        pytest.param(
            a_policy("{overrideRules: [{targetClusters: {clusterSelector: {a: -}}}]}", kind="ClusterOverridePolicy"),
            "no selector of labels: '-' is no label value (of 'a')",
            id="selector of an override rule",
        ),
        pytest.param(
            a_policy(
                "{overrideRules: [{overriders: {jsonpatch: [{path: /spec, op: add}]}}]}", kind="ClusterOverridePolicy"
            ),
            "`spec.overrideRules[0].overriders.jsonpatch[0].op` is no field that kadm knows"
            " (known here: path, operator, value)",
            id="unknown field of an overrider",
        ),
        pytest.param(
            a_policy("{payloadVersions: [], urlPrefix: x}", kind="SchedulerPluginWebhookConfiguration"),
            "`spec.payloadVersions` must be a list of at least 1 items, and is a list of 0",
            id="webhook without versions",
        ),
        pytest.param(
            a_policy("{plugins: {filter: {enabled: [{name: hook, type: Webhook}]}}}", kind="SchedulingProfile"),
            "there is no SchedulerPluginWebhookConfiguration hook",
            id="missing webhook",
        ),
    ],
)
def test_errors(tmp_path: Path, policy: str, said: str) -> None:
    problems = problems_of(tmp_path, {"policies/q.yaml": policy})
    assert [problem.split(": ", 1)[1] for problem in problems] == [said]


def test_everything_is_sorted_and_kept(tmp_path: Path) -> None:
    policies = [
        a_policy("{overrideRules: [{overriders: {}}, {}]}", kind="OverridePolicy", name="b", namespace="z"),
        a_policy("{overrideRules: []}", kind="OverridePolicy", name="b"),
        a_policy("{overrideRules: []}", kind="ClusterOverridePolicy", name="a"),
        a_policy("{plugins: {}}", kind="SchedulingProfile", name="sp2"),
        a_policy("{plugins: {}}", kind="SchedulingProfile", name="sp1"),
        a_policy(
            "{payloadVersions: [v1alpha1], urlPrefix: 'http://x'}", kind="SchedulerPluginWebhookConfiguration", name="w"
        ),
        a_policy(
            "{sourceType: {version: v1, kind: X, pluralName: xs, scope: Cluster, group: g}}",
            kind="FederatedTypeConfig",
            name="xs.g",
        ),
    ]
    repo = loaded(
        tmp_path, {"kadm.yaml": FLEET + "spec: {namespace: ours}\n", "policies/q.yaml": "---\n".join(policies)}
    )
    assert {
        "overrides": [
            (str(key), [str(place) for place in policy.rule_locations])
            for key, policy in repo.override_policies.items()
        ],
        "profiles": list(repo.profiles),
        "webhooks": list(repo.webhooks),
        "types": list(repo.type_configs),
    } == {
        "overrides": [
            ("ClusterOverridePolicy a", []),
            ("OverridePolicy ours/b", []),
            ("OverridePolicy z/b", ["policies/q.yaml:4:24", "policies/q.yaml:4:42"]),
        ],
        "profiles": ["sp1", "sp2"],
        "webhooks": ["w"],
        "types": ["xs.g"],
    }


def test_a_member_that_cannot_be_read_is_not_called_missing(tmp_path: Path) -> None:
    files = {
        "clusters/eu.yaml": a_member("eu", "{x: 1}"),
        "policies/q.yaml": a_policy("{schedulingMode: Divide, placement: [{cluster: eu}]}"),
    }
    assert [problem.split(":")[0] for problem in problems_of(tmp_path, files)] == ["clusters/eu.yaml"]


@pytest.mark.parametrize(
    ("annotation", "threshold", "want"),
    [
        pytest.param("", "3m", 1800.0, id="ten thresholds"),
        pytest.param("", "0s", 10.0, id="ten seconds at least"),
        pytest.param("30s", "3m", 30.0, id="as the policy says"),
    ],
)
def test_the_cool_down_of_migration(tmp_path: Path, annotation: str, threshold: str, want: float) -> None:
    spec = f"{{schedulingMode: Divide, autoMigration: {{when: {{podUnschedulableFor: {threshold}}}}}}}"
    text = a_policy(spec, name="q")
    if annotation:
        text = text.replace("{name: q}", COOL_DOWN.format(annotation).replace("name: p", "name: q"))
    policies = loaded(tmp_path, {"policies/q.yaml": text}).propagation_policies
    assert [policy.migration_cool_down_s for key, policy in policies.items() if key.name == "q"] == [want]


def test_a_cool_down_without_migration_is_a_mistake(tmp_path: Path) -> None:
    text = a_policy("{schedulingMode: Divide}", name="q").replace(
        "{name: q}", COOL_DOWN.format("30s").replace("name: p", "name: q")
    )
    (said,) = warnings_of(tmp_path, {"policies/q.yaml": text})
    assert "kadm.io/migration-cool-down does nothing: the policy has no spec.autoMigration (add it)" in said


TYPE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedTypeConfig
metadata: {name: deployments.apps}
spec:
  sourceType: {group: apps, version: v1, kind: Deployment, pluralName: deployments, scope: Namespaced}
"""


@pytest.mark.parametrize(
    ("switch", "want"),
    [
        pytest.param("", True, id="nothing is said"),
        pytest.param("  autoMigration: {enabled: true}\n", True, id="on"),
        pytest.param("  autoMigration: {enabled: false}\n", False, id="off"),
        pytest.param("  autoMigration: {}\n", False, id="the switch itself is off by default"),
    ],
)
def test_a_type_can_be_kept_from_migrating(tmp_path: Path, switch: str, want: bool) -> None:
    repo = loaded(tmp_path, {"policies/t.yaml": TYPE + switch})
    assert [repo.migrates(manifest) for manifest in repo.manifests] == [want]
