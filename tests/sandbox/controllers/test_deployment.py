"""What a Deployment does next, as a pure decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kadm.sandbox.controllers.actions import Action, Create, Delete, Update
from kadm.sandbox.controllers.deployment import REPLICASETS, RESOURCE, decide
from tests.sandbox.controllers.builders import NOW, a_deployment, a_pod, a_replicaset, a_template, at

Object = dict[str, Any]
NEW = a_template("nginx:1.26")


def steps(actions: Sequence[Action]) -> list[str]:
    """The ReplicaSet actions as text, a size for each; the Deployment's status is left out."""
    told: list[str] = []
    for action in actions:
        match action:
            case Create(resource, obj) if resource == REPLICASETS:
                told.append(f"create {obj['spec']['replicas']}")
            case Update(resource, obj) if resource == REPLICASETS:
                told.append(f"{obj['metadata']['name']} {obj['spec']['replicas']}")
            case Delete(resource, obj) if resource == REPLICASETS:
                told.append(f"delete {obj['metadata']['name']}")
            case _:
                continue
    return told


def status_of(actions: Sequence[Action]) -> Object:
    """The status that the actions write."""
    [update] = [action for action in actions if isinstance(action, Update) and action.resource == RESOURCE]
    status: Object = update.obj["status"]
    return status


def reasons(actions: Sequence[Action]) -> list[tuple[str, str, str]]:
    """Type, status and reason of the conditions that the actions write, in order."""
    return [(entry["type"], entry["status"], entry["reason"]) for entry in status_of(actions)["conditions"]]


ROLLING = [
    pytest.param(3, [], ["create 3"], id="a first ReplicaSet has all replicas"),
    pytest.param(0, [], ["create 0"], id="no replicas"),
    pytest.param(3, [a_replicaset()], ["create 1"], id="a new template: surge first"),
    pytest.param(
        3,
        [a_replicaset(), a_replicaset("web-new", 1, available=0, revision=2, template=NEW)],
        [],
        id="wait for the new pod",
    ),
    pytest.param(
        3,
        [a_replicaset(), a_replicaset("web-new", 1, revision=2, template=NEW)],
        ["web-old 2"],
        id="a new pod is there, an old one goes",
    ),
    pytest.param(
        3,
        [a_replicaset(replicas=2), a_replicaset("web-new", 1, revision=2, template=NEW)],
        ["web-new 2"],
        id="room again: the new one grows",
    ),
    pytest.param(
        3,
        [a_replicaset(replicas=3, available=0), a_replicaset("web-new", 1, available=0, revision=2, template=NEW)],
        [],
        id="maxUnavailable 0 keeps even broken old pods",
    ),
    pytest.param(
        8,
        [
            a_replicaset(replicas=8, available=5, desired=8, most=10),
            a_replicaset("web-new", 2, available=2, revision=2, desired=8, most=10, template=NEW),
        ],
        ["web-old 4"],
        id="unavailable old pods go first",
    ),
]


@pytest.mark.parametrize(("replicas", "replicasets", "want"), ROLLING)
def test_rolling_update(replicas: int, replicasets: list[Object], want: list[str]) -> None:
    template = NEW if replicasets else a_template()
    assert steps(decide(a_deployment(replicas, template=template), replicasets, [], NOW)) == want


SCALING = [
    pytest.param(5, [a_replicaset()], ["web-old 5"], id="one in use: it follows"),
    pytest.param(0, [a_replicaset()], ["web-old 0"], id="to nothing"),
    pytest.param(
        6,
        [a_replicaset(replicas=2), a_replicaset("web-new", 2, revision=2, template=NEW)],
        ["web-new 4", "web-old 4"],
        id="in mid-rollout each takes its share",
    ),
    pytest.param(
        0,
        [a_replicaset(replicas=2), a_replicaset("web-new", 2, revision=2, template=NEW)],
        ["web-new 0", "web-old 0"],
        id="in mid-rollout to nothing",
    ),
]


@pytest.mark.parametrize(("replicas", "replicasets", "want"), SCALING)
def test_scaling(replicas: int, replicasets: list[Object], want: list[str]) -> None:
    template = NEW if len(replicasets) > 1 else a_template()
    assert steps(decide(a_deployment(replicas, template=template), replicasets, [], NOW)) == want


