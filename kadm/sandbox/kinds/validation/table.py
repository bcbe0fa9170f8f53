"""Which functions find the faults of which kind."""

from __future__ import annotations

from collections.abc import Callable

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import conversion
from kadm.sandbox.kinds.field_errors import FieldError
from kadm.sandbox.kinds.registry import ResourceKind, builtin_kind
from kadm.sandbox.kinds.validation import (
    access,
    configuration,
    custom_objects,
    extensions,
    metadata,
    names,
    networking,
    pods,
    scaling,
    storage,
    workloads,
)

NAMES: dict[tuple[str, str], names.NameRule] = {
    ("", "Namespace"): names.dns_label,
    ("", "Service"): names.dns_label,
    ("apps", "StatefulSet"): names.dns_label,
    ("rbac.authorization.k8s.io", "ClusterRole"): names.path_segment,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): names.path_segment,
    ("rbac.authorization.k8s.io", "Role"): names.path_segment,
    ("rbac.authorization.k8s.io", "RoleBinding"): names.path_segment,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): names.path_segment,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): names.path_segment,
    ("certificates.k8s.io", "CertificateSigningRequest"): names.path_segment,
    ("apiregistration.k8s.io", "APIService"): names.path_segment,
}
"""(group, kind) → what its names may be; the others are DNS subdomains."""

NEW: dict[tuple[str, str], Callable[[JsonObject], list[FieldError]]] = {
    ("", "ConfigMap"): configuration.config_map,
    ("", "LimitRange"): configuration.limit_range,
    ("", "PersistentVolume"): storage.volume,
    ("", "PersistentVolumeClaim"): storage.claim,
    ("", "Pod"): pods.pod,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "ResourceQuota"): configuration.resource_quota,
    ("", "Secret"): configuration.secret,
    ("", "Service"): networking.service,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): extensions.webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): extensions.webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): extensions.crd,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): scaling.autoscaler,
    ("batch", "CronJob"): workloads.cron_job,
    ("batch", "Job"): workloads.job,
    ("coordination.k8s.io", "Lease"): configuration.lease,
    ("discovery.k8s.io", "EndpointSlice"): networking.endpoint_slice,
    ("networking.k8s.io", "Ingress"): networking.ingress,
    ("networking.k8s.io", "IngressClass"): networking.ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): networking.network_policy,
    ("policy", "PodDisruptionBudget"): scaling.disruption_budget,
    ("rbac.authorization.k8s.io", "ClusterRole"): access.cluster_role,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): access.cluster_role_binding,
    ("rbac.authorization.k8s.io", "Role"): access.role,
    ("rbac.authorization.k8s.io", "RoleBinding"): access.role_binding,
    ("scheduling.k8s.io", "PriorityClass"): configuration.priority_class,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
}
"""(group, kind) → the faults of a new object, but for its metadata. The kinds that are not here have no rules."""

CHANGED: dict[tuple[str, str], Callable[[JsonObject, JsonObject], list[FieldError]]] = {
    ("", "ConfigMap"): configuration.config_map_update,
    ("", "PersistentVolume"): storage.volume_update,
    ("", "PersistentVolumeClaim"): storage.claim_update,
    ("", "Pod"): pods.pod_update,
    ("", "Secret"): configuration.secret_update,
    ("", "Service"): networking.service_update,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): extensions.crd_update,
    ("apps", "ControllerRevision"): workloads.controller_revision_update,
    ("apps", "DaemonSet"): workloads.daemon_set_update,
    ("apps", "Deployment"): workloads.deployment_update,
    ("apps", "ReplicaSet"): workloads.replica_set_update,
    ("apps", "StatefulSet"): workloads.stateful_set_update,
    ("batch", "Job"): workloads.job_update,
    ("discovery.k8s.io", "EndpointSlice"): networking.endpoint_slice_update,
    ("networking.k8s.io", "IngressClass"): networking.ingress_class_update,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): access.cluster_role_binding_update,
    ("rbac.authorization.k8s.io", "RoleBinding"): access.role_binding_update,
    ("scheduling.k8s.io", "PriorityClass"): configuration.priority_class_update,
    ("storage.k8s.io", "StorageClass"): storage.storage_class_update,
}
"""(group, kind) → the faults of a replacement (first) of an object; the others are checked as if they were new."""

CHANGED_STATUS: dict[tuple[str, str], Callable[[JsonObject, JsonObject], list[FieldError]]] = {
    ("", "Namespace"): configuration.namespace_status,
}
"""(group, kind) → the faults of a new status."""


def validate_create(kind: ResourceKind, obj: JsonObject) -> list[FieldError]:
    """The faults of a new object, metadata included."""
    key = (kind.group, kind.kind)
    rule = names.dns_subdomain if kind.custom is not None else NAMES.get(key, names.dns_subdomain)
    errors = metadata.new_metadata(obj["metadata"], namespaced=kind.namespaced, name_rule=rule)
    if kind.custom is not None:
        return errors + custom_objects.custom_object(kind.custom.schema, obj)
    check = NEW.get(key)
    return errors + check(_stored(kind, obj)) if check else errors


def validate_update(kind: ResourceKind, new: JsonObject, old: JsonObject, *, subresource: str = "") -> list[FieldError]:
    """The faults of a replacement, immutable fields included. A write to a subresource is checked in its part only."""
    errors = metadata.changed_metadata(new["metadata"], old["metadata"])
    if kind.custom is not None:
        return errors + custom_objects.custom_object(kind.custom.schema, new)
    if subresource in ("status", "finalize", "resize", "ephemeralcontainers"):
        check_status = CHANGED_STATUS.get((kind.group, kind.kind)) if subresource == "status" else None
        return errors + check_status(new, old) if check_status else errors
    check = CHANGED.get((kind.group, kind.kind))
    if check is not None:
        return errors + check(_stored(kind, new), _stored(kind, old))
    check_new = NEW.get((kind.group, kind.kind))
    return errors + check_new(_stored(kind, new)) if check_new else errors


def _stored(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """The object in its storage version: that is where the rules look."""
    if (kind.group, kind.version) == (kind.storage_group, kind.storage_version):
        return obj
    stored = builtin_kind(kind.storage_group, kind.storage_version, kind.kind)
    return conversion.convert(stored, obj) if stored else obj
