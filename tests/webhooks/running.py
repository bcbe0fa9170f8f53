"""The webhook server as a process, and calls to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from kadm.errors import Location
from kadm.model.policy import WebhookConfiguration, WebhookConfigurationSpec

ROOT = Path(__file__).parents[2]
START_S = 20.0


@contextmanager
def hook_server(directory: Path, *arguments: Path) -> Iterator[int]:
    """The port of a server that runs for the time of the block."""
    port_file = directory / f"port-{len(list(directory.iterdir()))}"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.webhooks.hook_server", str(port_file), *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,  # broken-off handshakes are part of the tests
    )
    try:
        deadline = time.monotonic() + START_S
        while not port_file.exists():
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)
        yield int(port_file.read_text())
    finally:
        process.kill()
        process.wait()


def seen(port: int) -> Any:
    """What the (plain HTTP) server tells of its requests."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as response:
        return json.load(response)


def a_webhook(name: str, url_prefix: str, **spec: Any) -> WebhookConfiguration:
    """A configuration; further fields by their names in YAML."""
    document = {"payloadVersions": ["v1alpha1"], "urlPrefix": url_prefix, **spec}
    return WebhookConfiguration(
        name=name, spec=msgspec.convert(document, WebhookConfigurationSpec), location=Location("policies/w.yaml")
    )
