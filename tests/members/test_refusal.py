"""Answers that are no success, as errors; nothing of a Secret's values comes through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kadm.errors import Problem
from kadm.members.refusal import ManifestRefused, is_not_found, is_secret_path, missing_namespace, refusal
from tests.members.fake_member import status

DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web"
SECRET = "/api/v1/namespaces/default/secrets/pin"
FORBIDDEN = 'secrets "pin" is forbidden: User "ci" cannot patch resource "secrets" in API group "" at the cluster scope'
LEAKING = (
    "failed to create typed patch object (default/pin; /v1, Kind=Secret): .stringData.pin: expected string, got "
    "&value.valueUnstructured{Value:987654}"
)


def body(code: int, reason: str = "", message: str = "", **details: Any) -> bytes:
    answer = status(code, reason, message, **details).body
    assert isinstance(answer, bytes)
    return answer


@pytest.mark.parametrize(
    ("code", "text", "want"),
    [
        pytest.param(
            403,
            body(403, "Forbidden", 'deployments.apps "web" is forbidden: User "ci" cannot patch resource'),
            Problem(
                what="write forbidden (403 Forbidden)",
                member="eu",
                object="Deployment.apps default/web",
                why='deployments.apps "web" is forbidden: User "ci" cannot patch resource',
                hint="grant this permission to the credential's user in the member",
            ),
            id="forbidden",
        ),
        pytest.param(
            500,
            body(
                500, "", "failed to create typed patch object (default/web; apps/v1): .spec.bogus: field not declared"
            ),
            Problem(
                what="the manifest does not fit its kind in this member",
                member="eu",
                object="Deployment.apps default/web",
                why="failed to create typed patch object (default/web; apps/v1): .spec.bogus: field not declared",
            ),
            id="the manifest's fault",
        ),
        pytest.param(
            502,
            b"<html><body>Bad gateway</body></html>",
            Problem(what="the member answered 502", member="eu", object="Deployment.apps default/web"),
            id="a page of HTML says nothing",
        ),
        pytest.param(
            404,
            b"404 page not found\n",
            Problem(
                what="not found (404)",
                member="eu",
                object="Deployment.apps default/web",
                why="404 page not found",
            ),
            id="plain text",
        ),
        pytest.param(
            302,
            b"",
            Problem(
                what="the member redirects elsewhere (302): "
                "this is not an API server, or a login stands in front of it",
                member="eu",
                object="Deployment.apps default/web",
            ),
            id="a redirect",
        ),
    ],
)
def test_refusal(code: int, text: bytes, want: Problem) -> None:
    got = refusal(
        status=code, text=text, path=DEPLOYMENT, method="PATCH", member="eu", about="Deployment.apps default/web"
    )
    assert got.problem == want


@pytest.mark.parametrize(
    ("message", "want"),
    [
        pytest.param(
            'Job.batch "j" is invalid: spec.template: Invalid value: {"a":"'
            + 90 * "}"
            + '\\"","b":{}}: field is immutable',
            'Job.batch "j" is invalid: spec.template: Invalid value: {…}: field is immutable',
            id="JSON, with braces and quotes in its text",
        ),
        pytest.param(
            "spec.template: Invalid value: core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:" + 90 * "a" + "}}: no",
            "spec.template: Invalid value: {…}: no",
            id="Go syntax",
        ),
        pytest.param(
            'spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: field is immutable',
            'spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: field is immutable',
            id="short ones stay",
        ),
        pytest.param(
            "[a: Invalid value: {" + 90 * "x" + "}: no, b: Invalid value: {" + 90 * "x" + "}: nor this]",
            "[a: Invalid value: {…}: no, b: Invalid value: {…}: nor this]",
            id="two",
        ),
        pytest.param("a: Invalid value: {" + 90 * "x", "a: Invalid value: {" + 90 * "x", id="it does not end"),
        pytest.param('a: Invalid value: "{": no', 'a: Invalid value: "{": no', id="text"),
    ],
)
def test_whole_structs_are_left_out_of_messages(message: str, want: str) -> None:
    text = body(422, "Invalid", message)
    got = refusal(status=422, text=text, path=DEPLOYMENT, method="PATCH", member="eu")
    assert got.problem.why == want


CREDENTIAL = "the credential of context eu lacks this permission"
ADMISSION = "the member's admission refuses it: change the manifest, or what forbids it there"


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        pytest.param('deployments.apps "web" is forbidden: User "ci" cannot patch resource', CREDENTIAL, id="RBAC"),
        pytest.param(
            'roles.rbac.authorization.k8s.io "r" is forbidden: user "ci" (groups=["a" "b"]) is attempting to grant '
            "RBAC permissions not currently held:\n{APIGroups:[], Resources:[pods], Verbs:[get]}",
            CREDENTIAL,
            id="RBAC lets nobody give more than they have",
        ),
        pytest.param("", CREDENTIAL, id="no words"),
        pytest.param(
            'deployments.apps "web" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
            "raise this ResourceQuota in the member, or ask for less",
            id="a quota",
        ),
        pytest.param(
            'configmaps "a" is forbidden: unable to create new content in namespace a because it is being terminated',
            "wait until the namespace is gone, then apply again; its status.conditions say what it waits for",
            id="a namespace that goes",
        ),
        pytest.param('pods "a" is forbidden: violates PodSecurity "baseline:latest": hostPort', ADMISSION, id="policy"),
        pytest.param('admission webhook "opa.example" denied the request: no', ADMISSION, id="a webhook"),
    ],
)
def test_a_403_is_a_missing_permission_only_if_it_says_so(message: str, hint: str) -> None:
    refused = refusal(
        status=403,
        text=body(403, "Forbidden", message),
        path=DEPLOYMENT,
        method="PATCH",
        member="eu",
        hint=CREDENTIAL,
    )
    assert refused.problem.hint == hint


@pytest.mark.parametrize(
    ("code", "reason", "message", "want"),
    [
        pytest.param(
            500,
            "",
            LEAKING,
            "failed to create typed patch object: at .stringData.pin (the rest is hidden: it may quote the Secret)",
            id="typed patch",
        ),
        pytest.param(
            422,
            "Invalid",
            'Secret "pin" is invalid: data[pin]: Invalid value: "987654": no',
            "data[pin]: it is invalid (the rest is hidden: it may quote the Secret)",
            id="invalid",
        ),
        pytest.param(
            403,
            "Forbidden",
            FORBIDDEN,
            FORBIDDEN,
            id="names alone stay",
        ),
        pytest.param(
            403,
            "Forbidden",
            'admission webhook "opa" denied the request: 987654 is weak',
            'admission webhook "opa" denied the request (the rest is hidden: it may quote the Secret)',
            id="a webhook may quote anything",
        ),
        pytest.param(
            422,
            "Invalid",
            "secrets \"pin\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: 987654",
            "secrets \"pin\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request "
            "(the rest is hidden: it may quote the Secret)",
            id="so may a policy",
        ),
    ],
)
def test_messages_about_secrets_hold_no_value(code: int, reason: str, message: str, want: str) -> None:
    cause = {"reason": "FieldValueInvalid", "message": "987654", "field": "data[pin]"}
    text = body(code, reason, message, causes=[cause, {**cause, "field": "<nil>"}, {"message": "987654"}])
    got = refusal(status=code, text=text, path=SECRET, method="PATCH", member="eu")
    assert got.problem.why == want
    assert "987654" not in str(got) + json.dumps(got.body)


def test_conflicts_about_secrets_keep_who_holds_the_field() -> None:
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.pin"}
    got = refusal(
        status=409,
        text=body(409, "Conflict", "Apply failed with 1 conflict", causes=[cause]),
        path=SECRET,
        method="PATCH",
        member="eu",
    )
    assert got.body is not None
    assert got.body["details"]["causes"] == [cause]  # type: ignore[index]


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("/api/v1/secrets", True, id="all of them"),
        pytest.param("/api/v1/namespaces/a/secrets", True, id="of a namespace"),
        pytest.param(SECRET, True, id="one"),
        pytest.param("/api/v1/namespaces/secrets", False, id="a namespace of that name"),
        pytest.param("/apis/x.io/v1/namespaces/a/secrets/b", False, id="another group's"),
        pytest.param("/api/v1/namespaces/a/configmaps/secrets", False, id="a ConfigMap of that name"),
    ],
)
def test_is_secret_path(path: str, want: bool) -> None:
    assert is_secret_path(path) == want


@pytest.mark.parametrize(
    ("text", "absent", "no_namespace"),
    [
        pytest.param(body(404, "NotFound", "x", kind="deployments"), True, False, id="the object"),
        pytest.param(body(404, "NotFound", "x", kind="namespaces"), True, True, id="its namespace"),
        pytest.param(b"404 page not found", False, False, id="the type, or a proxy: no proof of absence"),
    ],
)
def test_absence(text: bytes, absent: bool, no_namespace: bool) -> None:
    got = refusal(status=404, text=text, path=DEPLOYMENT, method="GET", member="eu")
    assert (is_not_found(got), missing_namespace(got)) == (absent, no_namespace)


def test_a_500_with_a_reason_is_the_members_fault() -> None:
    text = body(500, "InternalError", "failed to create typed live object")
    got = refusal(status=500, text=text, path=DEPLOYMENT, method="PATCH", member="eu")
    assert not isinstance(got, ManifestRefused)
