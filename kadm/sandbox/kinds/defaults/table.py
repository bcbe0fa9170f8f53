"""Which function fills which kind."""

from __future__ import annotations

from collections.abc import Callable

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.defaults import (
    access,
    autoscaling,
    core,
    extensions,
    flowcontrol,
    networking,
    storage,
    workloads,
)

DEFAULTS: dict[tuple[str, str], Callable[[JsonObject], None]] = {
    ("v1", "Endpoints"): networking.endpoints,
    ("v1", "LimitRange"): core.limit_range,
    ("v1", "Namespace"): core.namespace,
    ("v1", "Node"): core.node,
    ("v1", "PersistentVolume"): storage.persistent_volume,
    ("v1", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("v1", "Pod"): workloads.pod,
    ("v1", "PodTemplate"): workloads.pod_template,
    ("v1", "ReplicationController"): workloads.replication_controller,
    ("v1", "Secret"): core.secret,
    ("v1", "Service"): networking.service,
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): extensions.mutating_webhooks,
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): extensions.admission_policy,
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"): extensions.admission_policy_binding,
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): extensions.webhooks,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): extensions.custom_resource_definition,
    ("apiregistration.k8s.io/v1", "APIService"): extensions.api_service,
    ("apps/v1", "DaemonSet"): workloads.daemon_set,
    ("apps/v1", "Deployment"): workloads.deployment,
    ("apps/v1", "ReplicaSet"): workloads.replica_set,
    ("apps/v1", "StatefulSet"): workloads.stateful_set,
    ("authentication.k8s.io/v1", "TokenRequest"): access.token_request,
    ("autoscaling/v1", "HorizontalPodAutoscaler"): autoscaling.autoscaler_v1,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): autoscaling.autoscaler,
    ("batch/v1", "CronJob"): workloads.cron_job,
    ("batch/v1", "Job"): workloads.job,
    ("discovery.k8s.io/v1", "EndpointSlice"): networking.endpoint_slice,
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): flowcontrol.flow_schema,
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): flowcontrol.priority_level,
    ("networking.k8s.io/v1", "IngressClass"): networking.ingress_class,
    ("networking.k8s.io/v1", "NetworkPolicy"): networking.network_policy,
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): access.role_binding,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): access.role_binding,
    ("scheduling.k8s.io/v1", "PriorityClass"): core.priority_class,
    ("storage.k8s.io/v1", "CSIDriver"): storage.csi_driver,
    ("storage.k8s.io/v1", "StorageClass"): storage.storage_class,
}
"""(apiVersion, kind) → what fills it. The kinds that are not here have no defaults."""


def set_defaults(obj: JsonObject) -> None:
    """Fill in the defaults of a built-in object, in place. A kind without defaults stays as it is."""
    fill = DEFAULTS.get((obj["apiVersion"], obj["kind"]))
    if fill is not None:
        fill(obj)