RECREATE = [
    pytest.param([a_replicaset()], [], ["web-old 0"], id="the old pods go first"),
    pytest.param(
        [a_replicaset(replicas=0)],
        [a_pod("p", owner="ReplicaSet/web-old", deleted=True)],
        [],
        id="wait for the last old pod to be gone",
    ),
    pytest.param([a_replicaset(replicas=0)], [], ["create 3"], id="then all new ones come"),
]


@pytest.mark.parametrize(("replicasets", "pods", "want"), RECREATE)
def test_recreate(replicasets: list[Object], pods: list[Object], want: list[str]) -> None:
    deployment = a_deployment(template=NEW, strategy={"type": "Recreate"})
    assert steps(decide(deployment, replicasets, pods, NOW)) == want


def test_a_rollback_takes_the_old_replicaset_up_as_the_latest_revision() -> None:
    old = a_replicaset(replicas=0, revision=1)
    latest = a_replicaset("web-new", 3, revision=2, template=NEW)
    [update] = [
        action
        for action in decide(a_deployment(), [old, latest], [], NOW)
        if isinstance(action, Update) and action.obj["metadata"]["name"] == "web-old"
    ]
    assert (update.obj["spec"]["replicas"], update.obj["metadata"]["annotations"]) == (
        1,
        {
            "deployment.kubernetes.io/revision": "3",
            "deployment.kubernetes.io/revision-history": "1",
            "deployment.kubernetes.io/desired-replicas": "3",
            "deployment.kubernetes.io/max-replicas": "4",
        },
    )


def test_a_paused_deployment_scales_but_does_not_roll() -> None:
    deployment = a_deployment(5, template=NEW, paused=True)
    actions = decide(deployment, [a_replicaset()], [], NOW)
    assert (steps(actions), reasons(actions)[0]) == (["web-old 5"], ("Progressing", "Unknown", "DeploymentPaused"))


def test_history_beyond_the_limit_is_deleted_when_the_rollout_is_complete() -> None:
    complete = {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "observedGeneration": 1}
    deployment = a_deployment(template=NEW, status=complete, revisionHistoryLimit=1)
    olds = [a_replicaset(f"web-{n}", 0, revision=n, template=a_template(f"nginx:{n}"), age_s=90 - n) for n in (1, 2, 3)]
    current = a_replicaset("web-new", 3, revision=4, template=NEW)
    assert steps(decide(deployment, [*olds, current], [], NOW)) == ["delete web-1", "delete web-2"]


def test_a_first_status_tells_of_the_new_replicaset_then_of_unavailability() -> None:
    actions = decide(a_deployment(), [], [], NOW)
    assert reasons(actions) == [
        ("Progressing", "True", "NewReplicaSetCreated"),
        ("Available", "False", "MinimumReplicasUnavailable"),
    ]


def test_a_complete_rollout() -> None:
    created = {"type": "Progressing", "status": "True", "reason": "NewReplicaSetCreated", "message": ""}
    times = {"lastUpdateTime": at(-5), "lastTransitionTime": at(-5)}
    deployment = a_deployment(status={"conditions": [{**created, **times}]})
    assert status_of(decide(deployment, [a_replicaset()], [], NOW)) == {
        "observedGeneration": 1,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "terminatingReplicas": 0,
        "conditions": [
            {
                "type": "Available",
                "status": "True",
                "lastUpdateTime": at(0),
                "lastTransitionTime": at(0),
                "reason": "MinimumReplicasAvailable",
                "message": "Deployment has minimum availability.",
            },
            {
                "type": "Progressing",
                "status": "True",
                "lastUpdateTime": at(0),
                "lastTransitionTime": at(-5),
                "reason": "NewReplicaSetAvailable",
                "message": 'ReplicaSet "web-old" has successfully progressed.',
            },
        ],
    }


def test_no_progress_within_the_deadline() -> None:
    stuck = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": ""}
    times = {"lastUpdateTime": at(-601), "lastTransitionTime": at(-700)}
    status = {"replicas": 3, "updatedReplicas": 3, "conditions": [{**stuck, **times}]}
    actions = decide(a_deployment(status=status), [a_replicaset(available=0)], [], NOW)
    assert ("Progressing", "False", "ProgressDeadlineExceeded") in reasons(actions)


def test_nothing_to_do_is_nothing_done() -> None:
    first = decide(a_deployment(), [a_replicaset()], [], NOW)
    [update] = [action for action in first if isinstance(action, Update) and action.resource == RESOURCE]
    settled = decide(update.obj, [a_replicaset()], [], NOW)
    assert settled == []
