"""Addresses of load balancers."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.load_balancers import wanted

Object = dict[str, Any]
HAS = {"ingress": [{"ip": "172.19.0.9", "ipMode": "VIP"}]}


def a_service(kind: str = "LoadBalancer", balancer: Object | None = None, **spec: Any) -> Object:
    """A Service with this status."""
    return {"spec": {"type": kind, **spec}, "status": {"loadBalancer": balancer or {}}}


@pytest.mark.parametrize(
    ("service", "want"),
    [
        pytest.param(a_service("ClusterIP"), {}, id="none"),
        pytest.param(a_service(), {"ingress": [{"ip": "172.19.0.2", "ipMode": "VIP"}]}, id="the first free one"),
        pytest.param(a_service(balancer=HAS), HAS, id="the one it has"),
        pytest.param(a_service("ClusterIP", HAS), {}, id="taken back"),
        pytest.param(a_service(loadBalancerClass="other.io/lb"), {}, id="of another class"),
    ],
)
def test_wanted(service: Object, want: Object) -> None:
    assert wanted(service, {"172.19.0.1"}) == want
