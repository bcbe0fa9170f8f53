"""Which rule says whether an object is ready: one table from kind to rule, and the rule for the rest."""

from __future__ import annotations

from collections.abc import Callable

from kadm.model.objects import JsonObject, gvk_of
from kadm.model.status import Health
from kadm.status.daemonset import daemonset_health
from kadm.status.deployment import deployment_health
from kadm.status.job import cronjob_health, job_health
from kadm.status.others import budget_health, claim_health, crd_health, generic_health, namespace_health
from kadm.status.pod import pod_health
from kadm.status.replicaset import replicaset_health
from kadm.status.statefulset import statefulset_health
from kadm.status.verdicts import terminating

HEALTH_RULES: dict[tuple[str, str], Callable[[JsonObject], Health]] = {
    ("", "Namespace"): namespace_health,
    ("", "PersistentVolumeClaim"): claim_health,
    ("", "Pod"): pod_health,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): crd_health,
    ("apps", "DaemonSet"): daemonset_health,
    ("apps", "Deployment"): deployment_health,
    ("apps", "ReplicaSet"): replicaset_health,
    ("apps", "StatefulSet"): statefulset_health,
    ("batch", "CronJob"): cronjob_health,
    ("batch", "Job"): job_health,
    ("policy", "PodDisruptionBudget"): budget_health,
}
"""(group, kind) → its rule; every other kind gets ``generic_health``."""


def health(live: JsonObject) -> Health:
    """How one live object does, and why."""
    if leaving := terminating(live):
        return leaving
    gvk = gvk_of(live)
    return HEALTH_RULES.get((gvk.group, gvk.kind), generic_health)(live)
