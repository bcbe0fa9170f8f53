"""hostPorts that hostNetwork brought go with it, where nobody declares them."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.compare.repairs import leftovers
from kadm.model.objects import JsonObject
from tests.compare.builders import MANAGER, entry, live

MAIN = 'k:{"name":"main"}'
PORT = 'k:{"containerPort":80,"protocol":"TCP"}'
HOST_PORT = ("template", "spec", "containers", 0, "ports", 0, "hostPort")


def a_template(pod: JsonObject, port: JsonObject) -> JsonObject:
    ports = [{"containerPort": 80, "protocol": "TCP", **port}]
    spec = {"containers": [{"name": "main", "ports": ports}], **pod}
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "a", "namespace": "n"},
        "template": {"spec": spec},
    }


def fields(pod: JsonObject, port: JsonObject) -> JsonObject:
    item = {".": {}, "f:containerPort": {}, "f:protocol": {}, **port}
    main = {".": {}, "f:name": {}, "f:ports": {PORT: item}}
    return {"f:template": {"f:spec": {"f:containers": {MAIN: main}, **pod}}}


@pytest.mark.parametrize(
    ("after", "port", "declared", "want"),
    [
        pytest.param({}, {"hostPort": 80}, {}, [HOST_PORT], id="left behind"),
        pytest.param({"hostNetwork": False}, {"hostPort": 80}, {}, [HOST_PORT], id="hostNetwork is false now"),
        pytest.param({}, {}, {}, [], id="the member made none"),
        pytest.param({"hostNetwork": True}, {"hostPort": 80}, {}, [], id="still on the host's network"),
        pytest.param({}, {"hostPort": 8080}, {}, [], id="another port: no copy"),
        pytest.param({}, {"hostPort": 80}, {"f:hostPort": {}}, [], id="declared in git"),
    ],
)
def test_left_host_ports(after: JsonObject, port: JsonObject, declared: JsonObject, want: list[Any]) -> None:
    keeps: JsonObject = {"f:hostNetwork": {}} if "hostNetwork" in after else {}
    found = leftovers(
        live(
            a_template({"hostNetwork": True}, {"hostPort": 80}),
            managers=(entry(MANAGER, fields({"f:hostNetwork": {}}, declared)),),
        ),
        live(a_template(after, port), managers=(entry(MANAGER, fields(keeps, declared)),)),
        a_template({}, {}),
        MANAGER,
    )
    assert [one.path for one in found] == want
