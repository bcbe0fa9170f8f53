"""From a kubeconfig's context to ``Access``: server, TLS, proxy, and the header that says who asks.

The ``kubernetes`` package reads what a kubeconfig says plainly (server, TLS switches, token, basic authentication)
into its ``Configuration``; it is imported when the first member is opened. What it gets wrong stands here: private keys
would lie in temporary files until the process ends, token files would be read once and with their newline,
impersonation would be ignored, and an OpenID refresh would send its secrets without checking a certificate.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import ssl
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from kadm.errors import MemberUnreachable
from kadm.members.connection import CONTROL, Access
from kadm.members.exec_plugin import ExecCredential, ExecPlugin, PluginFailed
from kadm.members.kubeconfig import Context, Kubeconfigs
from kadm.members.proxy import proxy_for
from kadm.model.cluster import FederatedCluster
from kadm.model.objects import JsonObject

_TOKEN_FILE_S = 60.0
"""How long the content of a token file is used before it is read again: bound tokens are rotated in place."""


class Credentials:
    """Access to members by their kubeconfigs. Exec plugins that several members share run once."""

    def __init__(self, kubeconfigs: Kubeconfigs, environ: Mapping[str, str]) -> None:
        self._kubeconfigs = kubeconfigs
        self._environ = environ
        self._plugins: dict[str, ExecPlugin] = {}
        self._system_tls: ssl.SSLContext | None = None

    async def access(self, cluster: FederatedCluster, *, timeout_s: float) -> Access:
        """How ``cluster`` is reached; an exec plugin has ``timeout_s`` to give its credential.

        Raises MemberUnreachable that names the kubeconfig, the context and what is wrong with it.
        """
        context = self._kubeconfigs.find(cluster.name, cluster.spec.kubeconfig)
        return await self.access_by(context, cluster.name, timeout_s=timeout_s)

    async def access_by(self, context: Context, member: str, *, timeout_s: float) -> Access:
        """How the server of ``context`` is reached. Raises MemberUnreachable."""
        configuration = await _configuration(context, member)
        server, basic = _server(context, configuration.host, member)
        proxy = _proxy(context, member, configuration.proxy or proxy_for(server, self._environ))
        if not server.startswith("https:"):
            # As kubectl: no credential ever goes over a connection that anybody can read.
            return Access(server=server, source=str(context), proxy=proxy)
        plugin = self._plugin(context, member)
        given = _PluginToken(plugin, context, member) if plugin else None
        credential = await given.credential(timeout_s) if given else None
        token = given or _token(context, member, configuration.api_key.get("BearerToken") or basic)
        return Access(
            server=server,
            source=str(context),
            tls=self._tls(context, member, configuration, credential),
            tls_server_name=configuration.tls_server_name,
            proxy=proxy,
            headers=_impersonation(context, member),
            authorization=token.header if token else None,
            renew=token.renew if token else _cannot_renew,
        )

    def _plugin(self, context: Context, member: str) -> ExecPlugin | None:
        """The user's plugin, or None where it has none, or something that goes before it, as for kubectl."""
        user = context.user
        if not user.get("exec") or any(user.get(key) for key in ("token", "tokenFile", "username")):
            return None
        identity = ExecPlugin.identity(context)
        if identity not in self._plugins:
            try:
                self._plugins[identity] = ExecPlugin(context, self._environ)
            except PluginFailed as failure:
                raise _no_credential(context, member, failure) from failure
        return self._plugins[identity]

    def _tls(
        self, context: Context, member: str, configuration: Any, credential: ExecCredential | None
    ) -> ssl.SSLContext:
        """Whom to trust, and the client's certificate. Shared where it is the system's trust and no certificate."""
        authority = _bytes_of(context, member, context.cluster, "certificate-authority")
        if credential is not None and credential.client_certificate_data:
            certificate: bytes | None = credential.client_certificate_data.encode()
            key: bytes | None = credential.client_key_data.encode()
        else:
            certificate = _bytes_of(context, member, context.user, "client-certificate")
            key = _bytes_of(context, member, context.user, "client-key")
        plain = authority is None and certificate is None and configuration.verify_ssl
        if plain and self._system_tls is not None:
            return self._system_tls
        try:
            made = ssl.create_default_context(cadata=authority.decode("ascii") if authority else None)
            # Python 3.13 demands extensions that many clusters' own authorities lack, and that Go does not ask for.
            made.verify_flags &= ~ssl.VERIFY_X509_STRICT
            if not configuration.verify_ssl:
                made.check_hostname = False
                made.verify_mode = ssl.CERT_NONE
            if certificate is not None:
                _load_client_certificate(made, certificate, key or certificate)
        except (ssl.SSLError, ValueError) as error:
            raise _unusable(context, member, "a certificate or key in it is no PEM, or they do not match") from error
        if plain:
            self._system_tls = made
        return made


