"""Defaults inside a pod spec."""

from __future__ import annotations

import re

from kadm.model.objects import JsonObject, JsonValue

# distribution/reference: [host[:port]/]path[:tag][@digest]; what does not match has no tag that could be "latest"
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)


def pod_spec(spec: JsonObject) -> None:
    """Fill a pod spec, of a Pod or of a template."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:  # the deprecated alias is always written beside the name
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def template(holder: JsonObject) -> None:
    """Fill ``holder["template"]["spec"]``."""
    spec = (holder.get("template") or {}).get("spec")
    if isinstance(spec, dict):
        pod_spec(spec)


def pod_only(spec: JsonObject) -> None:
    """Fill what a Pod has by default and a template has not."""
    spec.setdefault("enableServiceLinks", True)
    for key in ("initContainers", "containers"):
        for container in spec.get(key) or ():
            _requests_from_limits(container)
            if spec.get("hostNetwork"):
                for port in container.get("ports") or ():
                    port.setdefault("hostPort", port["containerPort"])


def _requests_from_limits(container: JsonObject) -> None:
    resources = container["resources"]
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def _container(container: JsonObject) -> None:
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = _pull_policy(container.get("image") or "")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source:
            _field_ref(source)
            if source.get("fileKeyRef"):
                source["fileKeyRef"].setdefault("optional", False)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None:
            _probe(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _http_get(handler)


def _pull_policy(image: str) -> str:
    matched = _IMAGE.fullmatch(image)
    if matched is None:
        return "IfNotPresent"
    tag = matched["tag"]
    latest = tag == "latest" or (tag is None and matched["digest"] is None)
    return "Always" if latest else "IfNotPresent"


def _probe(probe: JsonObject) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    _http_get(probe)
    call = probe.get("grpc")
    if call is not None:
        call["service"] = call.get("service") or ""


def _http_get(handler: JsonObject) -> None:
    request = handler.get("httpGet")
    if request is not None:
        request.setdefault("path", "/")
        request.setdefault("scheme", "HTTP")


def _field_ref(holder: JsonObject) -> None:
    reference = holder.get("fieldRef")
    if reference is not None:
        reference.setdefault("apiVersion", "v1")


def _volume(volume: JsonObject) -> None:
    if len(volume) == 1 and "name" in volume:
        volume["emptyDir"] = {}
        return
    for name, source in volume.items():
        if isinstance(source, dict):
            volume_source(name, source)


def volume_source(name: str, source: JsonObject) -> None:
    """Fill one source of a volume or of a PersistentVolume, by its field's name."""
    match name:
        case "secret" | "configMap":
            source.setdefault("defaultMode", 0o644)
        case "downwardAPI":
            source.setdefault("defaultMode", 0o644)
            _downward_items(source)
        case "projected":
            source.setdefault("defaultMode", 0o644)
            for projection in source.get("sources") or ():
                _projection(projection)
        case "image":
            source.setdefault("pullPolicy", _pull_policy(source.get("reference") or ""))
        case "hostPath":
            source.setdefault("type", "")
        case "iscsi":
            source.setdefault("iscsiInterface", "default")
        case "rbd":
            for key, value in (("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")):
                source.setdefault(key, value)
        case "azureDisk":
            azure: tuple[tuple[str, JsonValue], ...] = (
                ("cachingMode", "ReadWrite"), ("kind", "Shared"), ("fsType", "ext4"), ("readOnly", False)
            )  # fmt: skip
            for key, value in azure:
                source.setdefault(key, value)
        case "scaleIO":
            source.setdefault("storageMode", "ThinProvisioned")
            source.setdefault("fsType", "xfs")
        case "ephemeral":
            claim = source.get("volumeClaimTemplate")
            if claim:
                claim["spec"].setdefault("volumeMode", "Filesystem")
        case _:
            pass


def _projection(projection: JsonObject) -> None:
    token = projection.get("serviceAccountToken")
    if token is not None:
        token.setdefault("expirationSeconds", 3600)
    downward = projection.get("downwardAPI")
    if downward is not None:
        _downward_items(downward)


def _downward_items(source: JsonObject) -> None:
    for item in source.get("items") or ():
        _field_ref(item)
