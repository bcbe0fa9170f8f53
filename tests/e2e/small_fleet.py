"""Fleets of their own on a sandbox that a whole module shares, driven in this process, and other tools' hands on it.

A scenario costs some tenths of a second: no process is started for it.
"""

from __future__ import annotations

import contextlib
import io
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from kadm.cli.main import main
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.audit import Audit, audited
from tests.e2e.faults import Fault
from tests.e2e.running import Said

Obj = dict[str, Any]

EVERYWHERE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate}
"""

PLURALS = {
    "CustomResourceDefinition": "customresourcedefinitions",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "Ingress": "ingresses",
    "NetworkPolicy": "networkpolicies",
}


@dataclass
class Member:
    """One member as others reach it: past kadm, and past the audit."""

    server: str
    token: str

    def send(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """The decoded answer; None for 404."""
        request = urllib.request.Request(
            self.server + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )
        context = ssl._create_unverified_context()
        try:
            with urllib.request.urlopen(request, context=context, timeout=20) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def get(self, obj: Obj) -> Any:
        return self.send("GET", place(obj))

    def create(self, obj: Obj, manager: str = "kubectl-create") -> Any:
        return self.send("POST", f"{place(obj, name=False)}?fieldManager={manager}", obj)

    def apply(self, obj: Obj, manager: str) -> Any:
        """Server-side apply by another tool."""
        path = f"{place(obj)}?fieldManager={manager}&force=true"
        return self.send("PATCH", path, obj, "application/apply-patch+yaml")

    def merge(self, obj: Obj, patch: Obj, manager: str = "kubectl-edit") -> Any:
        """A merge patch, as a person at kubectl sends it."""
        return self.send("PATCH", f"{place(obj)}?fieldManager={manager}", patch, "application/merge-patch+json")

    def scale(self, obj: Obj, replicas: int, manager: str) -> Any:
        """Set the replicas as an autoscaler does, by the scale subresource."""
        path = f"{place(obj)}/scale?fieldManager={manager}"
        return self.send("PATCH", path, {"spec": {"replicas": replicas}}, "application/merge-patch+json")

    def delete(self, obj: Obj) -> Any:
        return self.send("DELETE", f"{place(obj)}?propagationPolicy=Background")


@dataclass
class Shared:
    """The members of a module, the audit in front of them, and the way past it."""

    audit: Audit
    members: dict[str, Member]
    prefix: str = "f"
    """Of the names of the fleets."""
    fleets: int = 0

    def fault(self, member: str, *faults: Fault) -> None:
        """Have a member show these faults to kadm, in place of those that it shows."""
        self.audit.fault(member, *faults)


@dataclass
class SmallFleet:
    """A fleet with a name, a namespace and a record of its own. Its commands go through the audit."""

    root: Path
    name: str
    shared: Shared
    member: Member
    files: list[str] = field(default_factory=list)

    def write(self, *objects: Obj, path: str = "manifests/all.yaml") -> None:
        """The repository's objects in one file, in place of what was there."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump_all(objects), encoding="utf-8")

    def kadm(self, *arguments: str, code: int | None = 0) -> Said:
        """Run kadm in this process; ``code`` None: any exit code."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            found = main(["-C", str(self.root), *arguments])
        said = Said(int(found), out.getvalue(), err.getvalue())
        told = f"kadm {' '.join(arguments)} exited {said.code}\n{said.out}\n{said.err}"
        assert code is None or said.code == code, told
        assert "fault in kadm" not in said.err, told
        return said

    def plan(self, *flags: str, code: int | None = 0) -> Any:
        return self.kadm("plan", "-o", "json", *flags, code=code).json

    def apply(self, *flags: str, code: int | None = 0) -> Any:
        """Apply, and the report."""
        self.shared.audit.clear()
        return self.kadm("apply", "--yes", "-o", "json", *flags, code=code).json

    def actions(self, *flags: str, code: int | None = None) -> dict[str, str]:
        """``Kind/name`` → what a plan would do, ``held`` and the flag included."""
        plan = self.plan(*flags, code=code)
        found = {f"{one['kind']}/{one['name']}": one["action"] for one in plan["changes"]}
        return found | {f"{one['kind']}/{one['name']}": f"held: {one['flag']}" for one in plan["held"]}

    def deleted(self) -> list[str]:
        """What DELETE requests the last apply sent, as ``plural/name``, sorted; its own lock aside."""
        return sorted(name for _, name in self.deleted_in_members())

    def deleted_in_members(self) -> list[tuple[str, str]]:
        """What DELETE requests the last apply sent, as member and ``plural/name``, sorted; its own locks aside."""
        sent = [one for one in self.shared.audit.requests if one.method == "DELETE" and "/leases/" not in one.path]
        return sorted((one.member, "/".join(one.path.split("/")[-2:])) for one in sent)


@contextlib.contextmanager
def shared_sandbox(directory: Path, *, members: int = 1) -> Iterator[Shared]:
    """A sandbox behind an audit, for the time of the block; KUBECONFIG leads through the audit."""
    sandbox = directory / "sandbox"
    up(sandbox, SandboxOptions(members=members, start_delay_s=0.02, ready_delay_s=0.02))
    try:
        with shared_members(sandbox, directory) as shared:
            yield shared
    finally:
        down(sandbox)


@contextlib.contextmanager
def shared_members(running: Path, directory: Path, *, prefix: str = "f") -> Iterator[Shared]:
    """The members of the kubeconfig in ``running``, which names tokens, behind an audit, as ``shared_sandbox``."""
    config = yaml.safe_load((running / "kubeconfig").read_text(encoding="utf-8"))
    tokens = {one["name"]: one["user"].get("token", "") for one in config["users"]}
    users = {one["context"]["cluster"]: one["context"]["user"] for one in config["contexts"]}
    found = {one["name"]: Member(one["cluster"]["server"], tokens[users[one["name"]]]) for one in config["clusters"]}
    with audited(running, directory) as audit, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(audit.kubeconfig))
        yield Shared(audit, found, prefix)


def small_fleet(
    shared: Shared, directory: Path, *, spec: Obj | None = None, members: Sequence[str] = ("member1",)
) -> SmallFleet:
    """A new fleet on these of the shared members."""
    shared.fleets += 1
    name = f"{shared.prefix}{shared.fleets}"
    (directory / "clusters").mkdir(parents=True)
    (directory / "policies").mkdir()
    (directory / "manifests").mkdir()
    defaults = {"defaults": {"clusterPropagationPolicy": "everywhere"}, "namespace": name}
    fleet = {
        "apiVersion": "kadm.io/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": name},
        "spec": {**defaults, **(spec or {})},
    }
    (directory / "kadm.yaml").write_text(yaml.safe_dump(fleet), encoding="utf-8")
    for member in members:
        cluster = {
            "apiVersion": "core.kubeadmiral.io/v1alpha1",
            "kind": "FederatedCluster",
            "metadata": {"name": member},
            "spec": {"kubeconfig": {"context": member}},
        }
        (directory / f"clusters/{member}.yaml").write_text(yaml.safe_dump(cluster), encoding="utf-8")
    (directory / "policies/everywhere.yaml").write_text(EVERYWHERE, encoding="utf-8")
    return SmallFleet(directory, name, shared, shared.members[members[0]])


def place(obj: Obj, *, name: bool = True) -> str:
    """The request path of an object, or of its list."""
    group, _, version = obj["apiVersion"].rpartition("/")
    path = f"/apis/{group}/{version}" if group else f"/api/{version}"
    if namespace := obj["metadata"].get("namespace"):
        path += f"/namespaces/{namespace}"
    path += f"/{PLURALS.get(obj['kind'], obj['kind'].lower() + 's')}"
    return f"{path}/{obj['metadata']['name']}" if name else path


def namespace(name: str, **metadata: Any) -> Obj:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}}


def config(namespace: str, name: str = "c", data: dict[str, str] | None = None) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"k": "v"} if data is None else data,
    }


def annotated(obj: Obj, **annotations: str) -> Obj:
    """The object with annotations; ``kadm_protect`` stands for ``kadm.io/protect``, ``ka_orphan`` for KubeAdmiral's."""
    prefixes = {"kadm": "kadm.io", "ka": "kubeadmiral.io"}
    named = {}
    for key, value in annotations.items():
        prefix, _, name = key.partition("_")
        named[f"{prefixes[prefix]}/{name.replace('_', '-')}"] = value
    metadata = {**obj["metadata"], "annotations": {**obj["metadata"].get("annotations", {}), **named}}
    return {**obj, "metadata": metadata}


def deployment(namespace: str, name: str = "web", *, replicas: int | None = 2, **spec: Any) -> Obj:
    labels = {"app": name}
    container = {"name": "app", "image": "app:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            **({} if replicas is None else {"replicas": replicas}),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            **spec,
        },
    }


def autoscaler(namespace: str, version: str = "v2") -> Obj:
    """Of the Deployment that ``deployment`` makes, from 1 to 9 replicas."""
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 9},
    }
