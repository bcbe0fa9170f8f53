"""What a StatefulSet does next, as a pure decision."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.actions import Create, Delete
from kadm.sandbox.controllers.revisions import History, history
from kadm.sandbox.controllers.statefulset import decide
from tests.sandbox.controllers.builders import NOW, a_pod, a_template

Object = dict[str, Any]


def a_statefulset(replicas: int = 3, *, image: str = "nginx:1.25", status: Object | None = None, **spec: Any) -> Object:
    """StatefulSet ``web``."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "ns", "uid": "uid-web", "generation": 1},
        "spec": {
            "replicas": replicas,
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "template": a_template(image),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            **spec,
        },
        "status": status or {},
    }


def revisions(*images: str) -> History:
    """The history after these templates, one after the other."""
    found = history(a_statefulset(image=images[0]), [])
    for image in images[1:]:
        found = history(a_statefulset(image=image), found.revisions)
    return found


OLD, NEW = "nginx:1.25", "nginx:1.26"
BOTH = revisions(OLD, NEW)
OLD_NAME, NEW_NAME = (entry["metadata"]["name"] for entry in BOTH.revisions)


def a_member_pod(number: int, *, revision: str = OLD_NAME, ready: bool = True, **more: Any) -> Object:
    """Pod ``web-<number>``."""
    labels = {"app": "web", "controller-revision-hash": revision}
    return a_pod(f"web-{number}", owner="StatefulSet/web", phase="Running", ready=ready, labels=labels, **more)


def told(statefulset: Object, pods: list[Object], found: History, claims: set[str] | None = None) -> list[str]:
    """The actions as text."""
    names: list[str] = []
    for action in decide(statefulset, pods, found, claims or set(), NOW).actions:
        match action:
            case Create(_, obj):
                names.append(f"create {obj['metadata']['name']}")
            case Delete(_, obj):
                names.append(f"delete {obj['metadata']['name']}")
            case _:
                names.append("update")
    return names


ONE = revisions(OLD)
ALL = [a_member_pod(number) for number in range(3)]
CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


@pytest.mark.parametrize(
    ("statefulset", "pods", "want"),
    [
        pytest.param(a_statefulset(), [], ["create web-0"], id="the first alone"),
        pytest.param(a_statefulset(), [a_member_pod(0, ready=False)], [], id="wait until it is ready"),
        pytest.param(a_statefulset(), [a_member_pod(0)], ["create web-1"], id="then the second"),
        pytest.param(
            a_statefulset(podManagementPolicy="Parallel"),
            [],
            ["create web-0", "create web-1", "create web-2"],
            id="parallel",
        ),
        pytest.param(a_statefulset(2, ordinals={"start": 5}), [], ["create web-5"], id="ordinals start where it says"),
        pytest.param(a_statefulset(1), ALL, ["delete web-2"], id="the highest goes first"),
        pytest.param(
            a_statefulset(1), [*ALL[:2], a_member_pod(2, deleted=True)], [], id="and must be gone before the next goes"
        ),
        pytest.param(a_statefulset(), ALL, [], id="nothing to do"),
        pytest.param(
            a_statefulset(1, volumeClaimTemplates=[CLAIM]),
            [],
            ["create data-web-0", "create web-0"],
            id="the claim first",
        ),
    ],
)
def test_pods(statefulset: Object, pods: list[Object], want: list[str]) -> None:
    assert told(statefulset, pods, ONE) == want


def test_a_claim_that_exists_is_used_again() -> None:
    assert told(a_statefulset(1, volumeClaimTemplates=[CLAIM]), [], ONE, {"data-web-0"}) == ["create web-0"]


UPDATING = {"currentRevision": OLD_NAME, "updateRevision": NEW_NAME}


def rolling(partition: int) -> Object:
    """An update strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}


@pytest.mark.parametrize(
    ("spec", "pods", "want"),
    [
        pytest.param({}, ALL, ["delete web-2"], id="from the highest down"),
        pytest.param(
            {}, [*ALL[:2], a_member_pod(2, revision=NEW_NAME, ready=False)], [], id="wait for the new one to be ready"
        ),
        pytest.param({}, [*ALL[:2], a_member_pod(2, revision=NEW_NAME)], ["delete web-1"], id="then the next"),
        pytest.param(
            {"updateStrategy": rolling(2)},
            [*ALL[:2], a_member_pod(2, revision=NEW_NAME)],
            [],
            id="down to the partition",
        ),
        pytest.param({"updateStrategy": {"type": "OnDelete"}}, ALL, [], id="on delete: by hand"),
    ],
)
def test_update(spec: Object, pods: list[Object], want: list[str]) -> None:
    assert told(a_statefulset(image=NEW, status=UPDATING, **spec), pods, BOTH) == want


def test_a_pod_below_the_partition_comes_back_as_it_was() -> None:
    statefulset = a_statefulset(image=NEW, status=UPDATING, updateStrategy=rolling(2))
    [action] = decide(statefulset, ALL[1:], BOTH, set(), NOW).actions
    assert isinstance(action, Create)
    assert (
        action.obj["spec"]["containers"][0]["image"],
        action.obj["metadata"]["labels"]["controller-revision-hash"],
    ) == (OLD, OLD_NAME)


def test_status_after_a_complete_update() -> None:
    pods = [a_member_pod(number, revision=NEW_NAME) for number in range(3)]
    assert decide(a_statefulset(image=NEW, status=UPDATING), pods, BOTH, set(), NOW).status == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "availableReplicas": 3,
        "currentRevision": NEW_NAME,
        "updateRevision": NEW_NAME,
        "collisionCount": 0,
    }


def test_an_old_template_takes_its_old_revision_up_again() -> None:
    again = history(a_statefulset(image=OLD), BOTH.revisions)
    assert (again.update["metadata"]["name"], again.update["revision"]) == (OLD_NAME, 3)
