"""The resources that a member serves: names, scope, verbs and subresources, as discovery shows them.

Source: discovery of kube-apiserver 1.36 with its default API groups, without those of Dynamic Resource Allocation.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from kadm.model.objects import GroupVersionKind, JsonObject

Verb = Literal["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

ALL_VERBS: tuple[Verb, ...] = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
"""What an ordinary resource offers, in discovery's order."""

_CREATE: tuple[Verb, ...] = ("create",)
_PROXY: tuple[Verb, ...] = ("create", "delete", "get", "patch", "update")
_STREAM: tuple[Verb, ...] = ("create", "get")
_WRITE: tuple[Verb, ...] = ("get", "patch", "update")


class Subresource(msgspec.Struct, frozen=True, kw_only=True):
    """One subresource. ``group`` and ``version`` are empty where the kind is of the parent's own group and version."""

    name: str
    kind: str
    verbs: tuple[Verb, ...] = _WRITE
    group: str = ""
    version: str = ""


class PrinterColumn(msgspec.Struct, frozen=True, kw_only=True):
    """An ``additionalPrinterColumns`` entry of a custom resource."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


class CustomVersion(msgspec.Struct, frozen=True, kw_only=True):
    """What a CRD says of one served version, beyond its names.

    ``schema`` is its ``openAPIV3Schema``. The scale paths are empty where there is no scale subresource (or no
    selector). ``deprecation_warning`` is empty unless the version is deprecated; then it is the text of the Warning
    header.
    """

    crd_name: str
    schema: JsonObject
    preserve_unknown_fields: bool = False
    columns: tuple[PrinterColumn, ...] = ()
    scale_spec_path: str = ""
    scale_status_path: str = ""
    scale_label_selector_path: str = ""
    deprecation_warning: str = ""
    selectable_fields: tuple[str, ...] = ()


class ResourceKind(msgspec.Struct, frozen=True, kw_only=True):
    """One resource in one version.

    ``storage_group``/``storage_version`` say where its objects are kept: all versions of a resource share one storage
    (``events`` is kept in the core group for both of its groups). ``stored`` is False for kinds that answer a create
    and keep nothing (reviews, Binding). ``generation`` says that ``metadata.generation`` counts changes of what the
    user wants. ``deprecated`` warns of a built-in kind. ``custom`` is what a CRD adds, None for a built-in kind.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[Verb, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    generation: bool = False
    stored: bool = True
    list_kind: str = ""
    storage_group: str = ""
    storage_version: str = ""
    custom: CustomVersion | None = None
    deprecated: str = ""

    @property
    def deprecation_warning(self) -> str:
        """The text of the Warning header that every answer about this kind carries; "" for most kinds."""
        return self.deprecated or (self.custom.deprecation_warning if self.custom else "")

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def group_resource(self) -> str:
        """The name that error messages use: ``deployments.apps``, ``pods``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def group_kind(self) -> str:
        """``Deployment.apps``, ``Pod``."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def storage_key(self) -> tuple[str, str]:
        """(group, plural) of the storage that all versions of this resource share."""
        return (self.storage_group, self.plural)

    @property
    def has_status(self) -> bool:
        """Whether status is a subresource of its own: then an ordinary write cannot change it."""
        return self.subresource("status") is not None

    def subresource(self, name: str) -> Subresource | None:
        """The subresource of this name, or None."""
        return next((sub for sub in self.subresources if sub.name == name), None)


def _status(kind: str) -> Subresource:
    return Subresource(name="status", kind=kind)


_SCALE = Subresource(name="scale", kind="Scale", group="autoscaling", version="v1")


def _kind(
    api_version: str,
    kind: str,
    plural: str,
    *short_names: str,
    cluster: bool = False,
    categories: tuple[str, ...] = (),
    verbs: tuple[Verb, ...] = ALL_VERBS,
    status: bool = False,
    scale: bool = False,
    others: tuple[Subresource, ...] = (),
    generation: bool = False,
    stored: bool = True,
    storage: str = "",
    deprecated: str = "",
) -> ResourceKind:
    group, _, version = api_version.rpartition("/")
    storage_group, _, storage_version = (storage or api_version).rpartition("/")
    subresources = [*others]
    if status:
        subresources.append(_status(kind))
    if scale:
        subresources.append(_SCALE)
    return ResourceKind(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        namespaced=not cluster,
        short_names=short_names,
        categories=categories,
        verbs=verbs,
        subresources=tuple(sorted(subresources, key=lambda sub: sub.name)),
        generation=generation,
        stored=stored,
        list_kind=f"{kind}List",
        storage_group=storage_group,
        storage_version=storage_version,
        deprecated=deprecated,
    )


_ALL = ("all",)
_API_EXTENSIONS = ("api-extensions",)
_POD_SUBRESOURCES = (
    Subresource(name="attach", kind="PodAttachOptions", verbs=_STREAM),
    Subresource(name="binding", kind="Binding", verbs=_CREATE),
    Subresource(name="ephemeralcontainers", kind="Pod"),
    Subresource(name="eviction", kind="Eviction", verbs=_CREATE, group="policy", version="v1"),
    Subresource(name="exec", kind="PodExecOptions", verbs=_STREAM),
    Subresource(name="log", kind="Pod", verbs=("get",)),
    Subresource(name="portforward", kind="PodPortForwardOptions", verbs=_STREAM),
    Subresource(name="proxy", kind="PodProxyOptions", verbs=_PROXY),
    Subresource(name="resize", kind="Pod"),
)
_NAMESPACE_VERBS: tuple[Verb, ...] = ("create", "delete", "get", "list", "patch", "update", "watch")
_FINALIZE = Subresource(name="finalize", kind="Namespace", verbs=("update",))
_NODE_PROXY = Subresource(name="proxy", kind="NodeProxyOptions", verbs=_PROXY)
_SERVICE_PROXY = Subresource(name="proxy", kind="ServiceProxyOptions", verbs=_PROXY)
_TOKEN = Subresource(name="token", kind="TokenRequest", verbs=_CREATE, group="authentication.k8s.io", version="v1")
_APPROVAL = Subresource(name="approval", kind="CertificateSigningRequest")

BUILTIN_KINDS: tuple[ResourceKind, ...] = (
    _kind("v1", "Binding", "bindings", verbs=_CREATE, stored=False),
    _kind(
        "v1", "ComponentStatus", "componentstatuses", "cs", cluster=True, verbs=("get", "list"),
        deprecated="v1 ComponentStatus is deprecated in v1.19+",
    ),
    _kind("v1", "ConfigMap", "configmaps", "cm"),
    _kind(
        "v1", "Endpoints", "endpoints", "ep",
        deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
    _kind("v1", "Event", "events", "ev"),
    _kind("v1", "LimitRange", "limitranges", "limits"),
    _kind(
        "v1", "Namespace", "namespaces", "ns",
        cluster=True, verbs=_NAMESPACE_VERBS, status=True, others=(_FINALIZE,),
    ),
    _kind("v1", "Node", "nodes", "no", cluster=True, status=True, others=(_NODE_PROXY,)),
    _kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", status=True),
    _kind("v1", "PersistentVolume", "persistentvolumes", "pv", cluster=True, status=True),
    _kind("v1", "Pod", "pods", "po", categories=_ALL, status=True, others=_POD_SUBRESOURCES, generation=True),
    _kind("v1", "PodTemplate", "podtemplates", generation=True),
    _kind(
        "v1", "ReplicationController", "replicationcontrollers", "rc",
        categories=_ALL, status=True, scale=True, generation=True,
    ),
    _kind("v1", "ResourceQuota", "resourcequotas", "quota", status=True),
    _kind("v1", "Secret", "secrets"),
    _kind("v1", "ServiceAccount", "serviceaccounts", "sa", others=(_TOKEN,)),
    _kind("v1", "Service", "services", "svc", categories=_ALL, status=True, others=(_SERVICE_PROXY,)),
    _kind(
        "apiregistration.k8s.io/v1", "APIService", "apiservices",
        cluster=True, categories=_API_EXTENSIONS, status=True,
    ),
    _kind("apps/v1", "ControllerRevision", "controllerrevisions"),
    _kind("apps/v1", "DaemonSet", "daemonsets", "ds", categories=_ALL, status=True, generation=True),
    _kind("apps/v1", "Deployment", "deployments", "deploy", categories=_ALL, status=True, scale=True, generation=True),
    _kind("apps/v1", "ReplicaSet", "replicasets", "rs", categories=_ALL, status=True, scale=True, generation=True),
    _kind("apps/v1", "StatefulSet", "statefulsets", "sts", categories=_ALL, status=True, scale=True, generation=True),
    _kind("events.k8s.io/v1", "Event", "events", "ev", storage="v1"),
    _kind(
        "authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews",
        cluster=True, verbs=_CREATE, stored=False,
    ),
    _kind("authentication.k8s.io/v1", "TokenReview", "tokenreviews", cluster=True, verbs=_CREATE, stored=False),
    _kind(
        "authorization.k8s.io/v1", "LocalSubjectAccessReview", "localsubjectaccessreviews",
        verbs=_CREATE, stored=False,
    ),
    _kind(
        "authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
        cluster=True, verbs=_CREATE, stored=False,
    ),
    _kind(
        "authorization.k8s.io/v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews",
        cluster=True, verbs=_CREATE, stored=False,
    ),
    _kind(
        "authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews",
        cluster=True, verbs=_CREATE, stored=False,
    ),
    _kind(
        "autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", categories=_ALL, status=True,
    ),
    _kind(
        "autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa",
        categories=_ALL, status=True, storage="autoscaling/v2",
    ),
    _kind("batch/v1", "CronJob", "cronjobs", "cj", categories=_ALL, status=True, generation=True),
    _kind("batch/v1", "Job", "jobs", categories=_ALL, status=True, generation=True),
    _kind(
        "certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", "csr",
        cluster=True, status=True, others=(_APPROVAL,),
    ),
    _kind("networking.k8s.io/v1", "IngressClass", "ingressclasses", cluster=True, generation=True),
    _kind("networking.k8s.io/v1", "Ingress", "ingresses", "ing", status=True, generation=True),
    _kind("networking.k8s.io/v1", "IPAddress", "ipaddresses", "ip", cluster=True),
    _kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "netpol", generation=True),
    _kind("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs", cluster=True, status=True),
    _kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", status=True, generation=True),
    _kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", cluster=True),
    _kind("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", cluster=True),
    _kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    _kind("rbac.authorization.k8s.io/v1", "Role", "roles"),
    _kind("storage.k8s.io/v1", "CSIDriver", "csidrivers", cluster=True),
    _kind("storage.k8s.io/v1", "CSINode", "csinodes", cluster=True),
    _kind("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities"),
    _kind("storage.k8s.io/v1", "StorageClass", "storageclasses", "sc", cluster=True),
    _kind("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", cluster=True, status=True),
    _kind("storage.k8s.io/v1", "VolumeAttributesClass", "volumeattributesclasses", "vac", cluster=True),
    _kind(
        "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
        cluster=True, categories=_API_EXTENSIONS, generation=True,
    ),
    _kind(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies",
        cluster=True, categories=_API_EXTENSIONS, status=True, generation=True,
    ),
    _kind(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings",
        cluster=True, categories=_API_EXTENSIONS, generation=True,
    ),
    _kind(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
        cluster=True, categories=_API_EXTENSIONS, generation=True,
    ),
    _kind(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", "crd", "crds",
        cluster=True, categories=_API_EXTENSIONS, status=True, generation=True,
    ),
    _kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "pc", cluster=True, generation=True),
    _kind("coordination.k8s.io/v1", "Lease", "leases"),
    _kind("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", cluster=True),
    _kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", generation=True),
    _kind("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", cluster=True, status=True, generation=True),
    _kind(
        "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations",
        cluster=True, status=True, generation=True,
    ),
)  # fmt: skip
"""Every built-in resource, groups in the order that discovery lists them, a group's preferred version first."""

_BY_RESOURCE = {(kind.group, kind.version, kind.plural): kind for kind in BUILTIN_KINDS}
_BY_KIND = {(kind.group, kind.version, kind.kind): kind for kind in BUILTIN_KINDS}


def builtin_resource(group: str, version: str, plural: str) -> ResourceKind | None:
    """The built-in resource served under this path, or None."""
    return _BY_RESOURCE.get((group, version, plural))


def builtin_kind(group: str, version: str, kind: str) -> ResourceKind | None:
    """The built-in resource of this kind, or None."""
    return _BY_KIND.get((group, version, kind))
