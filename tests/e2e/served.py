"""Asking a running daemon over HTTP."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

from tests.e2e.daemon import Daemon


def address(daemon: Daemon) -> str:
    """Where the daemon serves, as its log says."""

    def found() -> list[str]:
        return re.findall(r"serving on (http://[^\s\"]+)", daemon.text)

    daemon.wait_until(lambda: bool(found()), "it serves nowhere")
    return found()[0]


def get(url: str, token: str = "") -> tuple[int, str]:
    """Status and body of a GET."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def document(url: str, token: str = "") -> Any:
    status, body = get(url, token)
    assert status == 200, body
    return json.loads(body)
