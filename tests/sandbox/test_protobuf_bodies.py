"""Bodies are built here by hand, field by field: the wire format is that of Protocol Buffers."""

from __future__ import annotations

import pytest

from kadm.sandbox.protobuf_bodies import ProtobufError, read_protobuf


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def text(number: int, value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def body(api_version: str, kind: str, message: bytes) -> bytes:
    return b"k8s\x00" + text(1, text(1, api_version) + text(2, kind)) + text(2, message)


def entry(key: str, value: str | bytes) -> bytes:
    """An entry of a map."""
    return text(1, key) + text(2, value)


METADATA = text(1, text(1, "x") + text(3, "") + text(8, b"") + text(11, entry("app", "web")))
HEAD = {"metadata": {"name": "x", "labels": {"app": "web"}}}


@pytest.mark.parametrize(
    ("raw", "want"),
    [
        pytest.param(
            body("v1", "ConfigMap", METADATA + text(2, entry("k", "v")) + text(3, entry("b", b"\x00"))),
            {"apiVersion": "v1", "kind": "ConfigMap", **HEAD, "data": {"k": "v"}, "binaryData": {"b": "AA=="}},
            id="maps and bytes",
        ),
        pytest.param(
            body(
                "v1", "Service",
                METADATA
                + text(2, text(1, integer(3, 80) + text(4, integer(1, 1) + text(3, "http"))) + text(3, "None")),
            ),
            {
                "apiVersion": "v1", "kind": "Service", **HEAD,
                "spec": {"ports": [{"port": 80, "targetPort": "http"}], "clusterIP": "None"},
            },
            id="lists, and an integer or a text",
        ),
        pytest.param(
            body("v1", "Pod", text(2, text(1, text(1, "v") + text(2, text(2, text(1, "Memory")))))),
            {"apiVersion": "v1", "kind": "Pod", "spec": {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}},
            id="fields that JSON has in the parent",
        ),
        pytest.param(
            body("coordination.k8s.io/v1", "Lease", text(2, text(4, integer(1, -1) + integer(2, 500_000_000)))),
            {
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "spec": {"renewTime": "1969-12-31T23:59:59.500000Z"},
            },
            id="times",
        ),
        pytest.param(
            body(
                "certificates.k8s.io/v1", "CertificateSigningRequest",
                text(2, text(6, entry("scopes", text(1, "a") + text(1, "b")))),
            ),
            {
                "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
                "spec": {"extra": {"scopes": ["a", "b"]}},
            },
            id="lists in a map",
        ),
        pytest.param(
            body("v1", "DeleteOptions", integer(1, 0) + text(4, "Background")),
            {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"},
            id="options",
        ),
    ],
)  # fmt: skip
def test_objects(raw: bytes, want: object) -> None:
    assert read_protobuf(raw) == want


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"{}", id="no magic"),
        pytest.param(body("v1", "Unheard", b""), id="an unknown kind"),
        pytest.param(body("v1", "ConfigMap", b"\x0a\xff"), id="cut off"),
        pytest.param(body("v1", "ConfigMap", text(2, text(1, b"\xff"))), id="no UTF-8"),
    ],
)
def test_what_is_no_object(raw: bytes) -> None:
    with pytest.raises(ProtobufError):
        read_protobuf(raw)
