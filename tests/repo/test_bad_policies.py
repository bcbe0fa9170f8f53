"""Every field of KubeAdmiral's kinds, written wrongly: what is said names file, line, field, value and what is allowed.

The rows are those of the specification's tables (scheduling 1.2 to 1.7, propagation 1.2 to 1.8). The line that is wrong
ends in ``# here``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.errors import Problem, RepoError
from kadm.repo import load
from tests.repo.fleets import a_fleet

MODE = "schedulingMode"
WITHOUT_MODE = f"maxClusters: 1  # here\n# no {MODE}"

Row = tuple[str, str, tuple[str, ...]]
"""What is wrong; the spec, whose wrong line is marked; and the texts that the problem must hold."""

PROPAGATION: list[Row] = [
    ("schedulingProfile is text", "schedulingProfile: [a]  # here", ("schedulingProfile", "text")),
    ("schedulingMode is required", WITHOUT_MODE, ("schedulingMode", "missing", "Divide", "Duplicate")),
    (
        "schedulingMode is one of two",
        "schedulingMode: divide  # here",
        ("schedulingMode", "divide", "Divide", "Duplicate"),
    ),
    ("replicasStrategy is one of two", "replicasStrategy: binpack  # here", ("replicasStrategy", "binpack", "Spread")),
    ("clusterSelector holds texts", "clusterSelector:\n  a: 1  # here", ("clusterSelector", "text", "1")),
    ("clusterSelector holds labels", "clusterSelector:\n  a/b/c: x  # here", ("a/b/c", "label key")),
    ("clusterSelector is a map", "clusterSelector: [a]  # here", ("clusterSelector",)),
    ("clusterAffinity is a list", "clusterAffinity:\n  matchExpressions: []  # here", ("clusterAffinity", "list")),
    (
        "matchExpressions: key is required",
        "clusterAffinity:\n- matchExpressions:\n  - operator: In  # here\n    values: [a]",
        ("key", "missing"),
    ),
    (
        "matchExpressions: operator is required",
        "clusterAffinity:\n- matchExpressions:\n  - key: a  # here\n    values: [a]",
        ("operator", "missing", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    ),
    (
        "matchExpressions: values is required",
        "clusterAffinity:\n- matchExpressions:\n  - key: a  # here\n    operator: Exists",
        ("values", "missing"),
    ),
    (
        "matchExpressions: operator is one of six",
        "clusterAffinity:\n- matchExpressions:\n  - key: a\n    operator: in  # here\n    values: [a]",
        ("operator", "in", "In", "DoesNotExist"),
    ),
    (
        "In needs a value",
        "clusterAffinity:\n- matchExpressions:\n  - {key: a, operator: In, values: []}  # here",
        ("In", "'a'", "at least one value"),
    ),
    (
        "Exists takes no value",
        "clusterAffinity:\n- matchExpressions:\n  - {key: a, operator: Exists, values: [b]}  # here",
        ("Exists", "no values"),
    ),
    (
        "Gt needs one integer",
        "clusterAffinity:\n- matchExpressions:\n  - {key: a, operator: Gt, values: ['1', '2']}  # here",
        ("Gt", "one integer"),
    ),
    (
        "a value is a label's",
        "clusterAffinity:\n- matchExpressions:\n  - {key: a, operator: In, values: ['b c']}  # here",
        ("b c", "label value"),
    ),
    (
        "matchFields: In and NotIn alone",
        "clusterAffinity:\n- matchFields:\n  - {key: metadata.name, operator: Gt, values: ['1']}  # here",
        ("Gt", "fields"),
    ),
    (
        "matchFields: exactly one value",
        "clusterAffinity:\n- matchFields:\n  - {key: metadata.name, operator: In, values: [a, b]}  # here",
        ("metadata.name", "exactly one value"),
    ),
    ("tolerations is a list", "tolerations:\n  key: a  # here", ("tolerations", "list")),
    ("toleration: operator", "tolerations:\n- operator: exists  # here", ("operator", "exists", "Equal", "Exists")),
    ("toleration: effect", "tolerations:\n- effect: noSchedule  # here", ("effect", "noSchedule", "NoExecute")),
    ("toleration: unknown field", "tolerations:\n- keys: a  # here", ("keys", "no field", "key")),
    ("toleration: seconds", "tolerations:\n- tolerationSeconds: 1s  # here", ("tolerationSeconds", "1s")),
    ("maxClusters is a number", "maxClusters: two  # here", ("maxClusters", "two", "whole number")),
    ("maxClusters is whole", "maxClusters: 1.5  # here", ("maxClusters", "1.5", "whole number")),
    ("maxClusters is at least 0", "maxClusters: -1  # here", ("maxClusters", "-1", "at least 0")),
    ("placement is a list", "placement:\n  cluster: eu  # here", ("placement", "list")),
    ("placement: cluster is required", "placement:\n- preferences: {}  # here", ("cluster", "missing")),
    (
        "placement: no member twice",
        "placement:\n- cluster: eu\n- cluster: us\n- cluster: eu  # here",
        ("eu", "twice", "placement[0]", "once"),
    ),
    *[
        (
            f"placement: {field} is at least 0",
            f"placement:\n- cluster: eu\n  preferences:\n    {field}: -1  # here",
            (f"placement[0].preferences.{field}", "-1", "at least 0"),
        )
        for field in ("minReplicas", "maxReplicas", "weight", "priority")
    ],
    (
        "placement: min is not above max",
        "placement:\n- cluster: eu\n  preferences:\n    maxReplicas: 2\n    minReplicas: 3  # here",
        ("eu", "3", "2", "minReplicas may not be above maxReplicas"),
    ),
    (
        "placement: unknown field",
        "placement:\n- cluster: eu\n  weight: 1  # here",
        ("weight", "no field", "preferences"),
    ),
    (
        "disableFollowerScheduling is a boolean",
        "disableFollowerScheduling: 'yes'  # here",
        ("disableFollowerScheduling", "yes"),
    ),
    (
        "autoMigration: when is not empty",
        "autoMigration:\n  when: {}  # here",
        ("when", "empty", "podUnschedulableFor"),
    ),
    (
        "autoMigration: a duration",
        "autoMigration:\n  when:\n    podUnschedulableFor: 1 minute  # here",
        ("1 minute", "duration", "90s"),
    ),
    (
        "autoMigration: a switch",
        "autoMigration:\n  keepUnschedulableReplicas: 1  # here",
        ("keepUnschedulableReplicas", "1"),
    ),
    (
        "reschedulePolicy: a switch",
        "reschedulePolicy:\n  disableRescheduling: never  # here",
        ("disableRescheduling", "never"),
    ),
    *[
        (
            f"rescheduleWhen: {field}",
            f"reschedulePolicy:\n  rescheduleWhen:\n    {field}: 3  # here",
            (f"reschedulePolicy.rescheduleWhen.{field}", "3"),
        )
        for field in ("policyContentChanged", "clusterJoined", "clusterLabelsChanged", "clusterAPIResourcesChanged")
    ],
    (
        "rescheduleWhen: unknown trigger",
        "reschedulePolicy:\n  rescheduleWhen:\n    clusterLeft: true  # here",
        ("clusterLeft", "no field", "clusterJoined"),
    ),
    (
        "replicaRescheduling: a switch",
        "reschedulePolicy:\n  replicaRescheduling:\n    avoidDisruption: maybe  # here",
        ("avoidDisruption", "maybe"),
    ),
    ("an unknown field", "maxCluster: 1  # here", ("maxCluster", "no field", "maxClusters")),
]

PROFILE: list[Row] = [
    ("an extension point", "plugins:\n  replicas: {}  # here", ("replicas", "no field", "filter", "score", "select")),
    ("name is required", "plugins:\n  filter:\n    enabled:\n    - type: Webhook  # here", ("name", "missing")),
    ("type", "plugins:\n  filter:\n    enabled:\n    - name: a\n      type: webhook  # here", ("type", "Webhook")),
    (
        "weight is at least 0",
        "plugins:\n  score:\n    enabled:\n    - name: TaintToleration\n      weight: -1  # here",
        ("weight", "-1", "at least 0"),
    ),
    (
        "wait is at least 0",
        "plugins:\n  score:\n    enabled:\n    - name: TaintToleration\n      wait: -1  # here",
        ("wait", "-1", "at least 0"),
    ),
    ("pluginConfig: name is required", "pluginConfig:\n- args: {}  # here", ("name", "missing")),
]

WEBHOOK: list[Row] = [
    ("payloadVersions is required", "urlPrefix: https://x  # here", ("payloadVersions", "missing")),
    (
        "payloadVersions is not empty",
        "urlPrefix: https://x\npayloadVersions: []  # here",
        ("payloadVersions", "at least 1"),
    ),
    ("urlPrefix is required", "payloadVersions: [v1alpha1]  # here", ("urlPrefix", "missing")),
    (
        "httpTimeout",
        "urlPrefix: https://x\npayloadVersions: [v1alpha1]\nhttpTimeout: fast  # here",
        ("fast", "duration", "90s"),
    ),
    (
        "tlsConfig: unknown field",
        "urlPrefix: https://x\npayloadVersions: [v1alpha1]\ntlsConfig:\n  ca: x  # here",
        ("ca", "no field", "caData"),
    ),
    (
        "failurePolicy",
        "urlPrefix: https://x\npayloadVersions: [v1alpha1]\nfailurePolicy: fail  # here",
        ("failurePolicy", "fail", "Fail", "Ignore"),
    ),
]

MEMBER: list[Row] = [
    ("a taint's key is required", "taints:\n- effect: NoSchedule  # here", ("key", "missing")),
    ("a taint's effect is required", "taints:\n- key: a  # here", ("effect", "missing", "NoSchedule")),
    ("a taint's effect", "taints:\n- key: a\n  effect: noexecute  # here", ("effect", "noexecute", "NoExecute")),
    ("an unknown field", "kubeConfig: {}  # here", ("kubeConfig", "no field", "kubeconfig")),
]

TYPE: list[Row] = [
    ("version", "sourceType:\n  kind: X  # here\n  pluralName: xs\n  scope: Cluster", ("version", "missing")),
    ("kind", "sourceType:\n  version: v1  # here\n  pluralName: xs\n  scope: Cluster", ("kind", "missing")),
    ("pluralName", "sourceType:\n  version: v1  # here\n  kind: X\n  scope: Cluster", ("pluralName", "missing")),
    (
        "scope is required",
        "sourceType:\n  version: v1  # here\n  kind: X\n  pluralName: xs",
        ("scope", "missing", "Cluster"),
    ),
    (
        "scope",
        "sourceType:\n  version: v1\n  kind: X\n  pluralName: xs\n  scope: Global  # here",
        ("scope", "Global", "Namespaced", "Cluster"),
    ),
    (
        "pathDefinition",
        "sourceType: {version: v1, kind: X, pluralName: xs, scope: Cluster}\npathDefinition:\n  replicas: a  # here",
        ("replicas", "no field", "replicasSpec"),
    ),
]


def rule(text: str) -> str:
    """A spec with one override rule."""
    return "overrideRules:\n- " + text.replace("\n", "\n  ")


def overrider(text: str) -> str:
    return rule("overriders:\n  " + text.replace("\n", "\n  "))


OVERRIDE: list[Row] = [
    (
        "targetClusters: unknown field",
        rule("targetClusters:\n  labels: {}  # here"),
        ("labels", "no field", "clusters"),
    ),
    ("targetClusters: clusters", rule("targetClusters:\n  clusters: eu  # here"), ("clusters", "list")),
    (
        "targetClusters: selector",
        rule("targetClusters:\n  clusterSelector:\n    a: 'b c'  # here"),
        ("b c", "label value"),
    ),
    (
        "targetClusters: affinity",
        rule(
            "targetClusters:\n  clusterAffinity:\n  - matchExpressions:\n"
            "    - {key: a, operator: In, values: []}  # here"
        ),
        ("In", "at least one value"),
    ),
    ("an overrider", rule("overriders:\n  images: []  # here"), ("images", "no field", "image")),
    (
        "image: component is required",
        overrider("image:\n- operations:\n  - operator: delete  # here"),
        ("imageComponent", "missing", "Registry", "Digest"),
    ),
    (
        "image: component",
        overrider("image:\n- operations:\n  - imageComponent: tag  # here"),
        ("imageComponent", "tag", "Registry", "Repository", "Tag", "Digest"),
    ),
    (
        "image: operator",
        overrider("image:\n- operations:\n  - imageComponent: Tag\n    operator: replace  # here"),
        ("operator", "replace", "addIfAbsent", "overwrite", "delete"),
    ),
    *[
        (
            f"{kind}: containerName is required",
            overrider(f"{kind}:\n- operator: overwrite  # here"),
            ("containerName", "missing"),
        )
        for kind in ("command", "args", "envs")
    ],
    *[
        (
            f"{kind}: operator",
            overrider(f"{kind}:\n- containerName: c\n  operator: addIfAbsent  # here"),
            ("operator", "addIfAbsent", "append", "overwrite", "delete"),
        )
        for kind in ("command", "args")
    ],
    *[
        (
            f"{kind}: operator",
            overrider(f"{kind}:\n- operator: append  # here" + ("\n  containerName: c" if kind == "envs" else "")),
            ("operator", "append", "addIfAbsent", "overwrite", "delete"),
        )
        for kind in ("envs", "annotations", "labels")
    ],
    (
        "labels: values are texts",
        overrider("labels:\n- value:\n    a: 1  # here"),
        ("value", "1", "text"),
    ),
    ("jsonpatch: path is required", overrider("jsonpatch:\n- operator: remove  # here"), ("path", "missing")),
    (
        "jsonpatch: move has no from",
        overrider("jsonpatch:\n- operator: move  # here\n  path: /a"),
        ("operator", "move", "add", "remove", "replace", "test"),
    ),
]

KINDS = {
    "ClusterPropagationPolicy": PROPAGATION,
    "SchedulingProfile": PROFILE,
    "SchedulerPluginWebhookConfiguration": WEBHOOK,
    "FederatedTypeConfig": TYPE,
    "ClusterOverridePolicy": OVERRIDE,
    "FederatedCluster": MEMBER,
}


def problems(root: Path, kind: str, spec: str) -> tuple[str, list[Problem]]:
    """The file, and what is said about it."""
    head = f"apiVersion: core.kubeadmiral.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: eu\nspec:\n"
    required = "  schedulingMode: Divide\n" if kind == "ClusterPropagationPolicy" and MODE not in spec else ""
    text = head + required + "".join(f"  {line}\n" for line in spec.splitlines())
    path = "clusters/eu.yaml" if kind == "FederatedCluster" else "policies/q.yaml"
    with pytest.raises(RepoError) as raised:
        load(a_fleet(root, {path: text}), environ={})
    return text, [problem for problem in raised.value.problems if problem.severity == "error"]


@pytest.mark.parametrize(
    ("kind", "row"),
    [pytest.param(kind, row, id=f"{kind}: {row[0]}") for kind, rows in KINDS.items() for row in rows],
)
def test_bad_input(tmp_path: Path, kind: str, row: Row) -> None:
    _, spec, texts = row
    written, found = problems(tmp_path, kind, spec)
    (problem,) = found
    assert problem.where is not None
    line = next(number for number, text in enumerate(written.splitlines(), start=1) if text.endswith("# here"))
    assert (problem.where.path, problem.where.line) == (
        "clusters/eu.yaml" if kind == "FederatedCluster" else "policies/q.yaml",
        line,
    )
    said = str(problem)
    assert [text for text in texts if text not in said] == [], said
