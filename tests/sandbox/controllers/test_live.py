"""Controllers together, on the API: what comes out in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.sandbox.controllers.builders import a_template
from tests.sandbox.controllers.live import USER, LiveMember, a_live_member

Object = dict[str, Any]


def live(scenario: Callable[[LiveMember], Awaitable[None]], nodes: int = 2) -> None:
    """Play a scenario on a fresh member."""

    async def play() -> None:
        async with a_live_member(nodes) as member:
            await scenario(member)

    asyncio.run(play())


def workload(kind: str, *, replicas: int | None = 2, image: str = "nginx:1.25", **spec: Any) -> Object:
    """A workload ``web`` of apps/v1."""
    made: Object = {"selector": {"matchLabels": {"app": "web"}}, "template": a_template(image), **spec}
    if replicas is not None:
        made["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": made}


def claim(name: str = "data") -> Object:
    """A claim of the default class."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def ready_pods(member: LiveMember) -> int:
    """How many pods of default are Ready."""
    return sum(
        1
        for pod in member.api.list("pods", "default")
        if any(c["type"] == "Ready" and c["status"] == "True" for c in pod.get("status", {}).get("conditions", ()))
    )


def test_a_cordoned_node_takes_nothing_new() -> None:
    async def scenario(member: LiveMember) -> None:
        cordon: Object = {"spec": {"unschedulable": True}}
        member.api.merge_patch("nodes", "", "node-0", cordon, manager=USER)
        await member.until(lambda: bool(member.api.get("nodes", "", "node-0")["spec"].get("taints")))
        member.create("deployments.apps", workload("Deployment"))
        await member.until(lambda: ready_pods(member) == 2)
        assert {pod["spec"]["nodeName"] for pod in member.api.list("pods", "default")} == {"node-1"}

    live(scenario)


def test_pods_of_a_node_that_is_removed_are_replaced_elsewhere() -> None:
    async def scenario(member: LiveMember) -> None:
        member.create("deployments.apps", workload("Deployment"))
        await member.until(lambda: ready_pods(member) == 2)
        member.api.delete("nodes", "", "node-0")
        await member.until(
            lambda: (
                {pod["spec"].get("nodeName") for pod in member.api.list("pods", "default")} == {"node-1"}
                and ready_pods(member) == 2
            )
        )

    live(scenario)


def test_pods_wait_for_a_node_that_fits_and_then_go_there() -> None:
    async def scenario(member: LiveMember) -> None:
        member.create("deployments.apps", workload("Deployment", replicas=1))
        await member.until(lambda: any(p["status"].get("conditions") for p in member.api.list("pods", "default")))
        from kadm.sandbox.controllers.nodes import NodeSize, a_node

        member.api.create("nodes", a_node(7, NodeSize(), "v1", member.api.clock()), manager="kubelet")
        await member.until(lambda: ready_pods(member) == 1)

    live(scenario, nodes=0)


def test_a_daemonset_follows_the_nodes() -> None:
    async def scenario(member: LiveMember) -> None:
        member.create("daemonsets.apps", workload("DaemonSet", replicas=None))
        await member.until(lambda: ready_pods(member) == 2)
        member.api.delete("nodes", "", "node-1")
        await member.until(lambda: len(member.api.list("pods", "default")) == 1)

        def numbers() -> tuple[int, int, int]:
            status = member.api.get("daemonsets.apps", "default", "web")["status"]
            return status["desiredNumberScheduled"], status["numberMisscheduled"], status["numberReady"]

        await member.until(lambda: numbers() == (1, 0, 1))

    live(scenario)


def test_a_claim_is_bound_kept_while_used_and_takes_its_volume_with_it() -> None:
    async def scenario(member: LiveMember) -> None:
        member.create("persistentvolumeclaims", claim())
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
        member.create("pods", {**pod, "spec": {**a_template()["spec"], "volumes": volumes}})
        await member.until(lambda: ready_pods(member) == 1)
        bound = member.api.get("persistentvolumeclaims", "default", "data")
        assert (bound["status"]["phase"], len(member.api.list("persistentvolumes"))) == ("Bound", 1)
        member.api.delete("persistentvolumeclaims", "default", "data")
        assert member.names("persistentvolumeclaims") == ["data"]
        member.api.delete("pods", "default", "p")
        await member.until(lambda: not member.api.list("persistentvolumes"))
        assert member.names("persistentvolumeclaims") == []

    live(scenario)


