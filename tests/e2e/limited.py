"""Credentials that may not do everything, made in the member itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.e2e.small_fleet import Obj, SmallFleet

READS: Obj = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}


@contextmanager
def limited(fleet: SmallFleet, directory: Path, rules: Sequence[Obj] = (READS,)) -> Iterator[Path]:
    """The kubeconfig, in ``directory``, of a ServiceAccount that may do what RBAC ``rules`` say, for the time of the
    block. Its context is that of the fleet's member; it leads past the audit.
    """
    name = f"{fleet.name}-limited"
    rbac = "rbac.authorization.k8s.io"
    account: Obj = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": "default"},
    }
    role: Obj = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": list(rules),
    }
    binding: Obj = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
    }
    made = (account, role, binding)
    for obj in made:
        fleet.member.create(obj)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / "kubeconfig"
        file.touch(mode=0o600)
        file.write_text(_kubeconfig(fleet.member.server, _token(fleet, name)), encoding="utf-8")
        yield file
    finally:
        for obj in made:
            fleet.member.delete(obj)


def _token(fleet: SmallFleet, name: str) -> str:
    path = f"/api/v1/namespaces/default/serviceaccounts/{name}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    token: str = fleet.member.send("POST", path, request)["status"]["token"]
    return token


def _kubeconfig(server: str, token: str) -> str:
    context = {"cluster": "member1", "user": "limited"}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "users": [{"name": "limited", "user": {"token": token}}],
            "clusters": [{"name": "member1", "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
            "contexts": [{"name": "member1", "context": context}],
            "current-context": "member1",
        }
    )
