"""Named situations of a small fleet: what its files say, what was applied before, and how its members are now."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from kadm.cli.console import Console
from kadm.cli.names import resolve
from kadm.cli.show_explanation import show_explanation
from kadm.explaining import explain
from kadm.model.explanation import Explanation
from kadm.model.repository import Repo
from kadm.render import render
from kadm.repo import load
from kadm.schedule import schedule
from kadm.schedule.unit_reader import Learned
from tests.schedule.builders import NOW, a_state, apply, changed, observed, unread

MEMBERS = ("ap", "eu", "us")

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata:
  name: shop
spec:
  manifests:
  - manifests
  - {path: extra, clusterPropagationPolicy: everywhere}
  defaults:
    clusterPropagationPolicy: fallback
"""

EVERYWHERE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate}
"""

BY_WEIGHT = """\
  schedulingMode: Divide
  placement:
  - {cluster: ap, preferences: {weight: 1}}
  - {cluster: eu, preferences: {weight: 2}}
  - {cluster: us, preferences: {weight: 3}}
"""
OTHER_WAY_ROUND = """\
  schedulingMode: Divide
  placement:
  - {cluster: ap, preferences: {weight: 3}}
  - {cluster: eu, preferences: {weight: 2}}
  - {cluster: us, preferences: {weight: 1}}
"""
SERVED = (
    ("", "v1", "ConfigMap"),
    ("", "v1", "Secret"),
    ("apps", "v1", "Deployment"),
    ("apps", "v1", "StatefulSet"),
)


def a_policy(spec: str, *, kind: str = "ClusterPropagationPolicy", name: str = "p") -> str:
    return f"apiVersion: core.kubeadmiral.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n{spec}"


def a_member(name: str, *, taints: str = "[]", labels: str = "") -> str:
    return (
        "apiVersion: core.kubeadmiral.io/v1alpha1\nkind: FederatedCluster\n"
        f"metadata: {{name: {name}, labels: {{region: {name}{labels}}}}}\nspec: {{taints: {taints}}}\n"
    )


def a_workload(
    replicas: int = 12, *, name: str = "web", kind: str = "Deployment", annotations: str = "", spec: str = ""
) -> str:
    notes = f"  annotations:\n{annotations}" if annotations else ""
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata:\n  name: {name}\n"
        f"  labels:\n    kubeadmiral.io/cluster-propagation-policy-name: p\n{notes}"
        f"spec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n"
        f"  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n"
        f"      containers:\n      - {{name: web, image: nginx:1.29}}\n{spec}"
    )


@dataclass(frozen=True, kw_only=True)
class Situation:
    """``policy`` is the spec of ClusterPropagationPolicy p, which binds Deployment web.

    ``before`` are files as they were when all of it was applied; None: nothing was. ``states`` are the members that are
    not in order now. ``name`` is what is explained.
    """

    policy: str = BY_WEIGHT
    files: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, str] | None = None
    states: Callable[[], Mapping[str, object]] = dict
    name: str = "deploy/web"
    learned: Learned | None = None
    without_policy: bool = False

    def explanations(self, root: Path) -> tuple[Explanation, ...]:
        observation = observed(*(a_state(name, served=SERVED, cpu=("64", "32")) for name in MEMBERS))
        if self.before is not None:
            earlier = self._repo(root, {**self.files, **self.before})
            observation = apply(observation, schedule(earlier, observation, now=NOW))
        repo = self._repo(root, self.files)
        observation = changed(observation, *self.states().values())  # type: ignore[arg-type]
        keys = resolve(self.name, [manifest.key for manifest in repo.manifests])
        learned = {key: self.learned for key in keys if self.learned is not None}
        decisions = schedule(repo, observation, now=NOW, learned=learned)
        return explain(repo, decisions, render(repo, decisions, observation), keys)

    def text(self, root: Path) -> str:
        """What a person is shown."""
        console = Console(color="never", out=io.StringIO())
        for explanation in self.explanations(root):
            show_explanation(console, explanation)
        assert isinstance(console.out, io.StringIO)
        return console.out.getvalue()

    def _repo(self, root: Path, files: Mapping[str, str]) -> Repo:
        written = {
            "kadm.yaml": FLEET,
            "policies/everywhere.yaml": EVERYWHERE,
            "policies/fallback.yaml": a_policy("  schedulingMode: Divide\n", name="fallback"),
            "policies/p.yaml": a_policy(self.policy),
            "manifests/web.yaml": a_workload(),
            "extra/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: b}\n",
            **{f"clusters/{name}.yaml": a_member(name) for name in MEMBERS},
            **files,
        }
        for path, text in written.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        repo = load(root, environ={})
        if not self.without_policy:
            return repo
        policies = {key: policy for key, policy in repo.propagation_policies.items() if key.name != "p"}
        return msgspec.structs.replace(repo, propagation_policies=policies)


OVERRIDES = """\
  overrideRules:
  - targetClusters: {clusters: [ap]}
    overriders:
      labels: [{operator: upsert, value: {tier: canary}}]
  - overriders:
      image: [{operations: [{imageComponent: Registry, operator: addIfAbsent, value: mirror.example}]}]