def test_a_failing_job_gives_up_and_its_time_to_live_ends_it() -> None:
    async def scenario(member: LiveMember) -> None:
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:crash"}]}}
        spec = {"backoffLimit": 1, "ttlSecondsAfterFinished": 0, "template": template}
        member.create("jobs.batch", {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec})
        states: list[Object] = []

        def gone() -> bool:
            job = member.api.find("jobs.batch", "default", "j")
            if job is not None:
                states.append(job.get("status", {}))
            return job is None and not member.api.list("pods", "default")

        await member.until(gone)
        assert [entry["type"] for entry in states[-1]["conditions"]] == ["FailureTarget", "Failed"]
        assert states[-1]["failed"] == 2

    live(scenario)


def test_a_namespace_waits_for_finalizers_and_says_so() -> None:
    async def scenario(member: LiveMember) -> None:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "t"}}
        member.create("namespaces", space, "")
        held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "finalizers": ["x.io/hold"]}}
        member.create("configmaps", held, "t")
        member.api.delete("namespaces", "", "t")

        def reason() -> str:
            live_space = member.api.find("namespaces", "", "t") or {}
            conditions = live_space.get("status", {}).get("conditions", ())
            return next((c["message"] for c in conditions if c["type"] == "NamespaceFinalizersRemaining"), "")

        want = "Some content in the namespace has finalizers remaining: x.io/hold in 1 resource instances"
        await member.until(lambda: reason() == want)
        member.api.merge_patch("configmaps", "t", "c", {"metadata": {"finalizers": None}}, manager=USER)
        await member.until(lambda: member.api.find("namespaces", "", "t") is None)
        assert member.names("configmaps", "t") == []

    live(scenario)


def test_a_budget_counts_the_pods_it_covers() -> None:
    async def scenario(member: LiveMember) -> None:
        member.create("deployments.apps", workload("Deployment"))
        spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}
        member.create("poddisruptionbudgets.policy", budget)

        def allowed() -> int:
            found: int = member.api.get("poddisruptionbudgets.policy", "default", "b")["status"].get(
                "disruptionsAllowed", 0
            )
            return found

        await member.until(lambda: allowed() == 1)

    live(scenario)


def test_a_quota_refusal_shows_in_the_replicaset_and_the_deployment() -> None:
    async def scenario(member: LiveMember) -> None:
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"pods": "1"}},
        }
        member.create("resourcequotas", quota)
        member.create("deployments.apps", workload("Deployment"))

        def failure() -> str:
            conditions = member.api.get("deployments.apps", "default", "web").get("status", {}).get("conditions", ())
            return next((c["reason"] for c in conditions if c["type"] == "ReplicaFailure"), "")

        await member.until(lambda: failure() == "FailedCreate")
        await member.until(lambda: member.api.get("resourcequotas", "default", "q")["status"]["used"] == {"pods": "1"})

    live(scenario)


def test_an_orphan_that_matches_is_adopted() -> None:
    async def scenario(member: LiveMember) -> None:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "web"}}}
        member.create("pods", {**pod, "spec": a_template()["spec"]})
        member.create("replicasets.apps", workload("ReplicaSet"))
        await member.until(lambda: ready_pods(member) == 2)
        owners = [pod["metadata"]["ownerReferences"][0]["name"] for pod in member.api.list("pods", "default")]
        assert owners == ["web", "web"]

    live(scenario)


def test_pods_leave_a_node_that_does_not_answer() -> None:
    async def scenario(member: LiveMember) -> None:
        toleration = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 0}
        template = a_template(tolerations=[{**toleration, "effect": "NoExecute"}])
        member.create(
            "deployments.apps",
            {**workload("Deployment"), "spec": {**workload("Deployment")["spec"], "template": template}},
        )
        await member.until(lambda: ready_pods(member) == 2)
        silent = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
        member.api.merge_patch("nodes", "", "node-0", silent, manager=USER, subresource="status")

        def on_the_other() -> int:
            return sum(1 for pod in member.api.list("pods", "default") if pod["spec"].get("nodeName") == "node-1")

        await member.until(lambda: on_the_other() == 2 and ready_pods(member) == 2)

    live(scenario)


def test_a_load_balancer_gets_an_address_of_its_own() -> None:
    async def scenario(member: LiveMember) -> None:
        for name in ("a", "b"):
            spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
            member.create("services", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})

        def addresses() -> set[str]:
            found = (service["status"]["loadBalancer"] for service in member.api.list("services", "default"))
            return {entry["ip"] for balancer in found for entry in balancer.get("ingress", ())}

        await member.until(lambda: addresses() == {"172.19.0.1", "172.19.0.2"})

    live(scenario)


def test_many_pods_are_placed_batch_by_batch() -> None:
    async def scenario(member: LiveMember) -> None:
        member.create("deployments.apps", workload("Deployment", replicas=210))
        await member.until(lambda: ready_pods(member) == 210)

    live(scenario)
