"""What happens to a pod on a node, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.kubelet import Delays, after, next_step, tag
from tests.sandbox.controllers.builders import NOW, a_node, a_pod

Object = dict[str, Any]
DELAYS = Delays(start_s=1.0, ready_s=2.0, run_s=3.0, stop_s=4.0)


def life(pod: Object, most: int = 6) -> list[str]:
    """The steps of a pod until nothing happens any more, or ``most``."""
    seen: list[str] = []
    while (following := next_step(pod, DELAYS)) and len(seen) < most:
        seen.append(following[0])
        pod = after(pod, following[0], a_node(), "10.244.0.2", NOW)
    return seen


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(a_pod(), ["running", "ready"], id="a service runs on"),
        pytest.param(a_pod(restartPolicy="Never"), ["running", "ready", "succeeded"], id="a task ends well"),
        pytest.param(
            a_pod(restartPolicy="OnFailure"), ["running", "ready", "succeeded"], id="restarted on failure only"
        ),
        pytest.param(a_pod(image="i:broken"), ["ErrImagePull", "ImagePullBackOff"], id="an image that is not there"),
        pytest.param(a_pod(image="i:crash"), ["running", "CrashLoopBackOff"], id="a crashing service"),
        pytest.param(a_pod(image="i:crash", restartPolicy="Never"), ["running", "failed"], id="a crashing task"),
        pytest.param(a_pod(image="i:unready"), ["running"], id="never ready"),
        pytest.param(a_pod(phase="Succeeded"), [], id="what has ended stays so"),
    ],
)
def test_life(pod: Object, want: list[str]) -> None:
    assert life(pod) == want


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(a_pod(), ("running", 1.0), id="start"),
        pytest.param(a_pod(phase="Running"), ("ready", 2.0), id="become ready"),
        pytest.param(a_pod(phase="Running", ready=True, restartPolicy="Never"), ("succeeded", 3.0), id="run"),
        pytest.param(a_pod(phase="Running", ready=True, deleted=True), ("gone", 4.0), id="stop"),
    ],
)
def test_delays(pod: Object, want: tuple[str, float]) -> None:
    assert next_step(pod, DELAYS) == want


@pytest.mark.parametrize(
    ("image", "want"),
    [
        pytest.param("nginx", "", id="none"),
        pytest.param("nginx:1.25", "1.25", id="a tag"),
        pytest.param("localhost:5000/nginx", "", id="a port is no tag"),
        pytest.param("localhost:5000/nginx:broken@sha256:00", "broken", id="with a digest"),
    ],
)
def test_tag(image: str, want: str) -> None:
    assert tag(image) == want


def test_conditions_of_a_ready_pod() -> None:
    pod = after(after(a_pod(), "running", a_node(), "10.244.0.2", NOW), "ready", a_node(), "10.244.0.2", NOW)
    status = pod["status"]
    assert (status["phase"], status["podIP"], [(entry["type"], entry["status"]) for entry in status["conditions"]]) == (
        "Running",
        "10.244.0.2",
        [
            ("PodReadyToStartContainers", "True"),
            ("Initialized", "True"),
            ("Ready", "True"),
            ("ContainersReady", "True"),
            ("PodScheduled", "True"),
        ],
    )
