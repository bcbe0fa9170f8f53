"""What ``kubectl get`` prints: objects as rows of a ``meta.k8s.io/v1`` Table, with the columns of each kind.

Source of the columns: the server-side printers of Kubernetes 1.36 (pkg/printers/internalversion).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kadm.sandbox import label_selectors
from kadm.sandbox.kinds.registry import PrinterColumn, ResourceKind
from kadm.sandbox.store import Object

Cell = Any
Row = Callable[[Object, datetime], Sequence[Cell]]


class Column(msgspec.Struct, frozen=True):
    """One column; a ``wide`` one is shown with ``-o wide`` only."""

    name: str
    type: str = "string"
    wide: bool = False
    format: str = ""
    description: str = ""

    def definition(self) -> Object:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format or ("name" if self.name == "Name" else ""),
            "description": self.description,
            "priority": 1 if self.wide else 0,
        }


class Printer(msgspec.Struct, frozen=True):
    """The columns of a kind, and the cells of one object, one for each column."""

    columns: tuple[Column, ...]
    row: Row


def human_duration(seconds: float) -> str:
    """A duration as kubectl shows ages: ``42s``, ``3m10s``, ``5h``, ``2d4h``, ``300d``.

    Source: apimachinery, package duration.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 60 * 2:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 10:
        rest = whole % 60
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 60 * 3:
        return f"{minutes}m"
    hours = whole // 3600
    if hours < 8:
        rest = minutes % 60
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if hours < 24 * 8:
        rest = hours % 24
        return f"{hours // 24}d{rest}h" if rest else f"{hours // 24}d"
    if hours < 24 * 365 * 2:
        return f"{hours // 24}d"
    years = hours // 24 // 365
    days = hours // 24 % 365
    if years < 8:
        return f"{years}y{days}d" if days else f"{years}y"
    return f"{years}y"


def _since(text: str | None, now: datetime) -> str:
    if not text:
        return "<unknown>"
    return human_duration((now - datetime.fromisoformat(text)).total_seconds())


