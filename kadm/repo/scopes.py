"""Whether a kind lives in a namespace: the kinds that Kubernetes serves itself, and those that the repository defines.

Source: discovery of kube-apiserver 1.20 to 1.36, alpha and beta groups included.
"""

from __future__ import annotations

from collections.abc import Mapping

_NAMESPACED: dict[str, tuple[str, ...]] = {
    "": (
        "Binding",
        "ConfigMap",
        "Endpoints",
        "Event",
        "LimitRange",
        "PersistentVolumeClaim",
        "Pod",
        "PodTemplate",
        "ReplicationController",
        "ResourceQuota",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "apps": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "authorization.k8s.io": ("LocalSubjectAccessReview",),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "batch": ("CronJob", "Job"),
    "coordination.k8s.io": ("Lease", "LeaseCandidate"),
    "discovery.k8s.io": ("EndpointSlice",),
    "events.k8s.io": ("Event",),
    "extensions": ("Ingress",),
    "networking.k8s.io": ("Ingress", "NetworkPolicy"),
    "policy": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io": ("Role", "RoleBinding"),
    "resource.k8s.io": ("ResourceClaim", "ResourceClaimTemplate"),
    "storage.k8s.io": ("CSIStorageCapacity",),
}

_CLUSTER: dict[str, tuple[str, ...]] = {
    "": ("ComponentStatus", "Namespace", "Node", "PersistentVolume"),
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "authentication.k8s.io": ("SelfSubjectReview", "TokenReview"),
    "authorization.k8s.io": ("SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle"),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
    "internal.apiserver.k8s.io": ("StorageVersion",),
    "networking.k8s.io": ("IPAddress", "IngressClass", "ServiceCIDR"),
    "node.k8s.io": ("RuntimeClass",),
    "policy": ("PodSecurityPolicy",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding"),
    "resource.k8s.io": ("DeviceClass", "DeviceTaintRule", "ResourceSlice"),
    "scheduling.k8s.io": ("PriorityClass",),
    "storage.k8s.io": ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"),
    "storagemigration.k8s.io": ("StorageVersionMigration",),
}

_BUILT_IN: dict[tuple[str, str], bool] = {
    **{(group, kind): True for group, kinds in _NAMESPACED.items() for kind in kinds},
    **{(group, kind): False for group, kinds in _CLUSTER.items() for kind in kinds},
}


def is_namespaced(group: str, kind: str, defined: Mapping[tuple[str, str], bool]) -> bool | None:
    """Whether objects of the kind live in a namespace; None where neither Kubernetes nor ``defined`` knows it."""
    return _BUILT_IN.get((group, kind), defined.get((group, kind)))
