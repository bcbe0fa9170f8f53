"""A repository that divides a Deployment over three members by weights: changed weights move its replicas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {name: test}
spec:
  defaults: {clusterPropagationPolicy: spread, clusterOverridePolicy: images}
"""

SPREAD = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: spread}
spec:
  schedulingMode: Divide
  placement:
  - {cluster: member1, preferences: {weight: W1}}
  - {cluster: member2, preferences: {weight: 1}}
  - {cluster: member3, preferences: {weight: W3}}
  reschedulePolicy:
    rescheduleWhen: {policyContentChanged: true}
    replicaRescheduling: {avoidDisruption: false}
"""

IMAGES = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: images}
spec:
  overrideRules:
  - targetClusters: {clusters: [member3]}
    overriders:
      image:
      - operations: [{imageComponent: Tag, operator: overwrite, value: TAG}]
"""

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "app:1", resources: {requests: {cpu: CPU}}}
"""


def files(*, w1: int, w3: int, tag: str = '"1"', cpu: str = "100m") -> dict[str, str]:
    """The repository, with these weights of the first and the third member, and this tag in the third."""
    return {
        "kadm.yaml": FLEET,
        "policies/spread.yaml": SPREAD.replace("W1", str(w1)).replace("W3", str(w3)),
        "policies/images.yaml": IMAGES.replace("TAG", tag),
        "manifests/web.yaml": WEB.replace("CPU", cpu),
    }


def write(root: Path, **words: Any) -> None:
    """Put ``files`` into the repository."""
    for path, text in files(**words).items():
        (root / path).write_text(text, encoding="utf-8")
