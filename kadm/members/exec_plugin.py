"""Credentials from a kubeconfig's exec plugin (client.authentication.k8s.io v1 and v1beta1).

Written here and not taken from the ``kubernetes`` package: its asyncio loader logs a failed plugin and goes on without
credentials, cannot end a plugin that hangs, and knows neither provideClusterInfo nor commands relative to the file.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from kadm.members.kubeconfig import Context
from kadm.model.objects import JsonObject

_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_LONGEST_COMPLAINT = 300
_EARLY = timedelta(seconds=30)
"""A credential this close to its end is asked for anew: it must last for the request that it is sent with."""

_FAILURE_S = 30.0
"""How long a failure holds for all that ask: hundreds of members must not wait for the same login one by one."""


class PluginFailed(Exception):
    """A plugin gave no credential: ``why``, and ``hint`` what to do. Never quotes its output."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint


class ExecCredential(Struct, frozen=True, rename="camel"):
    """What a plugin gives: a token, a client certificate with its key, or both. ``expiration_timestamp`` None: when
    the process ends, or the member no longer accepts it."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None

    def fresh(self, now: datetime) -> bool:
        """Whether it may still be used; ``now`` is aware."""
        return self.expiration_timestamp is None or now < self.expiration_timestamp - _EARLY


class _Answer(Struct, rename="camel"):
    api_version: str
    kind: Literal["ExecCredential"]
    status: ExecCredential | None = None


class _Variable(Struct):
    name: str
    value: str


class _Entry(Struct, rename="camel"):
    """The ``exec`` entry of a user."""

    command: str
    api_version: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    install_hint: str | None = None
    interactive_mode: str | None = None
    provide_cluster_info: bool = False


class ExecPlugin:
    """The plugin of one user entry, run when its credential is first needed and when it is about to expire.

    Members that share user and (where the plugin wants to know it) cluster share the plugin, so it runs once for all.
    Raises PluginFailed where the entry cannot be.
    """

    def __init__(self, context: Context, environ: Mapping[str, str]) -> None:
        self._context = context
        self._entry = _checked(context.user["exec"])
        self._environ = environ
        self._lock = asyncio.Lock()
        self._credential: ExecCredential | None = None
        self._failure: tuple[float, PluginFailed] | None = None

    @staticmethod
    def identity(context: Context) -> str:
        """A key that is equal where one run of the plugin serves both contexts."""
        entry = context.user["exec"]
        told = context.cluster if isinstance(entry, dict) and entry.get("provideClusterInfo") else None
        return json.dumps([str(context.file), entry, told], sort_keys=True, default=str)

    async def credential(self) -> ExecCredential:
        """A credential that is good now. Raises PluginFailed; cancelling it ends the plugin."""
        async with self._lock:
            if self._credential is None or not self._credential.fresh(datetime.now(UTC)):
                self._credential = await self._run_unless_it_failed()
            return self._credential

    def forget(self, credential: ExecCredential | None) -> None:
        """Run the plugin again next time, if this credential is what it gave last: some member did not accept it."""
        if self._credential is credential:
            self._credential = None

    async def _run_unless_it_failed(self) -> ExecCredential:
        if self._failure is not None and time.monotonic() - self._failure[0] < _FAILURE_S:
            raise self._failure[1]
        try:
            credential = await self._run()
        except PluginFailed as failure:
            self._failure = time.monotonic(), failure
            raise
        except asyncio.CancelledError:
            hanging = PluginFailed(
                "its exec plugin did not answer in time", hint="run it by hand: it may wait for a login"
            )
            self._failure = time.monotonic(), hanging
            raise
        self._failure = None
        return credential

    async def _run(self) -> ExecCredential:
        command = self._command()
        environment = self._environment()
        try:
            process = await asyncio.create_subprocess_exec(
                command,
                *(self._entry.args or ()),
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise PluginFailed(
                f"exec plugin {command} does not run: {error.strerror}", hint=self._entry.install_hint or ""
            ) from error
        try:
            output, complaint = await process.communicate()
        finally:
            if process.returncode is None:  # the deadline passed, or somebody gave up
                process.kill()
                await process.wait()
        if process.returncode != 0:
            raise PluginFailed(
                f"exec plugin {command} failed ({process.returncode}){_last_line(complaint)}",
                hint="run it by hand; a login may have expired",
            )
        return self._parsed(command, output)

    def _command(self) -> str:
        """The program; a relative path starts at the kubeconfig, a bare name is looked up in PATH."""
        command = self._entry.command
        return os.path.normpath(self._context.file.parent / command) if os.sep in command else command

    def _parsed(self, command: str, output: bytes) -> ExecCredential:
        """The credential in the plugin's output, which no message ever quotes."""
        try:
            answer = msgspec.json.decode(output, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise PluginFailed(f"exec plugin {command} gave no ExecCredential") from error
        if answer.api_version != self._entry.api_version:
            raise PluginFailed(
                f"exec plugin {command} answered {answer.api_version}, the kubeconfig says {self._entry.api_version}"
            )
        credential = answer.status
        if credential is None or not (credential.token or credential.client_certificate_data):
            raise PluginFailed(f"exec plugin {command} gave neither a token nor a certificate")
        if bool(credential.client_certificate_data) != bool(credential.client_key_data):
            raise PluginFailed(f"exec plugin {command} gave a certificate without its key, or a key alone")
        return credential

    def _environment(self) -> dict[str, str]:
        spec: JsonObject = {"interactive": False}
        if self._entry.provide_cluster_info:
            spec["cluster"] = _cluster_info(self._context.cluster)
        execution = {"apiVersion": self._entry.api_version, "kind": "ExecCredential", "spec": spec}
        added = {variable.name: variable.value for variable in self._entry.env or ()}
        return {**self._environ, **added, "KUBERNETES_EXEC_INFO": json.dumps(execution)}


def _checked(stated: Any) -> _Entry:
    """The user's ``exec`` entry. Raises PluginFailed where it is none that kadm can run."""
    try:
        entry = msgspec.convert(stated, _Entry)
    except msgspec.ValidationError as error:
        raise PluginFailed(f"its exec entry is not usable: {error}") from error
    if not entry.command:
        raise PluginFailed("its exec entry has no command")
    if entry.api_version not in _VERSIONS:
        raise PluginFailed(
            f"its exec entry has apiVersion {entry.api_version}", hint=f"kadm knows {', '.join(_VERSIONS)}"
        )
    if entry.interactive_mode == "Always":
        raise PluginFailed(
            "its exec plugin needs a terminal (interactiveMode: Always)",
            hint="kadm runs plugins without one: use a context whose plugin can do without",
        )
    return entry


def _cluster_info(cluster: JsonObject) -> JsonObject:
    """The cluster as plugins are told of it: a CA file is handed on as data. Raises PluginFailed."""
    info: JsonObject = {
        key: cluster[key]
        for key in (
            "server",
            "tls-server-name",
            "insecure-skip-tls-verify",
            "certificate-authority-data",
            "proxy-url",
            "disable-compression",
        )
        if key in cluster
    }
    authority = cluster.get("certificate-authority")
    if authority and "certificate-authority-data" not in info:
        try:
            info["certificate-authority-data"] = base64.b64encode(Path(authority).read_bytes()).decode()
        except OSError as error:
            raise PluginFailed(f"its certificate-authority {authority} cannot be read: {error.strerror}") from error
    for extension in cluster.get("extensions") or ():
        if isinstance(extension, dict) and extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return info


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1][:_LONGEST_COMPLAINT]}" if lines else ""
