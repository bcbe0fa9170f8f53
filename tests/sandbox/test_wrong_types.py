"""Bodies whose values have the wrong JSON type are refused as a real server refuses them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from kadm.sandbox.api import ApiServer
from kadm.sandbox.auth import Authenticator
from kadm.sandbox.endpoint import Endpoint
from kadm.sandbox.exchange import Answer, Request

TOKEN = "t"
CONFIG_MAP = "/api/v1/namespaces/default/configmaps/a"
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/a"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


@pytest.fixture
def endpoint() -> Endpoint:
    """A member with a Deployment, and a custom kind whose objects hold a pod template."""
    api = ApiServer("m", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "i"}]}}
    api.create(
        "deployments.apps",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
        },
        manager="test",
    )
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"template": embedded}}
    api.create(
        "customresourcedefinitions.apiextensions.k8s.io",
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"kind": "Widget", "plural": "widgets"},
                "scope": "Namespaced",
                "versions": [
                    {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
                ],
            },
        },
        manager="test",
    )
    return Endpoint(api, Authenticator(api.store, TOKEN, clock=api.clock))


def answered(endpoint: Endpoint, method: str, path: str, media_type: str, body: object) -> tuple[int, str]:
    """Code and message of the Status that a request is answered with."""
    answer = endpoint.answer(
        Request(
            method=method,
            path=path,
            query={"fieldManager": "kadm"},
            body=json.dumps(body).encode(),
            content_type=media_type,
            authorization=f"Bearer {TOKEN}",
        )
    )
    assert isinstance(answer, Answer)
    assert isinstance(answer.body, dict)
    return answer.status, answer.body["message"]


def config_map(metadata: object, **more: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more}


def deployment(**container: object) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "a", **container}]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": template}}


TYPED = "failed to create typed patch object (/; /v1, Kind=ConfigMap): .metadata: expected map, got "
UNNAMED = "the name of the object (a based on URL) was undeterminable: name must be provided"
QUANTITY = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

UNCONVERTIBLE = (
    "failed to convert new object (/a; apps/v1, Kind=Deployment) to proper version: "
    f"unable to convert unstructured object to apps/v1, Kind=Deployment: {QUANTITY}"
)


@pytest.mark.parametrize(
    ("path", "applied", "want"),
    [
        pytest.param(CONFIG_MAP, config_map("x"), (500, TYPED + "&{x}"), id="metadata is a text"),
        pytest.param(CONFIG_MAP, config_map(["x"]), (500, TYPED + "&{[x]}"), id="metadata is a list"),
        pytest.param(CONFIG_MAP, config_map([]), (500, TYPED + "&{[]}"), id="metadata is an empty list"),
        pytest.param(CONFIG_MAP, config_map(1), (500, TYPED + "&{1}"), id="metadata is a number"),
        pytest.param(CONFIG_MAP, config_map(None), (400, UNNAMED), id="metadata is null"),
        pytest.param(CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap"}, (400, UNNAMED), id="no metadata"),
        pytest.param(
            CONFIG_MAP,
            config_map({"name": "a", "managedFields": []}),
            (400, "metadata.managedFields must be nil"),
            id="managedFields",
        ),
        pytest.param(
            DEPLOYMENT + "/scale",
            {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": ["x"]},
            (500, TYPED.replace("/v1, Kind=ConfigMap", "autoscaling/v1, Kind=Scale") + "&{[x]}"),
            id="metadata of a Scale is a list",
        ),
        pytest.param(
            DEPLOYMENT,
            deployment(resources={"limits": {"cpu": "x"}}),
            (500, UNCONVERTIBLE),
            id="a quantity that is none",
        ),
    ],
)
def test_applied(endpoint: Endpoint, path: str, applied: object, want: tuple[int, str]) -> None:
    assert answered(endpoint, "PATCH", path, "application/apply-patch+yaml", applied) == want


def widget(metadata: object, **more: object) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **more}


CANNOT = 'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal '


@pytest.mark.parametrize(
    ("sent", "want"),
    [
        pytest.param(
            widget("x"), f"{CANNOT}string into Go struct field .metadata of type v1.ObjectMeta", id="metadata is a text"
        ),
        pytest.param(
            widget({"name": "w", "labels": {"a": 1}}),
            f"{CANNOT}number into Go struct field ObjectMeta.metadata.labels.a of type string",
            id="a label is a number",
        ),
        pytest.param(
            widget({"name": "w"}, template={"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}),
            f"{CANNOT}number into Go struct field ObjectMeta.template.metadata.labels.a of type string",
            id="a label of an embedded object is a number",
        ),
    ],
)
def test_created_custom_objects(endpoint: Endpoint, sent: object, want: str) -> None:
    assert answered(endpoint, "POST", WIDGETS, "application/json", sent) == (400, want)