async def _configuration(context: Context, member: str) -> Any:
    """The client's Configuration for what the context says plainly; certificates, keys and plugins are left out."""
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import ConfigException, load_kube_config_from_dict

    _check_auth_provider(context, member)
    provider = context.user.get("auth-provider") or {}
    id_token = (provider.get("config") or {}).get("id-token")
    user = {key: context.user[key] for key in ("username", "password", "token") if context.user.get(key)}
    if id_token and "token" not in user:
        user["token"] = id_token
    cluster = {
        key: context.cluster[key]
        for key in ("server", "insecure-skip-tls-verify", "tls-server-name", "proxy-url")
        if context.cluster.get(key)
    }
    plain = {
        "current-context": context.name,
        "contexts": [{"name": context.name, "context": {"cluster": "cluster", "user": "user"}}],
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
    }
    configuration = Configuration()
    try:
        load: Any = load_kube_config_from_dict  # the package is not typed
        await load(plain, context=context.name, client_configuration=configuration)
    except ConfigException as error:
        raise _unusable(context, member, "the client does not accept it") from error
    return configuration


def _check_auth_provider(context: Context, member: str) -> None:
    """Raise MemberUnreachable for an auth provider that cannot give a token here and now."""
    provider = context.user.get("auth-provider")
    if not provider:
        return
    if not isinstance(provider, dict) or not isinstance(provider.get("config") or {}, dict):
        raise _unusable(context, member, "its auth-provider is not a mapping")
    name = provider.get("name")
    if name != "oidc":
        raise _unusable(
            context,
            member,
            f"auth-provider {name} was removed from Kubernetes in 1.26",
            hint="use the provider's exec plugin, as kubectl does now",
        )
    if _expired((provider.get("config") or {}).get("id-token") or "", datetime.now(UTC)):
        raise _unusable(
            context,
            member,
            "its OpenID token has expired",
            hint=f"kubectl --context {context.name} version renews and stores it; or use an exec plugin (kubelogin)",
        )


def _expired(id_token: str, now: datetime) -> bool:
    """Whether a JSON Web Token is past its ``exp`` (RFC 7519); one that cannot be read counts as expired."""
    try:
        payload = id_token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return "exp" in claims and now.timestamp() >= float(claims["exp"])
    except (IndexError, ValueError, TypeError):
        return True


def _server(context: Context, stated: str, member: str) -> tuple[str, str | None]:
    """The server's URL without user info, and the basic authentication that the user info meant, or None."""
    if not context.cluster.get("server"):
        raise _unusable(context, member, "its cluster names no server")
    # Without a scheme kubectl takes https where anything about TLS is set, http otherwise.
    scheme = "https" if any("certificate" in key or "tls" in key for key in context.cluster) else "http"
    parts = urlsplit(stated if "://" in stated else f"{scheme}://{stated}")
    try:
        port = parts.port
    except ValueError as error:
        raise _unusable(context, member, "its server has no valid port") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _unusable(context, member, "its server is not an http or https URL")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    basic = None
    if parts.username is not None:
        pair = f"{parts.username}:{parts.password or ''}"
        basic = "Basic " + base64.b64encode(pair.encode()).decode()
    netloc = f"{host}:{port}" if port else host
    return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", "")), basic


def _proxy(context: Context, member: str, proxy: str | None) -> str | None:
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise _unusable(
            context,
            member,
            f"its proxy speaks {urlsplit(proxy).scheme or 'no known protocol'}",
            hint="kadm speaks to http and https proxies",
        )
    return proxy


