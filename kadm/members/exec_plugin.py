"""Credentials from a kubeconfig's exec plugin (client.authentication.k8s.io v1 and v1beta1).

Written here and not taken from the ``kubernetes`` package: its asyncio loader logs a failed plugin and goes on without
credentials, cannot end a plugin that hangs, and knows neither provideClusterInfo nor commands relative to the file.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct

from kadm.errors import MemberUnreachable
from kadm.members.kubeconfig import Context
from kadm.model.objects import JsonObject

_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_LONGEST_COMPLAINT = 300
_EARLY = timedelta(seconds=30)
"""A credential this close to its end is asked for anew: it must last for the request that it is sent with."""


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


class ExecPlugin:
    """The plugin of one user entry, run when its credential is first needed and when it is about to expire.

    Members that share user and (where the plugin wants to know it) cluster share the plugin, so it runs once for all.
    """

    def __init__(self, context: Context, member: str, environ: Mapping[str, str]) -> None:
        self._context = context
        self._config: JsonObject = context.user["exec"]
        self._member = member
        self._environ = environ
        self._lock = asyncio.Lock()
        self._credential: ExecCredential | None = None
        self._check()

    @staticmethod
    def identity(context: Context) -> str:
        """A key that is equal where one run of the plugin serves both contexts."""
        config: JsonObject = context.user["exec"]
        cluster = context.cluster if config.get("provideClusterInfo") else None
        return json.dumps([str(context.file), config, cluster], sort_keys=True, default=str)

    async def credential(self) -> ExecCredential:
        """A credential that is good now. Raises MemberUnreachable; cancelling it ends the plugin."""
        async with self._lock:
            if self._credential is None or not self._credential.fresh(datetime.now(UTC)):
                self._credential = await self._run()
            return self._credential

    def forget(self) -> None:
        """Run the plugin again next time: the member did not accept what it gave."""
        self._credential = None

    def _check(self) -> None:
        if not isinstance(self._config, dict) or not self._config.get("command"):
            raise self._failed("its exec entry has no command")
        if self._config.get("apiVersion") not in _VERSIONS:
            raise self._failed(
                f"its exec entry has apiVersion {self._config.get('apiVersion')}",
                hint=f"kadm knows {', '.join(_VERSIONS)}",
            )
        if self._config.get("interactiveMode") == "Always":
            raise self._failed(
                "its exec plugin needs a terminal (interactiveMode: Always)",
                hint="kadm runs plugins without one: use a context whose plugin can do without",
            )

    def _command(self) -> str:
        """The program; a relative path starts at the kubeconfig, a bare name is looked up in PATH."""
        command = str(self._config["command"])
        return os.path.normpath(self._context.file.parent / command) if os.sep in command else command

    async def _run(self) -> ExecCredential:
        command = self._command()
        arguments = [str(argument) for argument in self._config.get("args") or ()]
        try:
            process = await asyncio.create_subprocess_exec(
                command,
                *arguments,
                env=self._environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise self._failed(
                f"exec plugin {command} does not run: {error.strerror}", hint=str(self._config.get("installHint") or "")
            ) from error
        try:
            output, complaint = await process.communicate()
        finally:
            if process.returncode is None:  # the deadline passed, or somebody gave up
                process.kill()
                await process.wait()
        if process.returncode != 0:
            raise self._failed(
                f"exec plugin {command} failed ({process.returncode}){_last_line(complaint)}",
                hint="run it by hand; a login may have expired",
            )
        return self._parsed(command, output)

    def _parsed(self, command: str, output: bytes) -> ExecCredential:
        """The credential in the plugin's output, which no message ever quotes."""
        try:
            answer = msgspec.json.decode(output, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._failed(f"exec plugin {command} gave no ExecCredential") from error
        if answer.api_version != self._config["apiVersion"]:
            raise self._failed(
                f"exec plugin {command} answered {answer.api_version}, the kubeconfig says {self._config['apiVersion']}"
            )
        credential = answer.status
        if credential is None or not (credential.token or credential.client_certificate_data):
            raise self._failed(f"exec plugin {command} gave neither a token nor a certificate")
        if bool(credential.client_certificate_data) != bool(credential.client_key_data):
            raise self._failed(f"exec plugin {command} gave a certificate without its key, or a key alone")
        return credential

    def _environment(self) -> dict[str, str]:
        info: dict[str, Any] = {"interactive": False}
        if self._config.get("provideClusterInfo"):
            info["cluster"] = _cluster_info(self._context.cluster)
        added = {str(entry["name"]): str(entry["value"]) for entry in self._config.get("env") or ()}
        execution = {"apiVersion": self._config["apiVersion"], "kind": "ExecCredential", "spec": info}
        return {**self._environ, **added, "KUBERNETES_EXEC_INFO": json.dumps(execution)}

    def _failed(self, what: str, hint: str = "") -> MemberUnreachable:
        return MemberUnreachable("no credential", member=self._member, object=str(self._context), why=what, hint=hint)


def _cluster_info(cluster: JsonObject) -> JsonObject:
    """The cluster as plugins are told of it: a CA file is handed on as data."""
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
        with open(authority, "rb") as file:  # noqa: PTH123
            info["certificate-authority-data"] = base64.b64encode(file.read()).decode()
    for extension in cluster.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return info


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1][:_LONGEST_COMPLAINT]}" if lines else ""
