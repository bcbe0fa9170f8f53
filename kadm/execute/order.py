"""In which order kinds are written: each after what it needs (design, section 7). Deletions go the other way."""

from __future__ import annotations

from kadm.model.objects import ObjectKey
from kadm.model.workload import workload_kind

CRDS, NAMESPACES, REFERENCES, WORKLOADS, REST, WEBHOOKS = range(6)

_RANKS: dict[tuple[str, str], int] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): CRDS,
    ("", "Namespace"): NAMESPACES,
    ("scheduling.k8s.io", "PriorityClass"): REFERENCES,
    ("node.k8s.io", "RuntimeClass"): REFERENCES,
    ("storage.k8s.io", "StorageClass"): REFERENCES,
    ("storage.k8s.io", "CSIDriver"): REFERENCES,
    ("", "LimitRange"): REFERENCES,
    ("", "ResourceQuota"): REFERENCES,
    ("networking.k8s.io", "NetworkPolicy"): REFERENCES,
    ("", "ServiceAccount"): REFERENCES,
    ("rbac.authorization.k8s.io", "ClusterRole"): REFERENCES,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): REFERENCES,
    ("rbac.authorization.k8s.io", "Role"): REFERENCES,
    ("rbac.authorization.k8s.io", "RoleBinding"): REFERENCES,
    ("", "Secret"): REFERENCES,
    ("", "ConfigMap"): REFERENCES,
    ("", "PersistentVolume"): REFERENCES,
    ("", "PersistentVolumeClaim"): REFERENCES,
    ("", "Service"): REFERENCES,  # before pods: their environment lists the Services that exist when they start
    ("apiregistration.k8s.io", "APIService"): REST,
    # Last: a webhook whose backend is not up yet would refuse everything that is written after it.
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): WEBHOOKS,
}


def rank(key: ObjectKey) -> int:
    """When an object of this kind is written: lower first."""
    known = _RANKS.get((key.group, key.kind))
    if known is not None:
        return known
    return WORKLOADS if workload_kind(key.group, key.kind) else REST
