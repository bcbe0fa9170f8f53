"""Addresses and ports of Services."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import allocation
from kadm.sandbox.kinds.allocation import ServiceRanges
from tests.sandbox.kinds.objects import a_context, an_object, changed, created, decoded, updated

RANGES = ServiceRanges(cidr="10.96.0.0/30", node_ports=(30000, 30001))


def a_service(name: str = "x", **spec: Any) -> JsonObject:
    return an_object("v1", "Service", name, spec={"ports": [{"port": 80}], "selector": {"a": "b"}, **spec})


def given(service: JsonObject, *others: JsonObject) -> JsonObject | list[str]:
    """The spec that comes out, or the faults."""
    made, errors = allocation.allocate(decoded(service), others, RANGES)
    return [str(error) for error in errors] or dict(made["spec"])


def holding(**spec: Any) -> JsonObject:
    return {"spec": {"type": "NodePort", "ports": [], **spec}}


def test_an_address_is_given() -> None:
    made = given(a_service())
    assert isinstance(made, dict)
    assert [made[key] for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")] == [
        "10.96.0.2",
        ["10.96.0.2"],
        ["IPv4"],
        "SingleStack",
    ]


@pytest.mark.parametrize(
    ("spec", "others", "want"),
    [
        pytest.param(
            {"clusterIP": "10.96.0.1"},
            [holding(clusterIPs=["10.96.0.1"])],
            'spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: '
            "provided IP is already allocated",
            id="taken",
        ),
        pytest.param(
            {"clusterIP": "10.1.1.1"},
            [],
            'spec.clusterIPs: Invalid value: ["10.1.1.1"]: failed to allocate IP 10.1.1.1: the provided IP (10.1.1.1) '
            "is not in the valid range. The range of valid IPs is 10.96.0.0/30",
            id="out of range",
        ),
        pytest.param(
            {},
            [holding(clusterIPs=["10.96.0.2"])],
            "spec.clusterIPs: Internal error: failed to allocate a serviceIP: range is full",
            id="none left",
        ),
        pytest.param(
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]},
            [holding(ports=[{"port": 1, "protocol": "TCP", "nodePort": 30000}])],
            "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated",
            id="port taken",
        ),
        pytest.param(
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 1}]},
            [],
            "spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid range. "
            "The range of valid ports is 30000-30001",
            id="port out of range",
        ),
        pytest.param(
            {"ipFamilyPolicy": "RequireDualStack"},
            [],
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
            "this cluster is not configured for dual-stack services",
            id="two families",
        ),
    ],
)
def test_what_is_refused(spec: JsonObject, others: list[JsonObject], want: str) -> None:
    assert given(a_service(**spec), *others) == [want]


def test_node_ports_are_given() -> None:
    made = given(a_service(type="NodePort", ports=[{"name": "a", "port": 1}, {"name": "b", "port": 2}]))
    assert isinstance(made, dict)
    assert [port["nodePort"] for port in made["ports"]] == [30000, 30001]


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param({"a": "b"}, (["IPv4"], "SingleStack"), id="with selector"),
        pytest.param({}, (["IPv4", "IPv6"], "RequireDualStack"), id="without: left to its endpoints"),
    ],
)
def test_headless(selector: JsonObject, want: tuple[list[str], str]) -> None:
    made = given(a_service(clusterIP="None", selector=selector))
    assert isinstance(made, dict)
    assert (made["ipFamilies"], made["ipFamilyPolicy"]) == want


def test_an_external_name_needs_nothing() -> None:
    made = created(a_service(type="ExternalName", externalName="e.example.com", ports=[]))
    assert made["spec"] == {
        "selector": {"a": "b"},
        "sessionAffinity": "None",
        "type": "ExternalName",
        "externalName": "e.example.com",
    }


def test_a_replacement_keeps_what_was_given() -> None:
    first = created(a_service(type="NodePort"))
    again = updated(a_service(type="NodePort"), first, a_context(services=[first]))
    assert again["spec"] == first["spec"]


def test_a_type_without_node_ports_gives_them_back() -> None:
    first = created(a_service(type="NodePort"))
    again = updated(changed(first, "spec", "type", to="ClusterIP"), first, a_context(services=[first]))
    assert ([port.get("nodePort") for port in again["spec"]["ports"]], again["spec"].get("externalTrafficPolicy")) == (
        [None],
        None,
    )


def test_a_type_without_address_gives_it_back() -> None:
    first = created(a_service())
    wanted = changed(changed(first, "spec", "type", to="ExternalName"), "spec", "externalName", to="e.example.com")
    again = updated(wanted, first, a_context(services=[first]))
    assert "clusterIP" not in again["spec"]
