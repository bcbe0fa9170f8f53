"""What makes a webhook configuration one that can be called."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from kadm.model.policy import WebhookConfigurationSpec
from kadm.model.webhook import configuration_fault, timeout_s

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()


def a_spec(**fields: Any) -> WebhookConfigurationSpec:
    document = {"payloadVersions": ["v1alpha1"], "urlPrefix": "https://h/a", **fields}
    return msgspec.convert(document, WebhookConfigurationSpec)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        pytest.param({}, "", id="fine"),
        pytest.param({"payloadVersions": ["v2", "v1alpha1"]}, "", id="one of the versions is known"),
        pytest.param({"payloadVersions": ["v2"]}, "payloadVersions must hold v1alpha1, it holds v2", id="none is"),
        pytest.param(
            {"urlPrefix": "h/a"}, "urlPrefix 'h/a' is no URL that starts with http:// or https://", id="no URL"
        ),
        pytest.param({"urlPrefix": "http://[::1"}, "urlPrefix 'http://[::1' is no URL", id="a broken URL"),
        pytest.param({"httpTimeout": "soon"}, "httpTimeout: 'soon' is no duration", id="no duration"),
        pytest.param({"httpTimeout": "-1s"}, "httpTimeout -1s is negative", id="a negative one"),
        pytest.param(
            {"tlsConfig": {"insecure": True, "caData": PEM}},
            "tlsConfig sets insecure, so that caData would not be looked at",
            id="insecure and caData",
        ),
        pytest.param(
            {"tlsConfig": {"certData": PEM}}, "tlsConfig needs certData and keyData together", id="half a certificate"
        ),
        pytest.param({"tlsConfig": {"caData": "%"}}, "tlsConfig.caData is not base64", id="no base64"),
        pytest.param({"tlsConfig": {"caData": "eA=="}}, "tlsConfig.caData is no PEM", id="no PEM"),
        pytest.param({"tlsConfig": {"caData": PEM, "serverName": "h"}}, "", id="an authority"),
    ],
)
def test_configuration_fault(fields: dict[str, Any], fault: str) -> None:
    assert configuration_fault(a_spec(**fields)) == fault


@pytest.mark.parametrize(("text", "want"), [("5s", 5.0), ("0", 5.0), ("0s", 5.0), ("300ms", 0.3), ("1m30s", 90.0)])
def test_timeout(text: str, want: float) -> None:
    assert timeout_s(a_spec(httpTimeout=text)) == want
