"""Scheduling through the whole program: webhooks, StatefulSets and Jobs over members, rescheduling on demand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Tools
from tests.e2e.test_sigkill import interrupted
from tests.webhooks.running import hook_server, seen

pytestmark = pytest.mark.e2e

PROFILE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: SchedulingProfile
metadata: {name: hooked}
spec:
  plugins:
    filter: {enabled: [{name: hook, type: Webhook}]}
    select: {enabled: [{name: hook, type: Webhook}]}
---
apiVersion: core.kubeadmiral.io/v1alpha1
kind: SchedulerPluginWebhookConfiguration
metadata: {name: hook}
spec: {payloadVersions: [v1alpha1], urlPrefix: "URL", filterPath: FILTER, selectPath: even/select, httpTimeout: 500ms}
---
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate, schedulingProfile: hooked}
"""
CONFIG = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}, data: {a: VALUE}}"

DIVIDE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec:
  schedulingMode: Divide
  placement: PLACEMENT
"""
PODS = "{metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: db}]}}"
DATABASE = f"""\
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: default}}
spec: {{replicas: 4, serviceName: db, selector: {{matchLabels: {{app: db}}}}, template: {PODS}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: db, namespace: default}}
spec: {{minAvailable: 2, selector: {{matchLabels: {{app: db}}}}}}
"""
SCALED = (
    DATABASE
    + """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: db, namespace: default}
spec: {minReplicas: 2, maxReplicas: 8, scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}}
"""
)
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: default}
spec: {parallelism: 3, completions: 5, template: {spec: {restartPolicy: Never, containers: [{name: c, image: load}]}}}
"""

Fleet = Callable[..., Path]


def hooked(url: str, how: str) -> str:
    return PROFILE.replace("URL", url).replace("FILTER", f"{how}/filter")


def divided(**weights: int) -> str:
    entries = [f"{{cluster: {name}, preferences: {{weight: {weight}}}}}" for name, weight in weights.items()]
    return DIVIDE.replace("PLACEMENT", f"[{', '.join(entries)}]")


def test_a_webhook_decides_and_is_asked_only_where_something_changed(
    fleet: Fleet, tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with hook_server(tmp_path_factory.mktemp("hook")) as port:
        url = f"http://127.0.0.1:{port}"
        policy, manifest = "policies/everywhere.yaml", "manifests/c.yaml"
        root = fleet({policy: hooked(url, "even"), manifest: CONFIG.replace("VALUE", "'1'")})
        rendered = tools.kadm("-C", root, "render", "-o", "json").json
        assert {one["name"]: len(one["objects"]) for one in rendered["clusters"]} == {
            "member1": 0,
            "member2": 1,
            "member3": 0,
        }
        tools.kadm("-C", root, "apply", "--yes")
        assert tools.get("member2", "configmap", "c")["data"] == {"a": "1"}
        asked = seen(port)["count"]
        (root / manifest).write_text(CONFIG.replace("VALUE", "'2'"))
        tools.kadm("-C", root, "apply", "--yes")
        assert (tools.get("member2", "configmap", "c")["data"], seen(port)["count"]) == ({"a": "2"}, asked)

        (root / policy).write_text(hooked(url, "error"))  # the edit asks again, and the webhook is out of order
        said = tools.kadm("-C", root, "plan", code=1)
        assert "webhook hook gave no filter for member1, member2, member3" in said.err
        assert "status 500: out of order" in said.err
        (root / policy).write_text(hooked(url, "stall"))
        assert f"no answer from {url}/stall/filter within 0.5 s" in tools.kadm("-C", root, "plan", code=1).err
    assert tools.get("member2", "configmap", "c")["data"] == {"a": "2"}


def stateful_sets(tools: Tools, *members: str) -> dict[str, Any]:
    """Member → replicas and first ordinal of the StatefulSet."""
    specs = {name: tools.get(name, "statefulset", "db")["spec"] for name in members}
    return {name: (spec["replicas"], (spec.get("ordinals") or {}).get("start", 0)) for name, spec in specs.items()}


def test_a_stateful_set_has_its_own_ordinals_in_each_member(fleet: Fleet, tools: Tools) -> None:
    policy = "policies/everywhere.yaml"
    root = fleet({policy: divided(member2=1, member3=1), "manifests/db.yaml": DATABASE})
    tools.kadm("-C", root, "apply", "--yes", "--no-wait")
    assert stateful_sets(tools, "member2", "member3") == {"member2": (2, 0), "member3": (2, 1000)}
    budgets = [tools.get(name, "pdb", "db")["spec"]["minAvailable"] for name in ("member2", "member3")]
    assert budgets == [1, 1]
    (root / "manifests/db.yaml").write_text(DATABASE.replace("replicas: 4", "replicas: 6"))
    (root / policy).write_text(divided(member1=1, member2=1, member3=1))
    tools.kadm("-C", root, "apply", "--yes", "--no-wait")
    assert stateful_sets(tools, "member1", "member2", "member3") == {
        "member1": (2, 2000),
        "member2": (2, 0),
        "member3": (2, 1000),
    }
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


@pytest.mark.timeout(600)
def test_a_killed_apply_changes_no_ordinals(fleet: Fleet, tools: Tools) -> None:
    """One member comes and goes, and every apply is killed at another moment before it is run again."""
    starts = {"member1": 2000, "member2": 0, "member3": 1000}
    six = DATABASE.replace("replicas: 4", "replicas: 6")
    root = fleet({"policies/everywhere.yaml": divided(member2=1, member3=1), "manifests/db.yaml": six})
    tools.kadm("-C", root, "apply", "--yes")
    moving = "  reschedulePolicy: {rescheduleWhen: {}, replicaRescheduling: {avoidDisruption: false}}\n"
    for round_, after_s in enumerate((0.4, 0.9, 1.4, 2.2)):
        members = ("member2", "member3") if round_ % 2 else ("member1", "member2", "member3")
        (root / "policies/everywhere.yaml").write_text(divided(**dict.fromkeys(members, 1)) + moving)
        interrupted(tools, root, after_s=after_s)
        tools.kadm("-C", root, "apply", "--yes", "--allow-empty")
        found = stateful_sets(tools, *members)
        assert {name: start for name, (_, start) in found.items()} == {name: starts[name] for name in members}
        assert sum(replicas for replicas, _ in found.values()) == 6
        assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_an_autoscaler_is_divided_with_its_workload(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"policies/everywhere.yaml": divided(member1=3, member2=1), "manifests/db.yaml": SCALED})
    tools.kadm("-C", root, "apply", "--yes", "--no-wait")
    scaled = [tools.get(name, "hpa", "db")["spec"] for name in ("member1", "member2")]
    assert [(spec["minReplicas"], spec["maxReplicas"]) for spec in scaled] == [(2, 6), (1, 2)]


