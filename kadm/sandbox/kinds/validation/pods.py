"""Faults of pod specs and of Pods."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds import quantities
from kadm.sandbox.kinds.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid_value,
    not_found,
    not_supported,
    required,
)
from kadm.sandbox.kinds.validation import metadata, names, values

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_TOLERATION_OPERATORS = ("Equal", "Exists")
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_IMMUTABLE_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def template(value: JsonObject, field: str) -> list[FieldError]:
    """The faults of a pod template."""
    return template_metadata(value, field) + pod_spec(value.get("spec") or {}, f"{field}.spec")


def template_metadata(value: JsonObject, field: str) -> list[FieldError]:
    """The faults of a pod template's labels and annotations."""
    held = value.get("metadata") or {}
    errors = metadata.label_map(held.get("labels") or {}, f"{field}.labels")
    return errors + metadata.annotation_map(held.get("annotations") or {}, f"{field}.annotations")


def pod_spec(spec: JsonObject, field: str) -> list[FieldError]:
    """The faults of a pod spec."""
    errors = _volumes(spec.get("volumes") or (), f"{field}.volumes")
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    containers = spec.get("containers") or ()
    if not containers:
        errors.append(required(f"{field}.containers"))
    seen: set[str] = set()
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            errors += _container(container, f"{field}.{key}[{index}]", volumes)
            name = container.get("name")
            if name and name in seen:
                errors.append(duplicate(f"{field}.{key}[{index}].name", name))
            seen.add(name)
    policy = spec.get("restartPolicy")
    if policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{field}.restartPolicy", policy, _RESTART_POLICIES))
    if spec.get("dnsPolicy") not in _DNS_POLICIES:
        errors.append(not_supported(f"{field}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES))
    account = spec.get("serviceAccountName")
    if account:
        errors += [invalid_value(f"{field}.serviceAccountName", account, each) for each in names.dns_subdomain(account)]
    if spec.get("nodeName"):
        errors += [
            invalid_value(f"{field}.nodeName", spec["nodeName"], each) for each in names.dns_subdomain(spec["nodeName"])
        ]
    errors += metadata.label_map(spec.get("nodeSelector") or {}, f"{field}.nodeSelector")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and deadline < 1:
        errors.append(
            invalid_value(f"{field}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
        )
    grace = spec.get("terminationGracePeriodSeconds")
    errors += values.not_negative(grace, f"{field}.terminationGracePeriodSeconds")
    for key in ("hostname", "subdomain"):
        if spec.get(key):
            errors += [invalid_value(f"{field}.{key}", spec[key], each) for each in names.dns_label(spec[key])]
    errors += _tolerations(spec.get("tolerations") or (), f"{field}.tolerations")
    return errors + _spread(spec.get("topologySpreadConstraints") or (), f"{field}.topologySpreadConstraints")


def _volumes(volumes: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        at = f"{field}[{index}]"
        name = volume.get("name") or ""
        if not name:
            errors.append(required(f"{at}.name"))
        else:
            errors += [invalid_value(f"{at}.name", name, each) for each in names.dns_label(name)]
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        errors += _volume_source(volume, at)
    return errors


_SOURCE_NAMES = {"persistentVolumeClaim": "claimName", "secret": "secretName", "configMap": "name", "hostPath": "path"}
"""Source of a volume → its field that must not be empty."""


def _volume_source(volume: JsonObject, field: str) -> list[FieldError]:
    sources = [key for key, value in volume.items() if isinstance(value, dict)]
    if not sources:
        return [required(field, "must specify a volume type")]
    errors = [forbidden(f"{field}.{extra}", "may not specify more than 1 volume type") for extra in sources[1:]]
    key = _SOURCE_NAMES.get(sources[0])
    if key and not volume[sources[0]].get(key):
        errors.append(required(f"{field}.{sources[0]}.{key}"))
    return errors


def _container(container: JsonObject, field: str, volumes: set[JsonValue]) -> list[FieldError]:
    errors: list[FieldError] = []
    name, image = container.get("name") or "", container.get("image") or ""
    if not name:
        errors.append(required(f"{field}.name"))
    else:
        errors += [invalid_value(f"{field}.name", name, each) for each in names.dns_label(name)]
    if not image:
        errors.append(required(f"{field}.image"))
    elif image != image.strip():
        errors.append(invalid_value(f"{field}.image", image, "must not have leading or trailing whitespace"))
    errors += _ports(container.get("ports") or (), f"{field}.ports")
    errors += _environment(container.get("env") or (), f"{field}.env")
    errors += _mounts(container.get("volumeMounts") or (), f"{field}.volumeMounts", volumes)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(probe) is not None:
            errors += _probe(container[probe], f"{field}.{probe}")
    policy = container.get("imagePullPolicy")
    if policy not in _PULL_POLICIES:
        errors.append(not_supported(f"{field}.imagePullPolicy", policy, _PULL_POLICIES))
    return errors + _resources(container.get("resources") or {}, f"{field}.resources")


def _ports(ports: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at = f"{field}[{index}]"
        name, number = port.get("name"), port.get("containerPort")
        if name:
            errors += [invalid_value(f"{at}.name", name, each) for each in names.port_name(name)]
            if name in seen:
                errors.append(duplicate(f"{at}.name", name))
            seen.add(name)
        if not number:
            errors.append(required(f"{at}.containerPort"))
        else:
            errors += [invalid_value(f"{at}.containerPort", number, each) for each in names.port_number(number)]
        if port.get("hostPort"):
            errors += [
                invalid_value(f"{at}.hostPort", port["hostPort"], each) for each in names.port_number(port["hostPort"])
            ]
        errors += values.one_of(port.get("protocol"), f"{at}.protocol", _PROTOCOLS)
    return errors


def _environment(variables: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, variable in enumerate(variables):
        at = f"{field}[{index}]"
        name = variable.get("name")
        if not name:
            errors.append(required(f"{at}.name"))
        else:
            errors += [invalid_value(f"{at}.name", name, each) for each in names.env_name(name)]
        source = variable.get("valueFrom")
        if source is None:
            continue
        if variable.get("value"):
            why = "may not be specified when `value` is not empty"
            errors.append(invalid_value(f"{at}.valueFrom", "", why))
        if not source:
            why = (
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
            )
            errors.append(invalid_value(f"{at}.valueFrom", "", why))
        elif len(source) > 1:
            errors.append(invalid_value(f"{at}.valueFrom", "", "may not have more than one field specified at a time"))
        for key in ("configMapKeyRef", "secretKeyRef"):
            if source.get(key) is not None and not source[key].get("key"):
                errors.append(required(f"{at}.valueFrom.{key}.key"))
    return errors


def _mounts(mounts: Iterable[JsonObject], field: str, volumes: set[JsonValue]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        at = f"{field}[{index}]"
        name, path = mount.get("name"), mount.get("mountPath")
        if not name:
            errors.append(required(f"{at}.name"))
        elif name not in volumes:
            errors.append(not_found(f"{at}.name", name))
        if not path:
            errors.append(required(f"{at}.mountPath"))
        elif path in seen:
            errors.append(invalid_value(f"{at}.mountPath", path, "must be unique"))
        seen.add(path or "")
        if mount.get("subPath") and mount.get("subPathExpr"):
            errors.append(
                invalid_value(
                    f"{at}.subPathExpr", mount["subPathExpr"], "subPathExpr and subPath are mutually exclusive"
                )
            )
    return errors


def _probe(probe: JsonObject, field: str) -> list[FieldError]:
    given = [key for key in _HANDLERS if probe.get(key) is not None]
    errors: list[FieldError] = []
    if not given:
        errors.append(required(field, "must specify a handler type"))
    errors += [forbidden(f"{field}.{extra}", "may not specify more than 1 handler type") for extra in given[1:]]
    for key in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        errors += values.not_negative(probe.get(key), f"{field}.{key}")
    for key in ("httpGet", "tcpSocket"):
        port = (probe.get(key) or {}).get("port")
        if isinstance(port, int):
            errors += [invalid_value(f"{field}.{key}.port", port, each) for each in names.port_number(port)]
        elif isinstance(port, str):
            errors += [invalid_value(f"{field}.{key}.port", port, each) for each in names.port_name(port)]
    if not field.endswith("readinessProbe") and probe.get("successThreshold", 1) != 1:
        errors.append(invalid_value(f"{field}.successThreshold", probe["successThreshold"], "must be 1"))
    return errors


def _resources(resources: JsonObject, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for key, held in (("limits", limits), ("requests", requests)):
        for name, text in held.items():
            amount = quantities.parse(text)
            if amount is not None and amount < 0:
                errors.append(invalid_value(f"{field}.{key}[{name}]", text, "must be greater than or equal to 0"))
    for name, text in requests.items():
        limit, amount = quantities.parse(limits.get(name, "")), quantities.parse(text)
        if limit is not None and amount is not None and amount > limit:
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            errors.append(invalid_value(f"{field}.requests", text, why))
    return errors


def _tolerations(tolerations: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, toleration in enumerate(tolerations):
        at = f"{field}[{index}]"
        key, operator = toleration.get("key"), toleration.get("operator") or "Equal"
        if key:
            errors += [invalid_value(f"{at}.key", key, each) for each in names.qualified_name(key)]
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(invalid_value(f"{at}.operator", toleration.get("operator", ""), why))
        if operator == "Exists" and toleration.get("value"):
            errors.append(
                invalid_value(f"{at}.operator", dict(toleration), "value must be empty when `operator` is 'Exists'")
            )
        errors += values.one_of(operator, f"{at}.operator", _TOLERATION_OPERATORS)
        effect = toleration.get("effect")
        if effect and effect not in _TAINT_EFFECTS:
            errors.append(not_supported(f"{at}.effect", effect, _TAINT_EFFECTS))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid_value(f"{at}.effect", effect or "", why))
    return errors


def _spread(constraints: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, constraint in enumerate(constraints):
        at = f"{field}[{index}]"
        if constraint.get("maxSkew", 0) <= 0:
            errors.append(invalid_value(f"{at}.maxSkew", constraint.get("maxSkew", 0), "must be greater than zero"))
        if not constraint.get("topologyKey"):
            errors.append(required(f"{at}.topologyKey", "can not be empty"))
        errors += values.one_of(
            constraint.get("whenUnsatisfiable"), f"{at}.whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway")
        )
    return errors


def pod(obj: JsonObject) -> list[FieldError]:
    """The faults of a Pod's spec."""
    return pod_spec(obj["spec"], "spec")


def pod_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    """What an update changes that may not change. The spec itself was valid when the Pod was made."""
    errors: list[FieldError] = []
    held, wanted = old["spec"].get("tolerations") or (), new["spec"].get("tolerations") or ()
    if not all(any(_same_toleration(each, other) for other in wanted) for each in held):
        why = "existing toleration can not be modified except its tolerationSeconds"
        errors.append(forbidden("spec.tolerations", why))
    if _bare(new["spec"]) != _bare(old["spec"]):
        errors.append(forbidden("spec", _IMMUTABLE_TEXT))
    for key in ("containers", "initContainers"):
        for index, container in enumerate(new["spec"].get(key) or ()):
            if not container.get("image"):
                errors.append(required(f"spec.{key}[{index}].image"))
    return errors


def _same_toleration(left: JsonObject, right: JsonObject) -> bool:
    return {**left, "tolerationSeconds": 0} == {**right, "tolerationSeconds": 0}


def _bare(spec: JsonObject) -> JsonObject:
    """A pod spec without what may change while the pod runs."""
    free = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
    bare = {key: value for key, value in spec.items() if key not in free}
    for key in ("containers", "initContainers"):
        if spec.get(key):
            bare[key] = [{name: item for name, item in each.items() if name != "image"} for each in spec[key]]
    return bare