def _impersonation(context: Context, member: str) -> tuple[tuple[str, str], ...]:
    """The headers that make the API server treat the request as somebody else's, where the kubeconfig asks for it."""
    user = context.user
    headers = [
        (header, str(user[key]))
        for header, key in (("Impersonate-User", "as"), ("Impersonate-Uid", "as-uid"))
        if user.get(key)
    ]
    headers += [("Impersonate-Group", str(group)) for group in user.get("as-groups") or ()]
    for key, values in (user.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{quote(str(key), safe='')}", str(value)) for value in values or ()]
    if any(CONTROL.search(value) for _, value in headers):
        raise _unusable(context, member, "whom it acts as holds a line break, or another control character")
    return tuple(headers)


def _token(context: Context, member: str, stated: str | None) -> _TokenFile | _Stated | None:
    """What gives the Authorization header, or None where there is none. A token file goes before a stated token."""
    if context.user.get("tokenFile"):
        return _TokenFile(context, member)
    return _Stated(stated) if stated is not None else None


class _Stated:
    """What stands in a kubeconfig stays what it is."""

    def __init__(self, stated: str) -> None:
        self._stated = stated

    async def header(self) -> str:
        return self._stated

    def renew(self) -> bool:
        return False


class _PluginToken:
    """What a plugin, which others may share, gives to one member."""

    def __init__(self, plugin: ExecPlugin, context: Context, member: str) -> None:
        self._plugin, self._context, self._member = plugin, context, member
        self._used: ExecCredential | None = None

    async def credential(self, timeout_s: float | None = None) -> ExecCredential:
        """The plugin's credential, within ``timeout_s`` (None: the caller's deadline). Raises MemberUnreachable."""
        try:
            async with asyncio.timeout(timeout_s):
                self._used = await self._plugin.credential()
        except PluginFailed as failure:
            raise _no_credential(self._context, self._member, failure) from failure
        except TimeoutError as error:
            late = PluginFailed(
                f"its exec plugin gave none within {timeout_s or 0:g} s",
                hint="--request-timeout allows more; run the plugin by hand: it may wait for a login",
            )
            raise _no_credential(self._context, self._member, late) from error
        return self._used

    async def header(self) -> str | None:
        credential = await self.credential()
        return f"Bearer {credential.token}" if credential.token else None

    def renew(self) -> bool:
        """Ask for another credential next time, unless another member already did."""
        self._plugin.forget(self._used)
        return True


class _TokenFile:
    """A token in a file that somebody else rotates."""

    def __init__(self, context: Context, member: str) -> None:
        self._context, self._member = context, member
        self._read_at: float | None = None
        self._header = ""

    async def header(self) -> str:
        if self._read_at is None or time.monotonic() - self._read_at > _TOKEN_FILE_S:
            self._read()
        return self._header

    def renew(self) -> bool:
        """Read the file now, and say whether another token stands in it. Raises MemberUnreachable."""
        before = self._header
        self._read()
        return self._header != before

    def _read(self) -> None:
        content = _bytes_of(self._context, self._member, self._context.user, "tokenFile") or b""
        self._header = f"Bearer {content.decode('utf-8', 'replace').strip()}"
        self._read_at = time.monotonic()


def _cannot_renew() -> bool:
    """Asking again gives nothing else."""
    return False


def _no_credential(context: Context, member: str, failure: PluginFailed) -> MemberUnreachable:
    return MemberUnreachable("no credential", member=member, object=str(context), why=failure.why, hint=failure.hint)


def _bytes_of(context: Context, member: str, entry: JsonObject, key: str) -> bytes | None:
    """The content of ``KEY-data`` (base64), else of the file that ``KEY`` names, else None."""
    encoded = entry.get(f"{key}-data")
    if encoded:
        try:
            return base64.b64decode("".join(str(encoded).split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise _unusable(context, member, f"its {key}-data is not base64") from error
    named = entry.get(key)
    if not named:
        return None
    try:
        return Path(named).read_bytes()
    except OSError as error:
        raise _unusable(context, member, f"its {key} {named} cannot be read: {error.strerror}") from error


def _load_client_certificate(made: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Give the context a certificate. Python reads it from files only: they live as long as this call, for us alone."""
    with tempfile.TemporaryDirectory(prefix="kadm-") as directory:
        certificate_file, key_file = Path(directory, "certificate"), Path(directory, "key")
        certificate_file.write_bytes(certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        made.load_cert_chain(certificate_file, key_file, password=_no_passphrase)


def _no_passphrase() -> str:
    """Asked for an encrypted key's passphrase: none, instead of a prompt on the terminal."""
    return ""


def _unusable(context: Context, member: str, why: str, hint: str = "") -> MemberUnreachable:
    return MemberUnreachable("the kubeconfig is not usable", member=member, object=str(context), why=why, hint=hint)
