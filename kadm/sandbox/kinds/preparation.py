"""What the server itself sets on objects of single kinds, when they are created and when they change.

Functions change the object given, which the caller owns. Source: the ``PrepareForCreate`` and ``PrepareForUpdate``
strategies of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds import admission, allocation, crds
from kadm.sandbox.kinds.defaults.core import NAME_LABEL
from kadm.sandbox.kinds.defaults.workloads import TEMPLATE_GENERATION
from kadm.sandbox.kinds.qos import qos_class

KEEP_STATUS_AT_CREATE = frozenset({("v1", "Node"), ("v1", "Event"), ("v1", "Endpoints")})
"""The kinds with a status subresource whose creator may set status."""


def _namespace(obj: JsonObject) -> None:
    spec = obj["spec"]
    held = spec.get("finalizers") or []
    if "kubernetes" not in held:
        spec["finalizers"] = [*held, "kubernetes"]
    obj["status"] = {"phase": "Active"}
    name = obj["metadata"].get("name")
    if name:
        obj["metadata"].setdefault("labels", {})[NAME_LABEL] = name


def _pod(obj: JsonObject) -> None:
    obj["status"] = {"phase": "Pending", "qosClass": qos_class(obj["spec"])}
    gates = obj["spec"].get("schedulingGates")
    if gates:
        reason = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        message = "Scheduling is blocked due to non-empty scheduling gates"
        obj["status"]["conditions"] = [
            {**reason, "lastProbeTime": None, "lastTransitionTime": None, "message": message}
        ]


def _job(obj: JsonObject) -> None:
    """Give a Job the selector and labels that tie its pods to it, unless it brings its own."""
    spec, metadata = obj["spec"], obj["metadata"]
    if not spec.get("manualSelector"):
        uid, name = metadata["uid"], metadata.get("name") or ""
        labels = {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": name,
            "controller-uid": uid,
            "job-name": name,
        }
        template = spec["template"]["metadata"]
        template["labels"] = {**(template.get("labels") or {}), **labels}
        selector = spec.setdefault("selector", {})
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), "batch.kubernetes.io/controller-uid": uid}
    labels_of_pods = spec["template"]["metadata"].get("labels")
    if labels_of_pods and not metadata.get("labels"):
        metadata["labels"] = dict(labels_of_pods)


def _daemon_set(obj: JsonObject) -> None:
    obj["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def _claim(obj: JsonObject) -> None:
    obj["status"] = {"phase": "Pending"}
    _same_source(obj["spec"])


def _same_source(spec: JsonObject) -> None:
    """``dataSource`` and ``dataSourceRef`` say the same: either fills the other."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not reference:
        spec["dataSourceRef"] = {**source}
    elif reference and not source and not reference.get("namespace"):
        spec["dataSource"] = {**reference}


def _volume(obj: JsonObject) -> None:
    obj["status"] = {"phase": "Pending"}
    admission.protect(obj, "kubernetes.io/pv-protection")


def _crd(obj: JsonObject) -> None:
    stored = [version["name"] for version in obj["spec"].get("versions") or () if version["storage"]]
    obj["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored or None,
    }


AT_CREATE: dict[tuple[str, str], Callable[[JsonObject], None]] = {
    ("v1", "Namespace"): _namespace,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Pod"): _pod,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): _crd,
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("batch/v1", "Job"): _job,
}
"""(apiVersion, kind) → what a new object is given."""


def _keep_finalizers(new: JsonObject, old: JsonObject) -> None:
    """A namespace's own finalizers change by its ``finalize`` subresource only."""
    held = old["spec"].get("finalizers")
    if held:
        new["spec"]["finalizers"] = held
    else:
        new["spec"].pop("finalizers", None)


def _claim_update(new: JsonObject, _: JsonObject) -> None:
    _same_source(new["spec"])


def _count_template(new: JsonObject, old: JsonObject) -> None:
    """Count the templates of a DaemonSet in its annotation."""
    held = (old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1")
    if new["spec"]["template"] != old["spec"]["template"]:
        held = str(int(held) + 1) if held.isdigit() else "1"
    new["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = held


def _pod_update(new: JsonObject, old: JsonObject) -> None:
    for key in ("priority", "preemptionPolicy"):
        if key in old["spec"]:
            new["spec"].setdefault(key, old["spec"][key])
    admission.tolerations(new)


def _crd_update(new: JsonObject, old: JsonObject) -> None:
    """A new storage version is remembered in status: objects may be stored in it from now on."""
    stored = list(old["status"].get("storedVersions") or ())
    version = crds.storage_version(new)
    if version and version not in stored:
        new["status"] = {**new["status"], "storedVersions": [*stored, version]}


AT_UPDATE: dict[tuple[str, str], Callable[[JsonObject, JsonObject], None]] = {
    ("v1", "Namespace"): _keep_finalizers,
    ("v1", "PersistentVolumeClaim"): _claim_update,
    ("v1", "Pod"): _pod_update,
    ("v1", "Service"): allocation.keep_allocated,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): _crd_update,
    ("apps/v1", "DaemonSet"): _count_template,
}
"""(apiVersion, kind) → what an ordinary update is given, from the old object (second)."""


def resized(new: JsonObject, old: JsonObject) -> JsonObject:
    """``old`` with the resources that ``new`` gives to its containers: the ``resize`` subresource of a Pod."""
    spec = {**old["spec"]}
    for key in ("containers", "initContainers"):
        given = {each.get("name"): each.get("resources") or {} for each in new["spec"].get(key) or ()}
        if spec.get(key):
            spec[key] = [{**each, "resources": given.get(each["name"], each["resources"])} for each in spec[key]]
    return {**old, "metadata": new["metadata"], "spec": spec}


def with_ephemeral_containers(new: JsonObject, old: JsonObject) -> JsonObject:
    """``old`` with the ephemeral containers of ``new``: the ``ephemeralcontainers`` subresource of a Pod."""
    spec = {**old["spec"]}
    if new["spec"].get("ephemeralContainers"):
        spec["ephemeralContainers"] = new["spec"]["ephemeralContainers"]
    return {**old, "metadata": new["metadata"], "spec": spec}


def _wanted(obj: JsonObject) -> JsonValue:
    """What the user wants, as ``generation`` counts it: all but metadata and status."""
    return {key: value for key, value in obj.items() if key not in ("metadata", "status", "apiVersion", "kind")}


def generation_moves(new: JsonObject, old: JsonObject, *, has_status: bool) -> bool:
    """Whether an update raises ``metadata.generation``.

    A Deployment counts its annotations too, for its controller copies them. Without a status subresource status is an
    ordinary field.
    """
    if _wanted(new) != _wanted(old):
        return True
    if not has_status and new.get("status") != old.get("status"):
        return True
    if new["kind"] == "Deployment" and new["apiVersion"] == "apps/v1":
        return (new["metadata"].get("annotations") or {}) != (old["metadata"].get("annotations") or {})
    return False
