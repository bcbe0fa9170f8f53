"""What a terminating namespace says of what it still holds."""

from __future__ import annotations

from typing import Any

from kadm.sandbox.controllers.namespaces import remaining_conditions
from tests.sandbox.controllers.builders import NOW, a_pod, at

Object = dict[str, Any]


def told(conditions: list[Object]) -> list[tuple[str, str, str]]:
    """Type, status and message of the conditions that are about content."""
    return [(entry["type"], entry["status"], entry["message"]) for entry in conditions[3:]]


def test_content_without_finalizers() -> None:
    remaining = [("deployments.apps", [a_pod("d")]), ("pods", [a_pod("a"), a_pod("b")])]
    assert told(remaining_conditions(remaining, [], NOW)) == [
        (
            "NamespaceContentRemaining",
            "True",
            "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances",
        ),
        ("NamespaceFinalizersRemaining", "False", "All content-preserving finalizers finished"),
    ]


def test_finalizers_are_counted() -> None:
    held = a_pod("a")
    held["metadata"]["finalizers"] = ["x.io/one", "x.io/two"]
    other = a_pod("b")
    other["metadata"]["finalizers"] = ["x.io/one"]
    counts = "x.io/one in 2 resource instances, x.io/two in 1 resource instances"
    message = f"Some content in the namespace has finalizers remaining: {counts}"
    found = told(remaining_conditions([("pods", [held, other])], [], NOW))
    assert found[1] == ("NamespaceFinalizersRemaining", "True", message)


def test_times_follow_changes_of_status_only() -> None:
    before = remaining_conditions([("pods", [a_pod("a")])], [], NOW)
    earlier = [{**entry, "lastTransitionTime": at(-60)} for entry in before]
    after = remaining_conditions([("pods", [a_pod("a"), a_pod("b")])], earlier, NOW)
    assert {entry["lastTransitionTime"] for entry in after} == {at(-60)}