def _age(obj: Object, now: datetime) -> str:
    return _since(obj["metadata"].get("creationTimestamp"), now)


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _labels(values: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={values[key]}" for key in sorted(values)) if values else "<none>"


def _selector(selector: Object | None) -> str:
    """A label selector as text; ``<none>`` if it selects everything."""
    return label_selectors.as_text(selector) or "<none>"


def _containers(template: Object) -> tuple[str, str]:
    containers = template.get("spec", {}).get("containers") or ()
    return ",".join(item["name"] for item in containers), ",".join(item.get("image", "") for item in containers)


def _columns(*names: str) -> tuple[Column, ...]:
    """Columns from their names: a trailing ``#`` marks integers, a leading ``+`` wide ones."""
    columns = []
    for name in names:
        wide = name.startswith("+")
        text = name.lstrip("+").rstrip("#")
        columns.append(Column(text, "integer" if name.endswith("#") else "string", wide))
    return tuple(columns)


def _pod_status(pod: Object) -> tuple[str, int, int, str]:
    """(shown status, ready containers, restarts, last restart), from the phase and the container states."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    shown = status.get("reason") or status.get("phase", "Unknown")
    if any(
        item.get("type") == "PodScheduled" and item.get("reason") == "SchedulingGated"
        for item in status.get("conditions") or ()
    ):
        shown = "SchedulingGated"
    restarts = ready = 0
    last = ""
    initializing = False
    init_statuses = status.get("initContainerStatuses") or ()
    for index, item in enumerate(init_statuses):
        state = item.get("state", {})
        if (terminated := state.get("terminated")) and terminated.get("exitCode", 0) == 0:
            continue
        restarts += item.get("restartCount", 0)
        if terminated := state.get("terminated"):
            shown = f"Init:{terminated.get('reason') or 'ExitCode:' + str(terminated.get('exitCode'))}"
        elif (waiting := state.get("waiting")) and waiting.get("reason") not in (None, "", "PodInitializing"):
            shown = f"Init:{waiting['reason']}"
        else:
            shown = f"Init:{index}/{len(spec.get('initContainers') or ())}"
        initializing = True
        break
    if not initializing:
        restarts = 0
        has_running = False
        for item in reversed(status.get("containerStatuses") or ()):
            restarts += item.get("restartCount", 0)
            state = item.get("state", {})
            previous = item.get("lastState", {}).get("terminated")
            if previous and previous.get("finishedAt", "") > last:
                last = previous["finishedAt"]
            if (waiting := state.get("waiting")) and waiting.get("reason"):
                shown = waiting["reason"]
            elif terminated := state.get("terminated"):
                shown = terminated.get("reason") or f"ExitCode:{terminated.get('exitCode')}"
            elif item.get("ready") and state.get("running") is not None:
                has_running = True
                ready += 1
        if shown == "Completed" and has_running:
            shown = "Running" if _condition(pod, "Ready") == "True" else "NotReady"
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            shown = "Unknown"
        elif status.get("phase") not in ("Succeeded", "Failed"):
            shown = "Terminating"
    return shown, ready, restarts, last


def _condition(obj: Object, name: str) -> str:
    found = (item for item in obj.get("status", {}).get("conditions") or () if item.get("type") == name)
    return next((str(item.get("status", "")) for item in found), "")


def _pod(pod: Object, now: datetime) -> Sequence[Cell]:
    spec, status = pod.get("spec", {}), pod.get("status", {})
    shown, ready, restarts, last = _pod_status(pod)
    gates = spec.get("readinessGates") or ()
    met = sum(_condition(pod, gate["conditionType"]) == "True" for gate in gates)
    return (
        _name(pod),
        f"{ready}/{len(spec.get('containers') or ())}",
        shown,
        f"{restarts} ({_since(last, now)} ago)" if restarts and last else str(restarts),
        _age(pod, now),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        f"{met}/{len(gates)}" if gates else "<none>",
    )


def _deployment(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    names, images = _containers(spec["template"])
    return (
        _name(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 1)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        _age(obj, now),
        names,
        images,
        _selector(spec.get("selector")),
    )


def _replica_set(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    names, images = _containers(spec.get("template", {}))
    return (
        _name(obj),
        spec.get("replicas", 1),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        _age(obj, now),
        names,
        images,
        _selector(spec.get("selector")),
    )


def _replication_controller(obj: Object, now: datetime) -> Sequence[Cell]:
    plain = {**obj, "spec": {**obj["spec"], "selector": None}}  # its selector is a map of labels
    return (*_replica_set(plain, now)[:-1], _labels(obj["spec"].get("selector")))


def _stateful_set(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    names, images = _containers(spec["template"])
    return (
        _name(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 1)}",
        _age(obj, now),
        names,
        images,
    )


def _daemon_set(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    names, images = _containers(spec["template"])
    return (
        _name(obj),
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        _labels(spec["template"].get("spec", {}).get("nodeSelector")),
        _age(obj, now),
        names,
        images,
        _selector(spec.get("selector")),
    )


def _job(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    names, images = _containers(spec["template"])
    succeeded = status.get("succeeded", 0)
    if "completions" in spec:
        completions = f"{succeeded}/{spec['completions']}"
    else:
        parallelism = spec.get("parallelism", 1)
        completions = f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"
    if _condition(obj, "Complete") == "True":
        shown = "Complete"
    elif _condition(obj, "Failed") == "True":
        shown = "Failed"
    elif obj["metadata"].get("deletionTimestamp"):
        shown = "Terminating"
    elif _condition(obj, "Suspended") == "True":
        shown = "Suspended"
    elif _condition(obj, "FailureTarget") == "True":
        shown = "FailureTarget"
    elif _condition(obj, "SuccessCriteriaMet") == "True":
        shown = "SuccessCriteriaMet"
    else:
        shown = "Running"
    duration = ""
    if start := status.get("startTime"):
        end = datetime.fromisoformat(status["completionTime"]) if status.get("completionTime") else now
        duration = human_duration((end - datetime.fromisoformat(start)).total_seconds())
    return _name(obj), shown, completions, duration, _age(obj, now), names, images, _selector(spec.get("selector"))


def _cron_job(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    names, images = _containers(spec["jobTemplate"].get("spec", {}).get("template", {}))
    last = status.get("lastScheduleTime")
    return (
        _name(obj),
        spec["schedule"],
        spec.get("timeZone") or "<none>",
        "True" if spec.get("suspend") else "False",
        len(status.get("active") or ()),
        _since(last, now) if last else "<none>",
        _age(obj, now),
        names,
        images,
        _selector(spec["jobTemplate"].get("spec", {}).get("selector")),
    )


def _service(obj: Object, now: datetime) -> Sequence[Cell]:
    spec = obj["spec"]
    ports = [
        f"{port['port']}:{port['nodePort']}/{port.get('protocol', 'TCP')}"
        if port.get("nodePort")
        else f"{port['port']}/{port.get('protocol', 'TCP')}"
        for port in spec.get("ports") or ()
    ]
    external = list(spec.get("externalIPs") or ())
    kind = spec.get("type", "ClusterIP")
    if kind == "LoadBalancer":
        ingress = obj.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
        external = [item.get("ip") or item.get("hostname", "") for item in ingress] + external or ["<pending>"]
    elif kind == "ExternalName":
        external = [spec.get("externalName", "")]
    return (
        _name(obj),
        kind,
        spec.get("clusterIP") or "<none>",
        ",".join(external) or "<none>",
        ",".join(ports) or "<none>",
        _age(obj, now),
        _labels(spec.get("selector")),
    )


def _node(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    ready = _condition(obj, "Ready")
    shown = "Ready" if ready == "True" else "NotReady" if ready else "Unknown"
    if spec.get("unschedulable"):
        shown += ",SchedulingDisabled"
    labels = obj["metadata"].get("labels") or {}
    prefix = "node-role.kubernetes.io/"
    roles = sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix) and key != prefix)
    addresses = {item["type"]: item["address"] for item in status.get("addresses") or ()}
    info = status.get("nodeInfo", {})
    return (
        _name(obj),
        shown,
        ",".join(roles) or "<none>",
        _age(obj, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    )


def _claim(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    phase = "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", "")
    bound = bool(spec.get("volumeName"))
    return (
        _name(obj),
        phase,
        spec.get("volumeName", ""),
        status.get("capacity", {}).get("storage", "") if bound else "",
        _access_modes(status.get("accessModes")) if bound else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        _age(obj, now),
        spec.get("volumeMode") or "<unset>",
    )


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _access_modes(modes: Sequence[str] | None) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _volume(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    claim = spec.get("claimRef") or {}
    return (
        _name(obj),
        spec.get("capacity", {}).get("storage", ""),
        _access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", ""),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        status.get("reason", ""),
        _age(obj, now),
        spec.get("volumeMode") or "<unset>",
    )


def _event(obj: Object, now: datetime) -> Sequence[Cell]:
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    first = obj.get("firstTimestamp") or obj.get("eventTime")
    last = obj.get("lastTimestamp") or first
    source = obj.get("source") or {}
    origin = source.get("component") or obj.get("reportingComponent", "")
    return (
        _since(last, now) if last else "<unknown>",
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{about.get('kind', '').lower()}/{about.get('name', '')}",
        about.get("fieldPath", ""),
        f"{origin}, {source['host']}" if source.get("host") else origin,
        (obj.get("message") or obj.get("note") or "").strip(),
        _since(first, now) if first else "<unknown>",
        obj.get("count", 1),
        _name(obj),
    )


def _ingress(obj: Object, now: datetime) -> Sequence[Cell]:
    spec = obj.get("spec", {})
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    ingress = obj.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
    return (
        _name(obj),
        spec.get("ingressClassName") or "<none>",
        ",".join(hosts[:3]) + (f" + {len(hosts) - 3} more..." if len(hosts) > 3 else "") if hosts else "*",
        ",".join(item.get("ip") or item.get("hostname", "") for item in ingress),
        "80, 443" if spec.get("tls") else "80",
        _age(obj, now),
    )


def _endpoints(obj: Object, now: datetime) -> Sequence[Cell]:
    found = [
        f"{address['ip']}:{port['port']}"
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    shown = ",".join(found[:3]) + (f" + {len(found) - 3} more..." if len(found) > 3 else "")
    return _name(obj), shown or "<none>", _age(obj, now)


def _endpoint_slice(obj: Object, now: datetime) -> Sequence[Cell]:
    ports = [str(port.get("port", "")) for port in obj.get("ports") or ()]
    addresses = [address for item in obj.get("endpoints") or () for address in item.get("addresses") or ()]
    return (
        _name(obj),
        obj.get("addressType", ""),
        ",".join(ports[:3]) or "<unset>",
        ",".join(addresses[:3]) + (f" + {len(addresses) - 3} more..." if len(addresses) > 3 else "") or "<unset>",
        _age(obj, now),
    )


def _autoscaler(obj: Object, now: datetime) -> Sequence[Cell]:
    spec, status = obj["spec"], obj.get("status", {})
    target = spec["scaleTargetRef"]
    metrics = []
    for metric in spec.get("metrics") or ():
        resource = metric.get("resource") or {}
        wanted = resource.get("target", {})
        percent = wanted.get("averageUtilization")
        aim = f"{percent}%" if percent is not None else wanted.get("averageValue", "<auto>")
        metrics.append(f"{resource.get('name', metric['type'].lower())}: <unknown>/{aim}")
    return (
        _name(obj),
        f"{target['kind']}/{target['name']}",
        ", ".join(metrics[:2]) or "<none>",
        str(spec.get("minReplicas", "<unset>")),
        spec["maxReplicas"],
        status.get("currentReplicas", 0),
        _age(obj, now),
    )


def _disruption_budget(obj: Object, now: datetime) -> Sequence[Cell]:
    spec = obj.get("spec", {})
    return (
        _name(obj),
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        obj.get("status", {}).get("disruptionsAllowed", 0),
        _age(obj, now),
    )


def _quota(obj: Object, now: datetime) -> Sequence[Cell]:
    hard, used = obj.get("status", {}).get("hard") or {}, obj.get("status", {}).get("used") or {}
    limits = [key for key in sorted(hard) if key.startswith("limits")]
    others = [key for key in sorted(hard) if not key.startswith("limits")]

    def shown(keys: list[str]) -> str:
        return ", ".join(f"{key}: {used.get(key, '0')}/{hard[key]}" for key in keys)

    return _name(obj), shown(others), shown(limits), _age(obj, now)


def _lease(obj: Object, now: datetime) -> Sequence[Cell]:
    return _name(obj), obj.get("spec", {}).get("holderIdentity", ""), _age(obj, now)


def _dated(obj: Object, now: datetime) -> Sequence[Cell]:
    return _name(obj), obj["metadata"].get("creationTimestamp", "")


def _binding(obj: Object, now: datetime) -> Sequence[Cell]:
    ref = obj["roleRef"]
    by_kind: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or ():
        name = subject["name"]
        if subject["kind"] == "ServiceAccount":
            name = f"{subject.get('namespace', '')}/{name}"
        by_kind.setdefault(subject["kind"], []).append(name)
    shown = [", ".join(by_kind[kind]) for kind in ("User", "Group", "ServiceAccount")]
    return _name(obj), f"{ref['kind']}/{ref['name']}", _age(obj, now), *shown


def _network_policy(obj: Object, now: datetime) -> Sequence[Cell]:
    return _name(obj), _selector(obj.get("spec", {}).get("podSelector")), _age(obj, now)


def _controller_revision(obj: Object, now: datetime) -> Sequence[Cell]:
    owner = next((ref for ref in obj["metadata"].get("ownerReferences") or () if ref.get("controller")), None)
    shown = "<none>"
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        shown = f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"
    return _name(obj), shown, obj.get("revision", 0), _age(obj, now)


def _storage_class(obj: Object, now: datetime) -> Sequence[Cell]:
    annotations = obj["metadata"].get("annotations") or {}
    name = _name(obj)
    if annotations.get("storageclass.kubernetes.io/is-default-class") == "true":
        name += " (default)"
    return (
        name,
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        "true" if obj.get("allowVolumeExpansion") else "false",
        _age(obj, now),
    )


def _ingress_class(obj: Object, now: datetime) -> Sequence[Cell]:
    spec = obj.get("spec", {})
    parameters = spec.get("parameters")
    shown = "<none>"
    if parameters:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        shown = f"{parameters['kind']}{group}/{parameters['name']}"
    return _name(obj), spec.get("controller", ""), shown, _age(obj, now)


def _priority_class(obj: Object, now: datetime) -> Sequence[Cell]:
    policy = obj.get("preemptionPolicy") or "<unset>"
    return _name(obj), obj.get("value", 0), "true" if obj.get("globalDefault") else "false", _age(obj, now), policy


def _webhooks(obj: Object, now: datetime) -> Sequence[Cell]:
    return _name(obj), len(obj.get("webhooks") or ()), _age(obj, now)


def _named(obj: Object, now: datetime) -> Sequence[Cell]:
    return _name(obj), _age(obj, now)


_NAMED = Printer(_columns("Name", "Age"), _named)
_WORKLOAD = ("+Containers", "+Images", "+Selector")
_BINDING = _columns("Name", "Role", "Age", "+Users", "+Groups", "+ServiceAccounts")

PRINTERS: Mapping[str, Printer] = {
    "configmaps": Printer(
        _columns("Name", "Data", "Age"),
        lambda obj, now: (
            _name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), _age(obj, now),
        ),
    ),
    "secrets": Printer(
        _columns("Name", "Type", "Data", "Age"),
        lambda obj, now: (_name(obj), obj.get("type", ""), len(obj.get("data") or ()), _age(obj, now)),
    ),
    "namespaces": Printer(
        _columns("Name", "Status", "Age"),
        lambda obj, now: (_name(obj), obj.get("status", {}).get("phase", ""), _age(obj, now)),
    ),
    "serviceaccounts": Printer(
        _columns("Name", "Age"),
        _named,
    ),
    "pods": Printer(
        _columns(
            "Name", "Ready", "Status", "Restarts", "Age", "+IP", "+Node", "+Nominated Node", "+Readiness Gates",
        ),
        _pod,
    ),
    "nodes": Printer(
        _columns(
            "Name", "Status", "Roles", "Age", "Version", "+Internal-IP", "+External-IP", "+OS-Image", "+Kernel-Version",
            "+Container-Runtime",
        ),
        _node,
    ),
    "services": Printer(
        _columns("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"), _service
    ),
    "endpoints": Printer(_columns("Name", "Endpoints", "Age"), _endpoints),
    "endpointslices.discovery.k8s.io": Printer(
        _columns("Name", "AddressType", "Ports", "Endpoints", "Age"), _endpoint_slice
    ),
    "events": Printer(
        _columns(
            "Last Seen", "Type", "Reason", "Object", "+Subobject", "+Source", "Message", "+First Seen", "+Count",
            "+Name",
        ),
        _event,
    ),
    "persistentvolumeclaims": Printer(
        _columns(
            "Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass", "Age",
            "+VolumeMode",
        ),
        _claim,
    ),
    "persistentvolumes": Printer(
        _columns(
            "Name", "Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim", "StorageClass",
            "VolumeAttributesClass", "Reason", "Age", "+VolumeMode",
        ),
        _volume,
    ),
    "resourcequotas": Printer(_columns("Name", "Request", "Limit", "Age"), _quota),
    "replicationcontrollers": Printer(
        _columns("Name", "Desired#", "Current#", "Ready#", "Age", *_WORKLOAD), _replication_controller
    ),
    "deployments.apps": Printer(
        _columns("Name", "Ready", "Up-to-date", "Available", "Age", *_WORKLOAD), _deployment
    ),
    "replicasets.apps": Printer(_columns("Name", "Desired#", "Current#", "Ready#", "Age", *_WORKLOAD), _replica_set),
    "statefulsets.apps": Printer(_columns("Name", "Ready", "Age", "+Containers", "+Images"), _stateful_set),
    "daemonsets.apps": Printer(
        _columns(
            "Name", "Desired#", "Current#", "Ready#", "Up-to-date#", "Available#", "Node Selector", "Age", *_WORKLOAD
        ),
        _daemon_set,
    ),
    "jobs.batch": Printer(_columns("Name", "Status", "Completions", "Duration", "Age", *_WORKLOAD), _job),
    "cronjobs.batch": Printer(
        _columns("Name", "Schedule", "Timezone", "Suspend", "Active#", "Last Schedule", "Age", *_WORKLOAD), _cron_job
    ),
    "horizontalpodautoscalers.autoscaling": Printer(
        _columns("Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"), _autoscaler
    ),
    "poddisruptionbudgets.policy": Printer(
        _columns("Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"), _disruption_budget
    ),
    "ingresses.networking.k8s.io": Printer(_columns("Name", "Class", "Hosts", "Address", "Ports", "Age"), _ingress),
    "networkpolicies.networking.k8s.io": Printer(_columns("Name", "Pod-Selector", "Age"), _network_policy),
    "limitranges": Printer(_columns("Name", "Created At"), _dated),
    "controllerrevisions.apps": Printer(_columns("Name", "Controller", "Revision#", "Age"), _controller_revision),
    "storageclasses.storage.k8s.io": Printer(
        _columns("Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"),
        _storage_class,
    ),
    "ingressclasses.networking.k8s.io": Printer(_columns("Name", "Controller", "Parameters", "Age"), _ingress_class),
    "priorityclasses.scheduling.k8s.io": Printer(
        _columns("Name", "Value#", "Global-Default", "Age", "PreemptionPolicy"), _priority_class
    ),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": Printer(
        _columns("Name", "Webhooks#", "Age"), _webhooks
    ),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": Printer(
        _columns("Name", "Webhooks#", "Age"), _webhooks
    ),
    "leases.coordination.k8s.io": Printer(_columns("Name", "Holder", "Age"), _lease),
    "customresourcedefinitions.apiextensions.k8s.io": Printer(_columns("Name", "Created At"), _dated),
    "roles.rbac.authorization.k8s.io": Printer(_columns("Name", "Created At"), _dated),
    "clusterroles.rbac.authorization.k8s.io": Printer(_columns("Name", "Created At"), _dated),
    "rolebindings.rbac.authorization.k8s.io": Printer(_BINDING, _binding),
    "clusterrolebindings.rbac.authorization.k8s.io": Printer(_BINDING, _binding),
}  # fmt: skip
"""The printer of each resource; the rest show name and age."""


def _custom_printer(columns: Sequence[PrinterColumn]) -> Printer:
    shown = (
        Column("Name"),
        *(Column(item.name, item.type, item.priority > 0, item.format, item.description) for item in columns),
    )

    def row(obj: Object, now: datetime) -> Sequence[Cell]:
        return (_name(obj), *(_custom_cell(obj, item, now) for item in columns))

    return Printer(shown, row)


def _custom_cell(obj: Object, column: PrinterColumn, now: datetime) -> Cell:
    value: Any = obj
    for step in column.json_path.strip("{}").lstrip(".").split("."):
        key, _, rest = step.partition("[")
        value = value.get(key) if isinstance(value, dict) else None
        if rest and isinstance(value, list):
            index = rest.rstrip("]")
            position = int(index) if index.lstrip("-").isdigit() else 0
            value = value[position] if -len(value) <= position < len(value) else None
    if value is None:
        return None
    match column.type:
        case "integer" | "number" | "boolean":
            return value
        case "date":
            return _since(str(value), now)
        case _:
            return value if isinstance(value, str) else msgspec.json.encode(value).decode()


_CUSTOM_AGE = PrinterColumn(name="Age", type="date", json_path=".metadata.creationTimestamp")


def printer_of(kind: ResourceKind) -> Printer:
    """How objects of a kind are printed."""
    if kind.custom is not None:
        return _custom_printer(kind.custom.columns or (_CUSTOM_AGE,))
    return PRINTERS.get(f"{kind.plural}.{kind.storage_group}" if kind.storage_group else kind.plural, _NAMED)


def partial(obj: Object) -> Object:
    """Only the metadata of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def table(
    kind: ResourceKind,
    objects: Sequence[Object],
    now: datetime,
    *,
    metadata: Object,
    include: str = "Metadata",
    columns: bool = True,
) -> Object:
    """A Table of objects in the kind's version. ``include`` is what a row carries: None, Metadata or Object.

    ``columns`` False leaves the definitions out, as in all but the first event of a watch.
    """
    printer = printer_of(kind)
    rows: list[Object] = []
    for obj in objects:
        row: Object = {"cells": list(printer.row(obj, now))}
        if include == "Object":
            row["object"] = obj
        elif include != "None":
            row["object"] = partial(obj)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in printer.columns] if columns else None,
        "rows": rows,
    }
