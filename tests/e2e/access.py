"""Speaks to members as their administrator, past kadm: what a person, another tool or the test itself does there."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import yaml

Json = Any

JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
ANSWER_WITHIN_S = 60.0


class Refused(Exception):
    """A member did not do what it was asked."""


@dataclass(frozen=True)
class Access:
    """How to reach one member: a token, or a client certificate in ``trust``."""

    url: str
    trust: ssl.SSLContext
    token: str = ""

    def ask(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        media_type: str = JSON,
        query: Mapping[str, str] | None = None,
    ) -> tuple[int, Json]:
        """Status and decoded answer; an answer that is no JSON stays text."""
        address = urlsplit(self.url)
        connection = http.client.HTTPSConnection(
            address.hostname or "", address.port, context=self.trust, timeout=ANSWER_WITHIN_S
        )
        headers = {"Accept": JSON, "Content-Type": media_type, "User-Agent": "tests/1"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        target = quote(path) + (f"?{urlencode(query)}" if query else "")
        try:
            connection.request(method, target, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    def call(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        media_type: str = JSON,
        query: Mapping[str, str] | None = None,
    ) -> Json:
        """The answer. Raises Refused where the member does not do it."""
        status, answer = self.ask(method, path, body, media_type=media_type, query=query)
        if status >= 300:
            raise Refused(f"{method} {path}: {status} {answer}")
        return answer

    def there(self, path: str) -> Json | None:
        """The object, or None where it is not there."""
        status, answer = self.ask("GET", path)
        if status == 404:
            return None
        if status != 200:
            raise Refused(f"GET {path}: {status} {answer}")
        return answer


def access(kubeconfig: Path, context: str) -> Access:
    """How to reach the member that a context leads to. Credentials that are programs are not run here."""
    return _access(kubeconfig, context, kubeconfig.stat().st_mtime_ns)


@lru_cache
def _access(kubeconfig: Path, context: str, _written_ns: int) -> Access:
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    chosen = _named(config, "contexts", context)["context"]
    cluster = _named(config, "clusters", chosen["cluster"])["cluster"]
    user = _named(config, "users", chosen["user"])["user"]
    return Access(cluster["server"], trust(cluster, user), user.get("token", ""))


def trust(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    """Whom to believe and how to show oneself, as a kubeconfig's cluster and user say."""
    authority = _text(cluster, "certificate-authority")
    context = ssl.create_default_context(cadata=authority or None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if shown := _text(user, "client-certificate"):
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:  # the ssl module reads these from files alone
            file.write(f"{shown}\n{_text(user, 'client-key')}")
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _text(holder: Mapping[str, Any], field: str) -> str:
    """A PEM text that stands in the kubeconfig, or in a file that it names."""
    if data := holder.get(f"{field}-data"):
        return base64.b64decode(data).decode()
    return Path(holder[field]).read_text(encoding="utf-8") if holder.get(field) else ""


def _named(config: Mapping[str, Any], what: str, name: str) -> Any:
    return next(one for one in config[what] if one["name"] == name)
