"""Endpoints of Services."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.endpoints import endpoints_of, selected, slice_of, target_port
from tests.sandbox.controllers.builders import a_pod

Object = dict[str, Any]


def a_service(*ports: Object, **spec: Any) -> Object:
    """Service ``s`` that selects app=web."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "ns", "uid": "uid-s", "labels": {"l": "1"}},
        "spec": {"selector": {"app": "web"}, "ports": list(ports) or [{"port": 80, "protocol": "TCP"}], **spec},
    }


def running(name: str, ip: str, *, ready: bool = True, **more: Any) -> Object:
    """A pod with an address."""
    pod = a_pod(name, node="node-0", phase="Running", ready=ready, **more)
    pod["status"]["podIP"] = ip
    return pod


ONE, TWO, LEAVING = (
    running("a", "10.0.0.1"),
    running("b", "10.0.0.2", ready=False),
    running("c", "10.0.0.3", deleted=True),
)


def test_slice() -> None:
    made = slice_of(a_service(), [ONE, TWO, LEAVING])
    conditions = {entry["addresses"][0]: tuple(entry["conditions"].values()) for entry in made["endpoints"]}
    assert (conditions, made["ports"]) == (
        {"10.0.0.1": (True, True, False), "10.0.0.2": (False, False, False), "10.0.0.3": (False, True, True)},
        [{"name": "", "port": 80, "protocol": "TCP"}],
    )


def test_endpoints_part_the_ready_from_the_others() -> None:
    [subset] = endpoints_of(a_service(), [ONE, TWO, LEAVING])["subsets"]
    addresses = {field: [entry["ip"] for entry in subset[field]] for field in ("addresses", "notReadyAddresses")}
    assert addresses == {"addresses": ["10.0.0.1"], "notReadyAddresses": ["10.0.0.2"]}


def test_no_pods_no_subsets() -> None:
    assert "subsets" not in endpoints_of(a_service(), [])


def test_selected_are_those_with_the_labels_and_an_address() -> None:
    other = running("d", "10.0.0.4", labels={"app": "db"})
    assert [pod["metadata"]["name"] for pod in selected(a_service(), [TWO, ONE, other, a_pod("e")])] == ["a", "b"]


@pytest.mark.parametrize(
    ("port", "want"),
    [
        pytest.param({"port": 80}, 80, id="the same"),
        pytest.param({"port": 80, "targetPort": 8080}, 8080, id="another"),
        pytest.param({"port": 80, "targetPort": "http"}, 8000, id="by name"),
        pytest.param({"port": 80, "targetPort": "none"}, None, id="a name nobody has"),
    ],
)
def test_target_port(port: Object, want: int | None) -> None:
    pod = running("a", "10.0.0.1")
    pod["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8000}]
    assert target_port(port, pod) == want
