"""Exec plugins: what they are told, what they may answer, and what becomes of one that fails or hangs."""

from __future__ import annotations

import asyncio
import json
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from kadm.errors import Location, MemberUnreachable
from kadm.members.credentials import Credentials
from kadm.members.exec_plugin import ExecCredential, ExecPlugin, PluginFailed
from kadm.members.kubeconfig import Context, Kubeconfigs
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec, KubeconfigRef
from tests.members.fake_member import run

V1 = "client.authentication.k8s.io/v1"
BETA = "client.authentication.k8s.io/v1beta1"


def a_context(tmp_path: Path, script: str, *, cluster: dict[str, Any] | None = None, **config: Any) -> Context:
    """A context whose plugin is this shell script, beside the kubeconfig."""
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!/bin/sh\n{script}\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    entry = {"apiVersion": V1, "command": "./plugin", **config}
    return Context("eu", tmp_path / "config", cluster or {"server": "https://eu"}, {"exec": entry})


def credential(context: Context) -> ExecCredential:
    async def asked() -> ExecCredential:
        return await ExecPlugin(context, {"PATH": "/usr/bin:/bin"}).credential()

    return run(asked())


def answer(api_version: str = V1, **status: str) -> str:
    return f"echo '{json.dumps({'apiVersion': api_version, 'kind': 'ExecCredential', 'status': status})}'"


def test_a_token(tmp_path: Path) -> None:
    assert credential(a_context(tmp_path, answer(token="t"))) == ExecCredential(token="t")


def test_what_a_plugin_is_told(tmp_path: Path) -> None:
    told = f'(echo "$KUBERNETES_EXEC_INFO"; echo "$1 $STAGE") > {tmp_path}/told'
    script = f"{told}; {answer(BETA, token='t')}"
    context = a_context(
        tmp_path,
        script,
        cluster={"server": "https://eu", "certificate-authority-data": "Q0E=", "proxy-url": "http://p"},
        apiVersion=BETA,
        args=["--region=eu"],
        env=[{"name": "STAGE", "value": "prod"}],
        provideClusterInfo=True,
    )
    credential(context)
    info, arguments = (tmp_path / "told").read_text().splitlines()
    assert (json.loads(info), arguments) == (
        {
            "apiVersion": BETA,
            "kind": "ExecCredential",
            "spec": {
                "interactive": False,
                "cluster": {
                    "server": "https://eu",
                    "certificate-authority-data": "Q0E=",
                    "proxy-url": "http://p",
                },
            },
        },
        "--region=eu prod",
    )


@pytest.mark.parametrize(
    ("script", "config", "why"),
    [
        pytest.param("echo secret; echo login first >&2; exit 3", {}, "failed (3): login first", id="exit code"),
        pytest.param("echo '{\"token\": 5}'", {}, "gave no ExecCredential", id="other JSON"),
        pytest.param("echo secret", {}, "gave no ExecCredential", id="no JSON"),
        pytest.param(
            answer(BETA, token="secret"), {}, f"answered {BETA}, the kubeconfig says {V1}", id="other version"
        ),
        pytest.param(answer(), {}, "gave neither a token nor a certificate", id="empty status"),
        pytest.param(
            answer(clientCertificateData="c"), {}, "gave a certificate without its key, or a key alone", id="no key"
        ),
        pytest.param("", {"command": "./none"}, "does not run: No such file or directory", id="no such command"),
        pytest.param(
            "",
            {"args": "x"},
            "its exec entry is not usable: Expected `array | null`, got `str` - at `$.args`",
            id="args",
        ),
        pytest.param("", {"command": ""}, "its exec entry has no command", id="no command"),
        pytest.param(
            "",
            {"apiVersion": "client.authentication.k8s.io/v1alpha1"},
            "its exec entry has apiVersion client.authentication.k8s.io/v1alpha1",
            id="a version that is gone",
        ),
        pytest.param(
            "",
            {"interactiveMode": "Always"},
            "its exec plugin needs a terminal (interactiveMode: Always)",
            id="needs a terminal",
        ),
    ],
)
def test_what_fails_says_why_and_quotes_no_output(
    tmp_path: Path, script: str, config: dict[str, Any], why: str
) -> None:
    with pytest.raises(PluginFailed) as caught:
        credential(a_context(tmp_path, script, **config))
    assert caught.value.why.endswith(why)
    assert "secret" not in caught.value.why + caught.value.hint


def test_it_runs_once_for_all_and_again_when_its_credential_ends(tmp_path: Path) -> None:
    script = f"echo run >> {tmp_path}/runs; {answer(token='t', expirationTimestamp='2020-01-01T00:00:00Z')}"

    async def asked() -> None:
        lasting = ExecPlugin(a_context(tmp_path, f"echo run >> {tmp_path}/runs; {answer(token='t')}"), {})
        await asyncio.gather(*(lasting.credential() for _ in range(5)))
        first = await lasting.credential()
        lasting.forget(first)
        second = await lasting.credential()
        lasting.forget(first)  # another member comes late: that one has been replaced
        assert await lasting.credential() is second
        expiring = ExecPlugin(a_context(tmp_path, script), {})
        await expiring.credential()
        await expiring.credential()

    run(asked())
    assert (tmp_path / "runs").read_text().count("run") == 4


def test_a_plugin_that_hangs_is_ended(tmp_path: Path) -> None:
    a_context(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    config = {
        "contexts": [{"name": "eu", "context": {"cluster": "eu", "user": "eu"}}],
        "clusters": [{"name": "eu", "cluster": {"server": "https://eu"}}],
        "users": [{"name": "eu", "user": {"exec": {"apiVersion": V1, "command": "./plugin"}}}],
    }
    file = tmp_path / "config"
    file.write_text(json.dumps(config))
    root = tmp_path / "repo"
    root.mkdir()
    cluster = FederatedCluster(
        name="eu",
        location=Location("clusters/eu.yaml"),
        spec=FederatedClusterSpec(kubeconfig=KubeconfigRef(path=str(file))),
    )
    credentials = Credentials(Kubeconfigs(str(root), {}), {"PATH": "/usr/bin:/bin"})
    start = time.monotonic()
    with pytest.raises(MemberUnreachable) as caught:
        run(credentials_access(credentials, cluster))
    assert caught.value.problem.why == "its exec plugin gave none within 0.5 s"
    assert time.monotonic() - start < 5
    pid = (tmp_path / "pid").read_text().strip()
    assert not Path(f"/proc/{pid}").exists()


async def credentials_access(credentials: Credentials, cluster: FederatedCluster) -> None:
    await credentials.access(cluster, timeout_s=0.5)


def test_a_failure_holds_for_all_that_share_the_plugin_and_names_each(tmp_path: Path) -> None:
    a_context(tmp_path, f"echo run >> {tmp_path}/runs; exit 1")
    context = Context(
        "eu",
        tmp_path / "config",
        {"server": "https://eu"},
        {"exec": {"apiVersion": V1, "command": "./plugin"}},
    )

    async def asked() -> list[str]:
        credentials = Credentials(Kubeconfigs(str(tmp_path / "repo"), {}), {"PATH": "/usr/bin:/bin"})
        members = []
        for member in ("eu", "us"):
            with pytest.raises(MemberUnreachable) as caught:
                await credentials.access_by(context, member, timeout_s=5)
            members.append(caught.value.problem.member)
        return members

    assert (run(asked()), (tmp_path / "runs").read_text()) == (["eu", "us"], "run\n")
