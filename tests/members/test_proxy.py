"""Which proxy stands before a server, as Go's http client decides it."""

from __future__ import annotations

import pytest

from kadm.members.proxy import proxy_for

PROXY = "http://proxy:3128"
EU = "https://eu.example.com:6443"


@pytest.mark.parametrize(
    ("server", "environ", "want"),
    [
        pytest.param(EU, {}, None, id="none set"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY}, PROXY, id="https"),
        pytest.param(EU, {"https_proxy": PROXY}, PROXY, id="lower case"),
        pytest.param(EU, {"HTTP_PROXY": PROXY}, None, id="the other scheme's"),
        pytest.param("http://eu", {"HTTP_PROXY": "proxy:3128"}, PROXY, id="without scheme"),
        pytest.param("https://localhost:1", {"HTTPS_PROXY": PROXY}, None, id="localhost"),
        pytest.param("https://127.1.2.3", {"HTTPS_PROXY": PROXY}, None, id="loopback"),
        pytest.param("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, None, id="loopback, IPv6"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "example.com"}, None, id="domain"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": ".example.com"}, None, id="what is below a domain"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "*.example.com"}, None, id="star and domain"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "ple.com"}, PROXY, id="half a label is no domain"),
        pytest.param("https://example.com", {"HTTPS_PROXY": PROXY, "NO_PROXY": ".example.com"}, PROXY, id="itself"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "a, EU.example.com:6443"}, None, id="host and port"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "eu.example.com:443"}, PROXY, id="another port"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None, id="star"),
        pytest.param("https://10.1.2.3", {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, None, id="network"),
        pytest.param("https://11.1.2.3", {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, PROXY, id="other network"),
        pytest.param(EU, {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, PROXY, id="a name is in no network"),
    ],
)
def test_proxy_for(server: str, environ: dict[str, str], want: str | None) -> None:
    assert proxy_for(server, environ) == want
