"""Faults of Services, EndpointSlices, Ingresses and NetworkPolicies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds.field_errors import FieldError, duplicate, forbidden, invalid_value, required
from kadm.sandbox.kinds.validation import metadata, names, values

_SERVICE_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def service(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    kind, ports = spec.get("type"), spec.get("ports") or ()
    ips = _cluster_ips(spec)
    errors: list[FieldError] = []
    if not ports and ips[:1] != ["None"] and kind != "ExternalName":
        errors.append(required("spec.ports"))
    if kind in ("LoadBalancer", "NodePort") and ips[:1] == ["None"]:
        why = f"may not be set to 'None' for {kind} services"
        errors.append(invalid_value("spec.clusterIPs[0]", "None", why))
    if kind == "ExternalName":
        if ips:
            errors.append(forbidden("spec.clusterIPs", "may not be set for ExternalName services"))
        host = (spec.get("externalName") or "").removesuffix(".")
        if not host:
            errors.append(required("spec.externalName"))
        errors += [invalid_value("spec.externalName", host, each) for each in names.dns_subdomain(host) if host]
    errors += _service_ports(ports, multiple=len(ports) > 1, kind=str(kind))
    errors += metadata.label_map(spec.get("selector") or {}, "spec.selector")
    errors += values.one_of(spec.get("sessionAffinity"), "spec.sessionAffinity", ("ClientIP", "None"))
    errors += _addresses(ips, "spec.clusterIPs", also="None")
    errors += _addresses(spec.get("externalIPs") or (), "spec.externalIPs")
    errors += values.one_of(kind, "spec.type", _SERVICE_TYPES)
    if spec.get("internalTrafficPolicy") is not None:
        errors += values.one_of(spec["internalTrafficPolicy"], "spec.internalTrafficPolicy", ("Cluster", "Local"))
    policy = spec.get("externalTrafficPolicy")
    if policy is not None:
        if kind in ("NodePort", "LoadBalancer") or spec.get("externalIPs"):
            errors += values.one_of(policy, "spec.externalTrafficPolicy", ("Cluster", "Local"))
        else:
            why = "may only be set for externally-accessible services"
            errors.append(invalid_value("spec.externalTrafficPolicy", policy, why))
    return errors


def service_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    wanted, held = _cluster_ips(new["spec"]), _cluster_ips(old["spec"])
    keeps_type = new["spec"].get("type") != "ExternalName" and old["spec"].get("type") != "ExternalName"
    if keeps_type and held and wanted != held:
        errors.append(invalid_value("spec.clusterIPs[0]", wanted, "may not change once set"))
    return errors + service(new)


def _cluster_ips(spec: JsonObject) -> list[str]:
    listed = spec.get("clusterIPs") or ()
    return list(listed) if listed else [spec["clusterIP"]] if spec.get("clusterIP") else []


def _addresses(addresses: Iterable[str], field: str, *, also: str = "") -> list[FieldError]:
    errors: list[FieldError] = []
    for index, text in enumerate(addresses):
        if text == also:
            continue
        try:
            ipaddress.ip_address(text)
        except ValueError:
            errors.append(invalid_value(f"{field}[{index}]", text, _IP_TEXT))
    return errors


def _service_ports(ports: Iterable[JsonObject], *, multiple: bool, kind: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen_names: set[str] = set()
    seen: set[tuple[JsonValue, JsonValue]] = set()
    for index, port in enumerate(ports):
        at = f"spec.ports[{index}]"
        name = port.get("name")
        if name:
            errors += [invalid_value(f"{at}.name", name, each) for each in names.dns_label(name)]
            if name in seen_names:
                errors.append(duplicate(f"{at}.name", name))
            seen_names.add(name)
        elif multiple:
            errors.append(required(f"{at}.name"))
        errors += [invalid_value(f"{at}.port", port["port"], each) for each in names.port_number(port["port"])]
        errors += values.one_of(port.get("protocol"), f"{at}.protocol", _PROTOCOLS)
        target = port.get("targetPort")
        rule = names.port_number(target) if isinstance(target, int) else names.port_name(str(target))
        errors += [invalid_value(f"{at}.targetPort", target, each) for each in rule]
        if kind == "ClusterIP" and port.get("nodePort"):
            errors.append(forbidden(f"{at}.nodePort", "may not be used when `type` is 'ClusterIP'"))
        key = (port.get("protocol"), port["port"])
        if key in seen:
            shown = {"protocol": key[0], "port": key[1]}
            errors.append(duplicate(at, shown))
        seen.add(key)
    return errors


def endpoint_slice(obj: JsonObject) -> list[FieldError]:
    kind = obj.get("addressType")
    if not kind:
        return [required("addressType")]
    errors = values.one_of(kind, "addressType", ("FQDN", "IPv4", "IPv6"))
    for index, endpoint in enumerate(obj.get("endpoints") or ()):
        addresses = endpoint.get("addresses") or ()
        if not addresses:
            errors.append(required(f"endpoints[{index}].addresses", "must contain at least 1 address"))
        if kind in ("IPv4", "IPv6"):
            errors += _addresses(addresses, f"endpoints[{index}].addresses")
    return errors


def endpoint_slice_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return endpoint_slice(new) + values.unchanged(new.get("addressType"), old.get("addressType"), "addressType")


def ingress(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors: list[FieldError] = []
    if spec.get("defaultBackend") is None and not spec.get("rules"):
        errors.append(invalid_value("spec", None, "either `defaultBackend` or `rules` must be specified"))
    if spec.get("defaultBackend") is not None:
        errors += _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(spec.get("rules") or ()):
        at = f"spec.rules[{index}]"
        host = rule.get("host")
        if host:
            rule_of_name = names.wildcard_subdomain if host.startswith("*") else names.dns_subdomain
            errors += [invalid_value(f"{at}.host", host, each) for each in rule_of_name(host)]
        if rule.get("http") is not None:
            errors += _paths(rule["http"].get("paths") or (), f"{at}.http.paths")
    for index, tls in enumerate(spec.get("tls") or ()):
        for position, host in enumerate(tls.get("hosts") or ()):
            rule_of_name = names.wildcard_subdomain if host.startswith("*") else names.dns_subdomain
            errors += [invalid_value(f"spec.tls[{index}].hosts[{position}]", host, each) for each in rule_of_name(host)]
    class_name = spec.get("ingressClassName")
    if class_name is not None:
        errors += [invalid_value("spec.ingressClassName", class_name, each) for each in names.dns_subdomain(class_name)]
    return errors


def _paths(paths: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    empty = True
    for index, path in enumerate(paths):
        empty = False
        at = f"{field}[{index}]"
        kind, text = path.get("pathType"), path.get("path") or ""
        if not kind:
            errors.append(required(f"{at}.pathType", "pathType must be specified"))
        elif kind in ("Exact", "Prefix"):
            if not text.startswith("/"):
                errors.append(invalid_value(f"{at}.path", text, "must be an absolute path"))
            errors += [
                invalid_value(f"{at}.path", text, f"must not contain '{mark}'")
                for mark in ("//", "/./", "/../", "%2f", "%2F")
                if mark in text
            ]
        elif kind == "ImplementationSpecific":
            if text and not text.startswith("/"):
                errors.append(invalid_value(f"{at}.path", text, "must be an absolute path"))
        else:
            errors += values.one_of(kind, f"{at}.pathType", ("Exact", "ImplementationSpecific", "Prefix"))
        errors += _backend(path.get("backend") or {}, f"{at}.backend")
    if empty:
        errors.append(required(field))
    return errors


def _backend(backend: JsonObject, field: str) -> list[FieldError]:
    target, resource = backend.get("service"), backend.get("resource")
    if target is not None and resource is not None:
        return [invalid_value(field, "", "cannot set both resource and service backends")]
    if resource is not None:
        return []
    if target is None:
        return [
            required(f"{field}", "port name or number is required"),
            required(f"{field}", "service name is required"),
        ]
    errors: list[FieldError] = []
    name, port = target.get("name"), target.get("port") or {}
    if not name:
        errors.append(required(f"{field}.service.name"))
    else:
        errors += [invalid_value(f"{field}.service.name", name, each) for each in names.dns_label(name)]
    number, port_name = port.get("number"), port.get("name")
    if number and port_name:
        errors.append(invalid_value(field, "", "cannot set both port name & port number"))
    elif number:
        errors += [invalid_value(f"{field}.service.port.number", number, each) for each in names.port_number(number)]
    elif port_name:
        errors += [invalid_value(f"{field}.service.port.name", port_name, each) for each in names.port_name(port_name)]
    else:
        errors.append(required(field, "port name or number is required"))
    return errors


def ingress_class(obj: JsonObject) -> list[FieldError]:
    return [] if obj["spec"].get("controller") else [required("spec.controller")]


def ingress_class_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = values.unchanged(new["spec"].get("controller"), old["spec"].get("controller"), "spec.controller")
    return ingress_class(new) + errors


def network_policy(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors = values.selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            at = f"spec.{direction}[{index}]"
            for position, port in enumerate(rule.get("ports") or ()):
                errors += _policy_port(port, f"{at}.ports[{position}]")
            for position, peer in enumerate(rule.get(peers) or ()):
                errors += _peer(peer, f"{at}.{peers}[{position}]")
    types = spec.get("policyTypes") or ()
    for index, name in enumerate(types):
        errors += values.one_of(name, f"spec.policyTypes[{index}]", ("Egress", "Ingress"))
    if len(types) > 2:
        errors.append(invalid_value("spec.policyTypes", list(types), "may not specify more than two policyTypes"))
    return errors


def _policy_port(port: JsonObject, field: str) -> list[FieldError]:
    errors = values.one_of(port.get("protocol"), f"{field}.protocol", _PROTOCOLS)
    number = port.get("port")
    if isinstance(number, int):
        errors += [invalid_value(f"{field}.port", number, each) for each in names.port_number(number)]
    elif isinstance(number, str):
        errors += [invalid_value(f"{field}.port", number, each) for each in names.port_name(number)]
    if port.get("endPort") is not None and not isinstance(number, int):
        errors.append(required(f"{field}.endPort", "may not be specified when `port` is non-numeric or not specified"))
    return errors


def _peer(peer: JsonObject, field: str) -> list[FieldError]:
    errors = values.selector(peer.get("podSelector"), f"{field}.podSelector")
    errors += values.selector(peer.get("namespaceSelector"), f"{field}.namespaceSelector")
    if not peer:
        return [*errors, required(field, "must specify a peer")]
    block = peer.get("ipBlock")
    if block is not None:
        if len(peer) > 1:
            errors.append(forbidden(field, "may not specify both ipBlock and another peer"))
        if not block.get("cidr"):
            errors.append(required(f"{field}.ipBlock.cidr"))
    return errors
