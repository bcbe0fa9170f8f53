"""What admission plugins add to new objects, and what they refuse.

The plugins are those of a default API server that change or refuse what the sandbox serves: ServiceAccount, Priority,
DefaultTolerationSeconds, LimitRanger, DefaultStorageClass, StorageObjectInUseProtection, TaintNodesByCondition.
Functions change the object given, which the caller owns, and raise ApiError 403.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import limits
from kadm.sandbox.responses import ApiError, forbidden

_TOKEN_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105  # a path
_TOKEN_LIFETIME_S = 3607
_TOLERATION_S = 300
_BUILTIN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class Reader(Protocol):
    """What admission may look up; ``ApiServer`` is one."""

    def find(self, resource: str, namespace: str, name: str) -> JsonObject | None:
        """The object, or None if there is none. ``namespace`` is "" for cluster-scoped resources."""

    def list(self, resource: str, namespace: str | None = None) -> list[JsonObject]:
        """The objects in name order; ``namespace`` None means all."""


def pod(obj: JsonObject, reader: Reader, suffix: Callable[[], str]) -> None:
    """A new Pod: account, token volume, priority, tolerations, limits."""
    _service_account(obj, reader, suffix)
    limits.admit_pod(obj, reader.list("limitranges", obj["metadata"]["namespace"]))
    _priority(obj, reader)
    tolerations(obj)


def _name(obj: JsonObject) -> str:
    metadata = obj["metadata"]
    return str(metadata.get("name") or metadata.get("generateName") or "")


def _refused(obj: JsonObject, why: str) -> ApiError:
    return forbidden("pods", "", _name(obj), why)


def _service_account(obj: JsonObject, reader: Reader, suffix: Callable[[], str]) -> None:
    spec, namespace = obj["spec"], obj["metadata"]["namespace"]
    name = spec.get("serviceAccountName") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = reader.find("serviceaccounts", namespace, name)
    if account is None:
        raise _refused(obj, f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found')
    mounts = spec.get("automountServiceAccountToken")
    if mounts is None:
        mounts = account.get("automountServiceAccountToken", True)
    if mounts:
        _mount_token(spec, suffix)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{**secret} for secret in account["imagePullSecrets"]]


def _mount_token(spec: JsonObject, suffix: Callable[[], str]) -> None:
    name = ""
    for key in ("initContainers", "containers"):
        for container in spec.get(key) or ():
            mounted = container.get("volumeMounts") or []
            if any(mount["mountPath"] == _TOKEN_MOUNT for mount in mounted):
                continue
            name = name or f"kube-api-access-{suffix()}"
            container["volumeMounts"] = [*mounted, {"name": name, "readOnly": True, "mountPath": _TOKEN_MOUNT}]
    if name:
        spec["volumes"] = [*(spec.get("volumes") or ()), _token_volume(name)]


def _token_volume(name: str) -> JsonObject:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_LIFETIME_S, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}


def _priority(obj: JsonObject, reader: Reader) -> None:
    spec = obj["spec"]
    name = spec.get("priorityClassName")
    value, policy = 0, "PreemptLowerPriority"
    if name in _BUILTIN_PRIORITIES:
        value = _BUILTIN_PRIORITIES[name]
    elif name:
        found = reader.find("priorityclasses.scheduling.k8s.io", "", name)
        if found is None:
            raise _refused(obj, f"no PriorityClass with name {name} was found")
        value, policy = found["value"], found["preemptionPolicy"]
    else:
        chosen = [each for each in reader.list("priorityclasses.scheduling.k8s.io") if each.get("globalDefault")]
        if chosen:
            lowest = min(chosen, key=lambda each: (each["value"], each["metadata"]["name"]))
            spec["priorityClassName"] = lowest["metadata"]["name"]
            value, policy = lowest["value"], lowest["preemptionPolicy"]
    wanted = spec.get("priority")
    if wanted is not None and wanted != value:
        why = (
            f"the integer value of priority ({wanted}) must not be provided in pod spec; priority admission controller "
        )
        raise _refused(obj, f"{why}computed {value} from the given PriorityClass name")
    spec["priority"] = value
    spec.setdefault("preemptionPolicy", policy)


def tolerations(obj: JsonObject) -> None:
    """Let a pod stay for five minutes on a node that is not ready or cannot be reached, unless it says so itself."""
    spec = obj["spec"]
    held = spec.get("tolerations") or []
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATION_S}
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        if not any(
            toleration.get("key") in (key, None) and toleration.get("effect") in ("NoExecute", None)
            for toleration in held
        )
    ]
    if added:
        spec["tolerations"] = [*held, *added]


def persistent_volume_claim(obj: JsonObject, reader: Reader) -> None:
    """A new claim: it is protected while in use, and of the default class where it names none."""
    protect(obj, "kubernetes.io/pvc-protection")
    limits.admit_claim(obj, reader.list("limitranges", obj["metadata"]["namespace"]))
    annotated = "volume.beta.kubernetes.io/storage-class" in (obj["metadata"].get("annotations") or {})
    if "storageClassName" in obj["spec"] or annotated:
        return
    classes = [
        each
        for each in reader.list("storageclasses.storage.k8s.io")
        if (each["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    ]
    if classes:  # the newest wins, then the first name
        newest = max(each["metadata"]["creationTimestamp"] for each in classes)
        names = [each["metadata"]["name"] for each in classes if each["metadata"]["creationTimestamp"] == newest]
        obj["spec"]["storageClassName"] = min(names)


def protect(obj: JsonObject, finalizer: str) -> None:
    """Put a finalizer on an object that lacks it."""
    held = obj["metadata"].get("finalizers") or []
    if finalizer not in held:
        obj["metadata"]["finalizers"] = [*held, finalizer]


def node(obj: JsonObject) -> None:
    """A new node takes no pods until it is seen ready."""
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    held = obj["spec"].get("taints") or []
    if not any((each["key"], each["effect"]) == (taint["key"], taint["effect"]) for each in held):
        obj["spec"]["taints"] = [*held, taint]
