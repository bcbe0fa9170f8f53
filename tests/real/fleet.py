"""A fleet of a test's own on members that tests share: its name, its namespace, its directory."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import Any

from kadm.model.applyset import PART_OF, applyset_id
from tests.e2e.running import Said, Tools
from tests.real.members import Members

CLUSTER_SCOPED = (
    "namespaces",
    "clusterroles",
    "clusterrolebindings",
    "customresourcedefinitions",
    "storageclasses",
    "ingressclasses",
    "priorityclasses",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
)
"""What a fleet of these tests may leave outside of namespaces."""

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {{name: {name}}}
spec:
  namespace: {name}
  defaults: {{clusterPropagationPolicy: everywhere}}
"""

EVERYWHERE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate}
"""

MEMBER = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata: {{name: {name}}}
spec:
  kubeconfig: {{context: {name}}}
"""

Json = Any


class Fleet:
    """kadm at work for one fleet, in ``root``. Objects without a namespace go to one of the fleet's own name."""

    def __init__(self, members: Members, tools: Tools, *, name: str = "", example: Path | None = None) -> None:
        self.members = members
        self.tools = tools
        self.name = name or f"t{secrets.token_hex(4)}"
        self.root = tools.cwd / self.name
        tools.env["KUBECONFIG"] = str(members.kubeconfig)
        if example is not None:
            shutil.copytree(example, self.root)
            return
        for folder in ("clusters", "manifests", "policies"):
            (self.root / folder).mkdir(parents=True)
        self.write("kadm.yaml", FLEET.format(name=self.name))
        self.write("policies/everywhere.yaml", EVERYWHERE)
        self.join(*members.names)

    def join(self, *names: str) -> None:
        """Make these the fleet's members."""
        for path in (self.root / "clusters").glob("*.yaml"):
            path.unlink()
        for name in names:
            self.write(f"clusters/{name}.yaml", MEMBER.format(name=name))

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def kadm(self, *arguments: str, code: int | None = 0) -> Said:
        return self.tools.kadm("-C", self.root, *arguments, code=code)

    def apply(self, *flags: str, code: int | None = 0) -> Said:
        return self.kadm("apply", "--yes", *flags, code=code)

    def plan(self, *flags: str, code: int | None = 0) -> Json:
        """The plan as JSON."""
        said = self.kadm("plan", "-o", "json", *flags, code=code)
        assert said.out, said.err
        return said.json

    def nothing_to_do(self) -> None:
        """Fails unless the plan is empty, and says so by its exit code."""
        said = self.kadm("plan", "--detailed-exitcode", "-o", "json", code=None)
        plan = said.json
        found = {part: plan[part] for part in ("changes", "held", "unplaced", "frozen", "unread") if plan[part]}
        assert (said.code, found) == (0, {}), f"{said.code} {found}"

    def remove(self) -> None:
        """Take away everything that the fleet left in the members, whatever state it is in."""
        label = f"{PART_OF}={applyset_id(f'kadm-{self.name}')}"
        self.tools.env["KUBECONFIG"] = str(self.members.kubeconfig)  # whatever proxy the test stood behind
        for member in self.members.names:
            access = self.members.access(member)
            self.tools.kubectl(member, "delete", ",".join(CLUSTER_SCOPED), "-l", label, "--wait=false", code=None)
            access.ask("DELETE", f"/api/v1/namespaces/{self.name}")
            listed = access.call("GET", "/api/v1/namespaces/kadm-system/configmaps").get("items") or ()
            for one in listed:
                if one["metadata"]["name"].startswith(f"kadm-{self.name}"):
                    access.ask("DELETE", f"/api/v1/namespaces/kadm-system/configmaps/{one['metadata']['name']}")


def sweep(members: Members, prefix: str) -> None:
    """Take away what fleets whose names begin with ``prefix`` left in the members: namespaces, CRDs, what is kadm's."""
    kinds = ("/api/v1/namespaces", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    core, leases = "/api/v1/namespaces/kadm-system", "/apis/coordination.k8s.io/v1/namespaces/kadm-system/leases"
    for member in members.names:
        access = members.access(member)
        for path in (*kinds, f"{core}/configmaps", f"{core}/secrets", leases):
            names = [one["metadata"]["name"] for one in access.call("GET", path).get("items") or ()]
            for name in names:
                if name.startswith((prefix, f"things.{prefix}", f"kadm-{prefix}")):
                    access.ask("DELETE", f"{path}/{name}")