"""

SECRET = """\
apiVersion: v1
kind: Secret
metadata:
  name: key
  labels: {kubeadmiral.io/cluster-propagation-policy-name: p, kubeadmiral.io/cluster-override-policy-name: o}
data: {password: aHVudGVyMg==}
"""


def _two_leaders() -> Mapping[str, str]:
    spec = "      volumes:\n      - {name: v, configMap: {name: shared}}\n"
    shared = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: b}\n"
    no_default = FLEET.replace("  defaults:\n    clusterPropagationPolicy: fallback\n", "")
    other = a_workload(name="api", spec=spec).replace("policy-name: p", "policy-name: everywhere")
    return {
        "kadm.yaml": no_default,
        "manifests/web.yaml": a_workload(spec=spec),
        "manifests/api.yaml": other,
        "manifests/shared.yaml": shared,
    }


SITUATIONS: Mapping[str, Situation] = {
    "first placement by weight": Situation(),
    "scaled up with avoidDisruption": Situation(
        before={"policies/p.yaml": a_policy(OTHER_WAY_ROUND), "manifests/web.yaml": a_workload(6)}
    ),
    "scaled down with avoidDisruption": Situation(
        before={"policies/p.yaml": a_policy(OTHER_WAY_ROUND), "manifests/web.yaml": a_workload(18)}
    ),
    "weight edited but nothing moves": Situation(
        policy=BY_WEIGHT.replace("weight: 1", "weight: 4"), before={"policies/p.yaml": a_policy(BY_WEIGHT)}
    ),
    "weight edited and replicas move": Situation(
        policy=BY_WEIGHT.replace("weight: 1", "weight: 4")
        + "  reschedulePolicy: {rescheduleWhen: {}, replicaRescheduling: {avoidDisruption: false}}\n",
        before={"policies/p.yaml": a_policy(BY_WEIGHT)},
    ),
    "weight edited but edits do not count": Situation(
        policy=BY_WEIGHT.replace("weight: 1", "weight: 4")
        + "  reschedulePolicy: {rescheduleWhen: {policyContentChanged: false}}\n",
        before={
            "policies/p.yaml": a_policy(
                BY_WEIGHT + "  reschedulePolicy: {rescheduleWhen: {policyContentChanged: false}}\n"
            )
        },
    ),
    "nothing changed": Situation(before={}),
    "kept where maxClusters chose before": Situation(
        policy="  schedulingMode: Duplicate\n  maxClusters: 2\n  placement:\n  - {cluster: ap}\n"
        "  - {cluster: eu, preferences: {priority: 1}}\n  - {cluster: us}\n",
        before={},
    ),
    "members filtered": Situation(
        policy=(
            "  schedulingMode: Duplicate\n  clusterSelector: {env: prod}\n"
            "  clusterAffinity:\n  - matchExpressions: [{key: zone, operator: In, values: [a]}]\n"
        ),
        files={
            "clusters/ap.yaml": a_member(
                "ap", labels=", env: prod, zone: a", taints="[{key: gpu, effect: NoSchedule}]"
            ),
            "clusters/eu.yaml": a_member("eu", labels=", zone: a"),
            "clusters/us.yaml": a_member("us", labels=", env: prod, zone: b"),
            "clusters/za.yaml": a_member("za", labels=", env: prod, zone: a"),
            "clusters/zb.yaml": a_member("zb", labels=", env: prod, zone: a"),
            "clusters/zc.yaml": a_member("zc", labels=", env: prod, zone: a"),
        },
        states=lambda: {
            "za": a_state("za", ready="False", served=SERVED),
            "zb": a_state("zb", served=SERVED[:2]),
            "zc": a_state("zc", served=SERVED),
        },
    ),
    "maxClusters by score": Situation(
        policy="  schedulingMode: Duplicate\n  maxClusters: 2\n",
        states=lambda: {
            "ap": a_state("ap", served=SERVED, cpu=("64", "4")),
            "eu": a_state("eu", served=SERVED, cpu=("64", "60")),
            "us": a_state("us", served=SERVED, cpu=("64", "32")),
        },
    ),
    "maxClusters by priority": Situation(
        policy=(
            "  schedulingMode: Divide\n  maxClusters: 2\n  placement:\n"
            "  - {cluster: ap, preferences: {weight: 1, priority: 1}}\n"
            "  - {cluster: eu, preferences: {weight: 1, priority: 3}}\n"
            "  - {cluster: us, preferences: {weight: 1, priority: 2}}\n"
        )
    ),
    "sticky": Situation(
        policy=BY_WEIGHT + "  reschedulePolicy: {disableRescheduling: true}\n",
        files={"manifests/web.yaml": a_workload(9)},
        before={
            "manifests/web.yaml": a_workload(4),
            "policies/p.yaml": a_policy(
                BY_WEIGHT.replace("  - {cluster: us, preferences: {weight: 3}}\n", "")
                + "  reschedulePolicy: {disableRescheduling: true}\n"
            ),
        },
    ),
    "frozen because a member is unread": Situation(
        files={"manifests/web.yaml": a_workload(18)},
        before={"manifests/web.yaml": a_workload(12)},
        states=lambda: {"us": unread("us")},
    ),
    "no member fits": Situation(
        policy="  schedulingMode: Duplicate\n  clusterSelector: {env: moon}\n",
        before={"policies/p.yaml": a_policy("  schedulingMode: Duplicate\n")},
    ),
    "cut by max and unplaced": Situation(
        policy=(
            "  schedulingMode: Divide\n  placement:\n"
            "  - {cluster: ap, preferences: {weight: 1, minReplicas: 2, maxReplicas: 4}}\n"
            "  - {cluster: eu, preferences: {weight: 3, maxReplicas: 5}}\n"
        )
    ),
    "Binpack": Situation(
        policy=(
            "  schedulingMode: Divide\n  replicasStrategy: Binpack\n  placement:\n"
            "  - {cluster: ap, preferences: {priority: 1}}\n"
            "  - {cluster: eu, preferences: {priority: 3, maxReplicas: 7}}\n"
            "  - {cluster: us, preferences: {priority: 2, maxReplicas: 4}}\n"
        )
    ),
    "dynamic weights": Situation(
        policy="  schedulingMode: Divide\n",
        states=lambda: {
            "ap": a_state("ap", served=SERVED, cpu=("10", "2")),
            "eu": a_state("eu", served=SERVED, cpu=("20", "10")),
            "us": a_state("us", served=SERVED, cpu=("40", "28")),
        },
    ),
    "estimated capacity moves replicas": Situation(
        policy=BY_WEIGHT + "  autoMigration: {when: {podUnschedulableFor: 1m}}\n",
        before={},
        learned=Learned(estimated={"us": 2}, scheduled={"us": 2, "eu": 4, "ap": 2}),
    ),
    "a follower with two leaders": Situation(files=_two_leaders(), name="cm/shared"),
    "leaders of a follower": Situation(files=_two_leaders()),
    "override from two policies": Situation(
        files={
            "manifests/web.yaml": a_workload().replace(
                "policy-name: p\n",
                "policy-name: p\n    kubeadmiral.io/cluster-override-policy-name: o\n"
                "    kubeadmiral.io/override-policy-name: local\n",
            ),
            "policies/o.yaml": a_policy(OVERRIDES, kind="ClusterOverridePolicy", name="o"),
            "policies/local.yaml": a_policy(
                "  overrideRules:\n  - overriders:\n      envs:\n"
                "      - {containerName: web, operator: upsert, value: [{name: REGION, value: here}]}\n",
                kind="OverridePolicy",
                name="local",
            ),
        }
    ),
    "override of a Secret": Situation(
        files={
            "manifests/key.yaml": SECRET,
            "policies/o.yaml": a_policy(
                "  overrideRules:\n  - overriders:\n      jsonpatch:\n"
                "      - {operator: replace, path: /data/password, value: c2VjcmV0}\n",
                kind="ClusterOverridePolicy",
                name="o",
            ),
            "policies/p.yaml": a_policy("  schedulingMode: Duplicate\n"),
        },
        name="secret/key",
    ),
    "override that fails": Situation(
        files={
            "manifests/web.yaml": a_workload().replace(
                "policy-name: p\n", "policy-name: p\n    kubeadmiral.io/cluster-override-policy-name: o\n"
            ),
            "policies/o.yaml": a_policy(
                "  overrideRules:\n  - targetClusters: {clusters: [eu]}\n    overriders:\n      jsonpatch:\n"
                "      - {operator: remove, path: /spec/nothing/here}\n",
                kind="ClusterOverridePolicy",
                name="o",
            ),
        }
    ),
    "annotation wins over the policy": Situation(
        files={
            "manifests/web.yaml": a_workload(
                annotations='    kubeadmiral.io/placements: \'[{"cluster": "us", "preferences": {"weight": 1}}]\'\n'
            )
        }
    ),
    "Duplicate": Situation(policy="  schedulingMode: Duplicate\n"),
    "Divide on a kind without replicas": Situation(
        files={"manifests/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: b}\n"},
        name="cm/plain",
    ),
    "Divide by a label on a kind without replicas": Situation(
        files={
            "manifests/config.yaml": (
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n"
                "  labels: {kubeadmiral.io/cluster-propagation-policy-name: p}\ndata: {a: b}\n"
            )
        },
        name="cm/plain",
    ),
    "the directory names the policy": Situation(name="cm/config"),
    "missing policy": Situation(without_policy=True),
    "a StatefulSet in blocks of ordinals": Situation(
        files={"manifests/db.yaml": a_workload(6, name="db", kind="StatefulSet")}, name="sts/db"
    ),
    "nothing needs it": Situation(
        files={
            "kadm.yaml": FLEET.replace("  defaults:\n    clusterPropagationPolicy: fallback\n", ""),
            "manifests/lonely.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lonely}\ndata: {a: b}\n",
        },
        name="cm/lonely",
    ),
}
"""Name → situation. The name is that of the golden text."""
