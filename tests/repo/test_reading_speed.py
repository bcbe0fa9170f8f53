"""Reading is fast: no slower than PyYAML's own C loader, and positions cost what they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable

import yaml

from kadm.repo.documents import read_documents
from kadm.repo.yaml_writer import to_yaml


def seconds(action: Callable[[], object]) -> float:
    """The best of three runs."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        action()
        taken.append(time.process_time() - began)
    return min(taken)


def test_reading_costs_no_more_than_the_c_loader() -> None:
    container = {"name": "app", "image": "nginx:1.25", "ports": [{"containerPort": 80}], "env": [{"name": "A"}] * 5}
    objects = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": f"web-{n}"},
            "spec": {"x": [container] * 5},
        }
        for n in range(100)
    ]
    data = "---\n".join(to_yaml(one) for one in objects).encode()
    read = list(yaml.load_all(data, yaml.CSafeLoader))
    assert [document.value for document in read_documents(data, "f.yaml").documents] == read
    ours = seconds(lambda: read_documents(data, "f.yaml"))
    theirs = seconds(lambda: list(yaml.load_all(data, yaml.CSafeLoader)))
    assert ours < 1.5 * theirs