def test_a_job_is_divided_in_exact_sums_and_never_again(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"policies/everywhere.yaml": divided(member1=1, member2=2), "manifests/job.yaml": JOB})
    tools.kadm("-C", root, "apply", "--yes", "--no-wait")
    specs = [tools.get(name, "job", "load")["spec"] for name in ("member1", "member2")]
    assert [(spec["parallelism"], spec["completions"]) for spec in specs] == [(1, 2), (2, 3)]
    (root / "policies/everywhere.yaml").write_text(divided(member1=2, member2=1))
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_rescheduling_on_demand(fleet: Fleet, tools: Tools) -> None:
    policy = divided(member1=1, member2=1) + "  reschedulePolicy: {replicaRescheduling: {avoidDisruption: false}}\n"
    web = "apiVersion: apps/v1\nkind: Deployment\n" + DATABASE.split("---")[0].split("StatefulSet\n")[1]
    root = fleet({"policies/everywhere.yaml": policy, "manifests/web.yaml": web.replace(" serviceName: db,", "")})
    tools.kadm("-C", root, "apply", "--yes", "--no-wait")
    changed = policy.replace("member1, preferences: {weight: 1", "member1, preferences: {weight: 3")
    (root / "policies/everywhere.yaml").write_text(changed)
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0  # rescheduleWhen is absent: nothing counts
    for flags in (("--reschedule", "deploy/db"), ("--reschedule-all",)):
        tools.kadm("-C", root, "plan", "--detailed-exitcode", *flags, code=2)
    tools.kadm("-C", root, "plan", "--reschedule", "deploy/nothing", code=1)
    tools.kadm("-C", root, "apply", "--yes", "--no-wait", "--reschedule", "deploy/db")
    replicas = [tools.get(name, "deployment", "db")["spec"]["replicas"] for name in ("member1", "member2")]
    assert replicas == [3, 1]


def test_a_stateful_set_that_is_there_keeps_its_ordinals(fleet: Fleet, tools: Tools) -> None:
    """The block that the member would get is another one: adopted there, all of its pods would be made anew."""
    root = fleet({"policies/everywhere.yaml": divided(member1=1, member2=1), "manifests/db.yaml": DATABASE})
    (tools.cwd / "db.yaml").write_text(DATABASE.split("---")[0])
    for member in ("member1", "member2"):
        tools.kubectl(member, "apply", "-f", tools.cwd / "db.yaml")
    said = tools.kadm("-C", root, "apply", "--yes", "--no-wait", "--adopt-all", code=1)
    assert "its pods are numbered from 0 on, and would be from 1000 on" in said.out
    assert stateful_sets(tools, "member1", "member2") == {"member1": (2, 0), "member2": (4, 0)}


def test_a_member_that_comes_back_is_filled_on_demand(fleet: Callable[..., Path], tools: Tools) -> None:
    """What is held back for it names what fills it, beside what empties it; it counts for --detailed-exitcode."""
    root = fleet({"manifests/c.yaml": CONFIG})
    tools.kadm("-C", root, "apply", "--yes")
    file = root / "clusters/member2.yaml"
    written = file.read_text()
    file.unlink()
    tools.kadm("-C", root, "apply", "--yes")
    file.write_text(written)
    held = tools.kadm("-C", root, "plan", "--detailed-exitcode", "-o", "json", code=2).json["held"]
    assert [(one["name"], one["cluster"], one["flag"]) for one in held] == [("c", "member2", "--allow-empty")]
    assert "kadm apply --reschedule KIND/NAME, or --reschedule-all, places it there" in held[0]["why"]
    tools.kadm("-C", root, "apply", "--yes", "--reschedule-all")
    tools.kadm("-C", root, "plan", "--detailed-exitcode")
