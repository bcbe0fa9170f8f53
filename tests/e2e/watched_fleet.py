"""What a daemon is given to keep: a workload that its policy divides, a ConfigMap, and a git repository of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.running import Tools

MEMBERS = ("member1", "member2", "member3")

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {kubeadmiral.io/cluster-propagation-policy-name: migrate}}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "app:1", resources: {requests: {cpu: "1"}}}]}
"""

MIGRATE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: migrate, annotations: ANNOTATIONS}
spec:
  schedulingMode: Divide
  placement:
  - {cluster: member1, preferences: {weight: 1}}
  - {cluster: member2, preferences: {weight: 1}}
  - {cluster: member3, preferences: {weight: 1}}
  autoMigration: {when: {podUnschedulableFor: AFTER}, keepUnschedulableReplicas: KEEP}
"""


def web(replicas: int) -> str:
    return WEB.replace("REPLICAS", str(replicas))


def migrate(*, annotations: str = "{}", after: str = "2s", keep: bool = False) -> str:
    return MIGRATE.replace("ANNOTATIONS", annotations).replace("AFTER", after).replace("KEEP", str(keep).lower())


def config(value: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{v: {value}}}\n"


def values(tools: Tools) -> list[str]:
    return [tools.get(member, "configmap/c")["data"]["v"] for member in MEMBERS]


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(root: Path, **files: str) -> str:
    for name, text in files.items():
        (root / f"manifests/{name}.yaml").write_text(text)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "x")
    return git(root, "rev-parse", "HEAD")
