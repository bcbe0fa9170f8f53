"""What makes a member's objects live: the controllers, the pod scheduler and simulated kubelets.

Every controller is a pure decision (objects in, actions out) behind a thin class that reads the live store. ``loop``
runs them: woken by the store's events, never by polling.
"""

from __future__ import annotations

from kadm.sandbox.api import ApiServer
from kadm.sandbox.controllers.cronjob import CronJobs
from kadm.sandbox.controllers.daemonset import DaemonSets
from kadm.sandbox.controllers.deployment import Deployments
from kadm.sandbox.controllers.disruption import DisruptionBudgets
from kadm.sandbox.controllers.endpoints import ServiceEndpoints
from kadm.sandbox.controllers.garbage_collector import GarbageCollector
from kadm.sandbox.controllers.job import Jobs
from kadm.sandbox.controllers.kubelet import Delays, Kubelets
from kadm.sandbox.controllers.load_balancers import LoadBalancers
from kadm.sandbox.controllers.loop import Controller, ControllerLoop
from kadm.sandbox.controllers.namespaces import NamespaceDefaults, NamespaceDeletion
from kadm.sandbox.controllers.nodes import NodeLifecycle
from kadm.sandbox.controllers.quota import Quotas
from kadm.sandbox.controllers.replicaset import ReplicaSets
from kadm.sandbox.controllers.scheduler import Scheduler
from kadm.sandbox.controllers.statefulset import StatefulSets
from kadm.sandbox.controllers.volumes import VolumeBinder, VolumeProtection

__all__ = ["ControllerLoop", "Delays", "all_controllers"]


def all_controllers(api: ApiServer, delays: Delays, ca: str) -> tuple[Controller, ...]:
    """Every controller of a member; ``ca`` is the PEM that pods are told to trust."""
    return (
        NamespaceDefaults(api, ca),
        NodeLifecycle(api),
        Deployments(api),
        ReplicaSets(api),
        StatefulSets(api),
        DaemonSets(api),
        CronJobs(api),
        Jobs(api),
        VolumeBinder(api),
        VolumeProtection(api),
        Scheduler(api),
        Kubelets(api, delays),
        ServiceEndpoints(api),
        LoadBalancers(api),
        DisruptionBudgets(api),
        Quotas(api),
        GarbageCollector(api),
        NamespaceDeletion(api),
    )
