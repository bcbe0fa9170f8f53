from __future__ import annotations

import pytest

from kadm.sandbox.requests import DeleteOptions, Target, delete_options, parse_target, write_options
from kadm.sandbox.responses import ApiError


@pytest.mark.parametrize(
    ("method", "path", "query", "want"),
    [
        pytest.param("GET", "/api/v1/pods", {}, ("list", "", "pods", "", "", ""), id="all namespaces"),
        pytest.param("GET", "/api/v1/namespaces/n/pods", {}, ("list", "", "pods", "n", "", ""), id="one namespace"),
        pytest.param(
            "GET", "/api/v1/namespaces/n/pods/p/log", {}, ("get", "", "pods", "n", "p", "log"), id="a subresource"
        ),
        pytest.param("GET", "/api/v1/namespaces/n", {}, ("get", "", "namespaces", "n", "n", ""), id="a namespace"),
        pytest.param(
            "PUT",
            "/api/v1/namespaces/n/finalize",
            {},
            ("update", "", "namespaces", "n", "n", "finalize"),
            id="a subresource of a namespace",
        ),
        pytest.param(
            "GET", "/apis/apps/v1/deployments", {"watch": "1"}, ("watch", "apps", "deployments", "", "", ""),
            id="a watch",
        ),
        pytest.param(
            "GET", "/api/v1/watch/pods", {}, ("watch", "", "pods", "", "", ""), id="a watch by its old path"
        ),
        pytest.param("GET", "/api/v1/nodes/a", {"watch": "1"}, ("get", "", "nodes", "", "a", ""), id="no watch of one"),
        pytest.param(
            "DELETE", "/apis/apps/v1/namespaces/n/deployments", {},
            ("deletecollection", "apps", "deployments", "n", "", ""),
            id="a collection",
        ),
        pytest.param("GET", "/apis/apps/v1", {}, ("get", "", "", "", "", ""), id="no resource"),
    ],
)  # fmt: skip
def test_targets(method: str, path: str, query: dict[str, str], want: tuple[str, ...]) -> None:
    target = parse_target(path)
    assert isinstance(target, Target)
    found = (target.group, target.resource, target.namespace, target.name, target.subresource)
    assert (target.verb(method, query), *found) == want


def test_the_user_agent_names_the_manager_that_a_write_does_not_name() -> None:
    options = write_options("CreateOptions", {}, user_agent="kadm/1.0 (linux)", username="me", dry_run=[])
    assert (options.manager, options.field_validation, options.dry_run) == ("kadm", "Warn", False)


def test_all_faults_of_options_are_told_at_once() -> None:
    query = {"force": "true", "fieldValidation": "No"}
    with pytest.raises(ApiError) as refused:
        write_options("PatchOptions", query, user_agent="x", username="me", dry_run=["Some"])
    causes = (refused.value.details or {})["causes"]
    assert [cause["field"] for cause in causes] == ["dryRun", "force", "fieldValidation"]


@pytest.mark.parametrize(
    ("query", "body", "want"),
    [
        pytest.param({}, None, DeleteOptions(), id="nothing said"),
        pytest.param(
            {"propagationPolicy": "Orphan", "gracePeriodSeconds": "5"},
            None,
            DeleteOptions(propagation="Orphan", grace_period_s=5),
            id="in the query",
        ),
        pytest.param(
            {"propagationPolicy": "Orphan"},
            {"kind": "DeleteOptions", "preconditions": {"uid": "u", "resourceVersion": "3"}, "dryRun": ["All"]},
            DeleteOptions(uid="u", resource_version="3", dry_run=True),
            id="a body counts instead",
        ),
        pytest.param({"orphanDependents": "false"}, None, DeleteOptions(propagation="Background"), id="the old way"),
    ],
)
def test_delete_options(query: dict[str, str], body: object, want: DeleteOptions) -> None:
    assert delete_options(query, dry_run=[], body=body) == want
