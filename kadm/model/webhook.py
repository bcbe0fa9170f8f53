"""Calls of webhook plugins as values, and what makes a configuration one that can be called (scheduling spec 7).

The scheduling stage makes calls and reads answers; who sends them is a value that it is given.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from kadm.model.duration import duration_s
from kadm.model.policy import WebhookConfigurationSpec, WebhookTLSConfig

PAYLOAD_VERSION = "v1alpha1"
"""The one version of payloads that there is."""

DEFAULT_TIMEOUT_S = 5.0


class WebhookCall(Struct, frozen=True, kw_only=True):
    """One POST to a webhook plugin: ``path`` is joined to its urlPrefix, ``body`` is JSON."""

    hook: str
    path: str
    body: bytes


class WebhookReply(Struct, frozen=True, kw_only=True):
    """What came of a call: an answer, or ``failure``, why there is none (empty: there is one)."""

    status: int = 0
    body: bytes = b""
    failure: str = ""


class WebhookTransport(Protocol):
    """Sends calls, all at once, and waits for all."""

    def call_many(self, calls: Sequence[WebhookCall]) -> Sequence[WebhookReply]:
        """What came of each call, in their order. Raises nothing: a failure is a reply."""
        ...

    def fault(self, hook: str) -> str:
        """Why this plugin cannot be called at all; empty where it can."""
        ...


def configuration_fault(spec: WebhookConfigurationSpec) -> str:
    """Why a webhook plugin cannot be called as it is configured, in words; empty where nothing is wrong."""
    if PAYLOAD_VERSION not in spec.payload_versions:
        return f"payloadVersions must hold {PAYLOAD_VERSION}, it holds {', '.join(spec.payload_versions)}"
    try:
        split = urlsplit(spec.url_prefix)
    except ValueError:
        return f"urlPrefix {spec.url_prefix!r} is no URL"
    if split.scheme not in ("http", "https") or not split.hostname:
        return f"urlPrefix {spec.url_prefix!r} is no URL that starts with http:// or https://"
    try:
        if duration_s(spec.http_timeout) < 0:
            return f"httpTimeout {spec.http_timeout} is negative"
    except ValueError as error:
        return f"httpTimeout: {error}"
    return _tls_fault(spec.tls_config) if spec.tls_config else ""


def timeout_s(spec: WebhookConfigurationSpec) -> float:
    """How long one call may take; 0 means the default."""
    return duration_s(spec.http_timeout) or DEFAULT_TIMEOUT_S


def _tls_fault(tls: WebhookTLSConfig) -> str:
    if tls.insecure and tls.ca_data:
        return "tlsConfig sets insecure, so that caData would not be looked at"
    if bool(tls.cert_data) != bool(tls.key_data):
        return "tlsConfig needs certData and keyData together"
    for name, data in (("caData", tls.ca_data), ("certData", tls.cert_data), ("keyData", tls.key_data)):
        try:
            decoded = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return f"tlsConfig.{name} is not base64"
        if data and b"-----BEGIN " not in decoded:
            return f"tlsConfig.{name} is no PEM"
    return ""
