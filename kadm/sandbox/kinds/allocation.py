"""Cluster addresses and node ports of Services.

A member keeps no table of what is taken: the Services themselves say it. So a deleted Service frees what it held, and
a dry run takes nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.field_errors import FieldError, internal_error, invalid_value

_WITH_CLUSTER_IP = ("ClusterIP", "NodePort", "LoadBalancer")
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


@dataclass(frozen=True, slots=True)
class ServiceRanges:
    """Where a member takes service addresses and node ports from. Both ends of ``node_ports`` belong to it."""

    cidr: str = "10.96.0.0/16"
    node_ports: tuple[int, int] = (30000, 32767)


DEFAULT_RANGES = ServiceRanges()


def keep_allocated(new: JsonObject, old: JsonObject) -> None:
    """Carry over, in ``new``, what ``old`` was given and the update leaves open; drop what the new type has no use for.

    Changes ``new["spec"]`` in place. Source: the service strategy's patchAllocatedValues and dropTypeDependentFields.
    """
    spec, was = new["spec"], old["spec"]
    if spec["type"] in _WITH_CLUSTER_IP and was["type"] in _WITH_CLUSTER_IP:
        for key in ("clusterIP", "clusterIPs"):
            if not spec.get(key) and was.get(key):
                spec[key] = was[key]
        if (
            spec.get("clusterIP")
            and spec["clusterIP"] != was.get("clusterIP")
            and spec["clusterIPs"] == was["clusterIPs"]
        ):
            spec["clusterIPs"] = [spec["clusterIP"]]  # only the older field was changed
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if not spec.get(key) and was.get(key):
                spec[key] = was[key]
    if spec["type"] in _WITH_NODE_PORTS and was["type"] in _WITH_NODE_PORTS:
        held = {(port["protocol"], port["port"]): port["nodePort"] for port in _node_ports(was)}
        for port in spec.get("ports") or ():
            given = held.get((port["protocol"], port["port"]))
            if not port.get("nodePort") and given:
                port["nodePort"] = given
        if _needs_health_check(spec) and _needs_health_check(was) and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = was.get("healthCheckNodePort", 0)
    _drop_unused(spec, was)


def _drop_unused(spec: JsonObject, was: JsonObject) -> None:
    """Drop what belongs to the old type only, unless the update itself set it to something else."""
    if was["type"] in _WITH_CLUSTER_IP and spec["type"] == "ExternalName":
        for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
            if spec.get(key) == was.get(key):
                spec.pop(key, None)
    if was["type"] in _WITH_NODE_PORTS and spec["type"] not in _WITH_NODE_PORTS:
        held = {port["nodePort"] for port in _node_ports(was)}
        for port in spec.get("ports") or ():
            if port.get("nodePort") in held:
                del port["nodePort"]
        if not spec.get("externalIPs") and spec.get("externalTrafficPolicy") == was.get("externalTrafficPolicy"):
            spec.pop("externalTrafficPolicy", None)
    if was["type"] == "LoadBalancer" and spec["type"] != "LoadBalancer":
        for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if spec.get(key) == was.get(key):
                spec.pop(key, None)
    if _needs_health_check(was) and not _needs_health_check(spec):
        spec.pop("healthCheckNodePort", None)


def allocate(
    service: JsonObject, others: Iterable[JsonObject], ranges: ServiceRanges
) -> tuple[JsonObject, list[FieldError]]:
    """The Service with addresses and ports given, and the faults of those that it asks for itself.

    ``others`` are all other Services of the member. The Service given is not changed.
    """
    spec = {**service["spec"]}
    if spec["type"] == "ExternalName":
        return service, []
    taken_ips: set[str] = set()
    taken_ports: set[tuple[str, int]] = set()
    for other in others:
        taken_ips.update(other["spec"].get("clusterIPs") or ())
        taken_ports.update((port["protocol"], port["nodePort"]) for port in _node_ports(other["spec"]))
        if other["spec"].get("healthCheckNodePort"):
            taken_ports.add(("TCP", other["spec"]["healthCheckNodePort"]))
    errors = _family_faults(spec) or _allocate_ip(spec, taken_ips, ranges)
    if errors:
        return service, errors
    _set_families(spec)
    if spec["type"] in _WITH_NODE_PORTS:
        errors = _allocate_ports(spec, taken_ports, ranges)
    return {**service, "spec": spec}, errors


def _allocate_ip(spec: JsonObject, taken: set[str], ranges: ServiceRanges) -> list[FieldError]:
    wanted = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
    if wanted == "None":
        spec["clusterIP"], spec["clusterIPs"] = "None", ["None"]
        return []
    network = _network(ranges.cidr)
    if wanted:
        spec["clusterIP"], spec["clusterIPs"] = wanted, spec.get("clusterIPs") or [wanted]
        why = ""
        if ipaddress.ip_address(wanted) not in network:
            why = f"the provided IP ({wanted}) is not in the valid range. The range of valid IPs is {ranges.cidr}"
        elif wanted in taken:
            why = "provided IP is already allocated"
        if why:
            return [invalid_value("spec.clusterIPs", [wanted], f"failed to allocate IP {wanted}: {why}")]
        return []
    for free in _hosts(ranges.cidr):
        if free not in taken:
            spec["clusterIP"], spec["clusterIPs"] = free, [free]
            return []
    return [internal_error("spec.clusterIPs", "failed to allocate a serviceIP: range is full")]


def _family_faults(spec: JsonObject) -> list[FieldError]:
    """What asks for a second family: the members have one. Only a headless Service without selector may."""
    if spec.get("clusterIP") == "None" and not spec.get("selector"):
        return []
    errors: list[FieldError] = []
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        errors.append(invalid_value("spec.ipFamilyPolicy", "RequireDualStack", why))
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family != "IPv4":
            errors.append(invalid_value(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    return errors


def _set_families(spec: JsonObject) -> None:
    """IPv4, single stack: the members have one range. A headless Service without selector is left to its endpoints."""
    if spec["clusterIP"] == "None" and not spec.get("selector"):
        families = list(spec.get("ipFamilies") or ("IPv4",))
        if spec.get("ipFamilyPolicy", "RequireDualStack") != "SingleStack" and len(families) == 1:
            families.append("IPv6" if families[0] == "IPv4" else "IPv4")
        spec["ipFamilies"] = families
        spec.setdefault("ipFamilyPolicy", "RequireDualStack")
        return
    spec["ipFamilies"] = spec.get("ipFamilies") or ["IPv4"]
    spec.setdefault("ipFamilyPolicy", "SingleStack")


def _allocate_ports(spec: JsonObject, taken: set[tuple[str, int]], ranges: ServiceRanges) -> list[FieldError]:
    errors: list[FieldError] = []
    low, high = ranges.node_ports
    given = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts") is not False
    ports = [{**port} for port in spec.get("ports") or ()]
    fresh: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        wanted = port.get("nodePort")
        if not wanted:
            continue
        field = f"spec.ports[{index}].nodePort"
        if not low <= wanted <= high:
            errors.append(
                invalid_value(
                    field, wanted, f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
                )
            )
        elif (port["protocol"], wanted) in taken:
            errors.append(invalid_value(field, wanted, "provided port is already allocated"))
        fresh.add((port["protocol"], wanted))
    for port in ports:
        if port.get("nodePort") or not given:
            continue
        chosen = _free_port(port["protocol"], taken | fresh, ranges)
        if chosen is None:
            errors.append(internal_error("spec.ports", "failed to allocate a nodePort: range is full"))
            break
        port["nodePort"] = chosen
        fresh.add((port["protocol"], chosen))
    if ports:
        spec["ports"] = ports
    if _needs_health_check(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = _free_port("TCP", taken | fresh, ranges) or 0
    return errors


def _free_port(protocol: str, taken: set[tuple[str, int]], ranges: ServiceRanges) -> int | None:
    low, high = ranges.node_ports
    return next((port for port in range(low, high + 1) if (protocol, port) not in taken), None)


def _node_ports(spec: JsonObject) -> Iterator[JsonObject]:
    return (port for port in spec.get("ports") or () if port.get("nodePort"))


def _needs_health_check(spec: JsonObject) -> bool:
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


@lru_cache(maxsize=8)
def _network(cidr: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(cidr)


def _hosts(cidr: str) -> Iterator[str]:
    """The addresses of the range. Its first 256 are left to those who choose one themselves, as in a real server."""
    network = _network(cidr)
    reserved = min(256, network.num_addresses // 2)
    return (str(network[index]) for index in range(reserved, network.num_addresses - 1))
