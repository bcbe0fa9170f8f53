"""All forms in which a pod spec refers to other objects (propagation spec, section 3)."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import at
from kadm.render.references import references


@pytest.mark.parametrize(
    ("pod_spec", "want"),
    [
        ({"serviceAccountName": "a", "serviceAccount": "b"}, ["ServiceAccount a"]),
        ({"serviceAccount": "b"}, ["ServiceAccount b"]),
        ({"imagePullSecrets": [{"name": "a"}, {}, {"name": ""}]}, ["Secret a"]),
        ({"containers": [{"envFrom": [{"configMapRef": {"name": "a"}}]}]}, ["ConfigMap a"]),
        ({"initContainers": [{"envFrom": [{"secretRef": {"name": "a", "optional": True}}]}]}, ["Secret a?"]),
        ({"ephemeralContainers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "a"}}}]}]}, ["Secret a"]),
        ({"containers": [{"env": [{"valueFrom": {"configMapKeyRef": {"name": "a"}}}]}]}, ["ConfigMap a"]),
        ({"containers": [{"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]}]}, []),
        ({"volumes": [{"configMap": {"name": "a", "optional": True}}]}, ["ConfigMap a?"]),
        ({"volumes": [{"secret": {"secretName": "a"}}]}, ["Secret a"]),
        ({"volumes": [{"secret": {"name": "a"}}]}, []),
        ({"volumes": [{"persistentVolumeClaim": {"claimName": "a"}}]}, ["PersistentVolumeClaim a"]),
        (
            {"volumes": [{"projected": {"sources": [{"configMap": {"name": "a"}}, {"secret": {"name": "b"}}]}}]},
            ["ConfigMap a", "Secret b"],
        ),
        ({"volumes": [{"azureFile": {"secretName": "a"}}]}, ["Secret a"]),
        ({"volumes": [{"cephfs": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"cinder": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"flexVolume": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"rbd": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"scaleIO": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"iscsi": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"storageos": {"secretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"csi": {"nodePublishSecretRef": {"name": "a"}}}]}, ["Secret a"]),
        ({"volumes": [{"ephemeral": {"volumeClaimTemplate": {}}}, {"emptyDir": {}}, {"csi": {}}]}, []),
        ({"volumes": None, "containers": None}, []),
    ],
    ids=str,
)
def test_references(pod_spec: dict[str, Any], want: list[str]) -> None:
    found = references(pod_spec)
    assert [f"{one.kind} {one.name}{'?' if one.optional else ''}" for one in found] == want
    assert [at(pod_spec, one.path) for one in found] == [one.name for one in found], "paths lead to the names"
