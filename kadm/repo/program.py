"""One run of a program that makes manifests: bounded in time and output, and told nothing of the environment.

What a pull request holds decides what these programs do. Some versions of kustomize copy variables of the environment
into a ConfigMap where a file of ``envs`` names them, and CI has its credentials there; so a few harmless ones are
passed on, and fetching leads nowhere.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

MAX_COMPLAINT = 64 * 1024
_PASSED_ON = ("HOME", "PATH", "TMPDIR")
_NO_NETWORK = "http://127.0.0.1:9"
"""A proxy that is not there: port 9 discards (RFC 863), and nothing listens on it today."""


class Ran(Struct, frozen=True, kw_only=True):
    """How a run ended. ``failure`` is why its output cannot be used, empty where it can; ``complaint`` is what it wrote
    to its standard error."""

    output: bytes
    complaint: str
    failure: str


def run(
    command: Sequence[str], *, directory: Path, environ: Mapping[str, str], timeout_s: float, max_bytes: int
) -> Ran:
    """Runs ``command`` in ``directory`` until it ends, writes more than ``max_bytes``, or ``timeout_s`` have passed.

    Whatever it started ends with it.
    """
    try:
        process = subprocess.Popen(  # noqa: S603  # the user's own program, with arguments that are made here
            command,
            cwd=directory,
            env=_environment(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that its children can be ended with it
        )
    except OSError as error:
        return Ran(output=b"", complaint="", failure=f"it does not run: {error.strerror or error}")
    with process:
        try:
            output, complaint, failure = _collected(process, timeout_s=timeout_s, max_bytes=max_bytes)
        finally:
            _end(process)
    if not failure and process.returncode:
        failure = f"it ended with {process.returncode}"
    return Ran(output=output, complaint=complaint.decode(errors="replace").strip(), failure=failure)


def _collected(process: subprocess.Popen[bytes], *, timeout_s: float, max_bytes: int) -> tuple[bytes, bytes, str]:
    """Output, complaint, and why reading stopped early; the process has ended where that is empty."""
    assert process.stdout is not None
    assert process.stderr is not None
    found = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    output, complaint = found.values()
    ends = time.monotonic() + timeout_s
    failure = ""
    with selectors.DefaultSelector() as selector:
        for number in found:
            selector.register(number, selectors.EVENT_READ)
        while selector.get_map() and not failure:
            ready = selector.select(max(0.0, ends - time.monotonic()))
            if not ready:
                failure = f"it was not done after {timeout_s:g} s"
            for key, _ in ready:
                part = os.read(key.fd, 65536)
                if not part:
                    selector.unregister(key.fd)
                elif key.fd == process.stdout.fileno():
                    output += part
                    if len(output) > max_bytes:
                        failure = f"it makes more than {max_bytes:,} bytes"
                else:
                    complaint += part[: MAX_COMPLAINT - len(complaint)]
    if not failure:
        try:
            process.wait(max(0.0, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            failure = f"it was not done after {timeout_s:g} s"
    return bytes(output), bytes(complaint), failure


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and all that it started, unless it was waited for: then its number may be another's by now."""
    if process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # all of it has ended
        return


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        **{name: environ[name] for name in _PASSED_ON if name in environ},
        "LC_ALL": "C",
        # Nothing is fetched: what a plan is made of is in the commit.
        "GIT_ALLOW_PROTOCOL": "none",
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NO_NETWORK),
        "KUBECONFIG": os.devnull,
        "HELM_NO_PLUGINS": "1",
    }
