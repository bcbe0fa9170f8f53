"""Hashes are those of Kubernetes 1.36: the recorded names of ReplicaSets and ControllerRevisions."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.hashes import fnv32, fnv32a, pod_template_hash, revision_hash, safe_encoded
from kadm.sandbox.controllers.template_dump import dump

SPEC = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}


def defaulted(image: str = "nginx:1.25", **metadata: Any) -> dict[str, Any]:
    """The template of the recorded conversations, defaults filled in."""
    container = {
        "name": "c",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return {"metadata": {"labels": {"app": "web"}, **metadata}, "spec": {"containers": [container], **SPEC}}


@pytest.mark.parametrize(
    ("template", "want"),
    [
        pytest.param(defaulted(), "79c8bdf6d5", id="recorded in ctl-deployment"),
        pytest.param(defaulted("nginx:1.26"), "7988b68c98", id="recorded in ctl-rollout"),
        pytest.param(defaulted(annotations={"x": "y"}), "646b9bd985", id="recorded in ctl-recreate"),
    ],
)
def test_pod_template_hash(template: dict[str, Any], want: str) -> None:
    assert pod_template_hash(template, None) == want


def test_collisions_give_another_hash() -> None:
    assert pod_template_hash(defaulted(), 1) not in (
        pod_template_hash(defaulted(), None),
        pod_template_hash(defaulted(), 0),
    )


def test_revision_hash_is_the_recorded_one() -> None:
    data = {"spec": {"template": {"$patch": "replace", **defaulted()}}}
    assert revision_hash(data, 0) == "7878495884"


@pytest.mark.parametrize(
    ("function", "text", "want"),
    [
        pytest.param(fnv32, b"a", 0x050C5D7E, id="FNV-1"),
        pytest.param(fnv32a, b"a", 0xE40C292C, id="FNV-1a"),
        pytest.param(fnv32a, b"", 0x811C9DC5, id="the empty text is the offset"),
    ],
)
def test_fnv(function: Any, text: bytes, want: int) -> None:
    assert function(text) == want


def test_safe_encoding_is_by_character_code() -> None:
    assert safe_encoded("0123456789") == "456789bcdf"


@pytest.mark.parametrize(
    ("resources", "want"),
    [
        pytest.param(
            {"requests": {"cpu": "100m"}},
            "Requests:(v1.ResourceList)map[cpu:{i:(resource.int64Amount){value:(int64)100 scale:(resource.Scale)-3} "
            "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)100m Format:(resource.Format)DecimalSI}]",
            id="a decimal quantity keeps its scale",
        ),
        pytest.param(
            {"limits": {"memory": "1Mi"}},
            "Limits:(v1.ResourceList)map[memory:{i:(resource.int64Amount){value:(int64)1048576 "
            "scale:(resource.Scale)0} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} "
            "s:(string)1Mi Format:(resource.Format)BinarySI}]",
            id="a binary quantity is multiplied out",
        ),
    ],
)
def test_quantities_in_the_dump(resources: dict[str, Any], want: str) -> None:
    template = defaulted()
    template["spec"]["containers"][0]["resources"] = resources
    assert want in dump(template)


def test_embedded_and_pointer_fields_in_the_dump() -> None:
    template = defaulted()
    template["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    template["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    text = dump(template)
    assert (
        "Volumes:([]v1.Volume)[{Name:(string)v VolumeSource:(v1.VolumeSource){HostPath:(*v1.HostPathVolumeSource)<nil> "
        "EmptyDir:(*v1.EmptyDirVolumeSource){Medium:(v1.StorageMedium) SizeLimit:(*resource.Quantity)<nil>}" in text
    )
    assert "[{Name:(string) HostPort:(int32)0 ContainerPort:(int32)80 Protocol:(v1.Protocol) HostIP:(string)}]" in text
