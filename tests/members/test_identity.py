"""Who a member is, and whether it is ready."""

from __future__ import annotations

import pytest
from aiohttp import web

from kadm.errors import MemberRefused, MemberUnreachable
from kadm.members.identity import Readiness, read_readiness, read_uid, read_version
from tests.members.fake_member import Answerer, FakeMember, always, always_json, always_text, run, serving, status

FORBIDDEN = always(lambda: status(403, "Forbidden"))


@pytest.mark.parametrize(
    ("readyz", "healthz", "want"),
    [
        pytest.param(always_text("ok"), FORBIDDEN, Readiness("True"), id="ready"),
        pytest.param(
            always(lambda: web.Response(status=500, text="[-]etcd failed: reason withheld\n")),
            always_text("ok"),
            Readiness("False", "/readyz: [-]etcd failed: reason withheld"),
            id="not ready",
        ),
        pytest.param(FORBIDDEN, always_text("ok"), Readiness("True"), id="only healthz is permitted"),
        pytest.param(
            FORBIDDEN,
            FORBIDDEN,
            Readiness("Unknown", "/healthz: read forbidden (403 Forbidden)"),
            id="nothing",
        ),
    ],
)
def test_readiness(readyz: Answerer, healthz: Answerer, want: Readiness) -> None:
    async def read() -> Readiness:
        told = FakeMember(answers={("GET", "/readyz"): readyz, ("GET", "/healthz"): healthz})
        async with serving(told) as member, member.connection() as connection:
            return await read_readiness(connection)

    assert run(read()) == want


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(always_json({"major": "1", "gitVersion": "v1.36.2"}), "v1.36.2", id="stated"),
        pytest.param(FORBIDDEN, "", id="not permitted"),
    ],
)
def test_version(answer: Answerer, want: str) -> None:
    async def read() -> str:
        async with serving(FakeMember(answers={("GET", "/version"): answer})) as member, member.connection() as opened:
            return await read_version(opened)

    assert run(read()) == want


def test_a_member_without_identity_is_none() -> None:
    async def read() -> str:
        async with serving(FakeMember()) as member, member.connection() as connection:
            return await read_uid(connection)

    with pytest.raises(MemberRefused, match="cannot be identified"):
        run(read())


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(always(lambda: status(401, "Unauthorized")), ("", 401), id="the credential is not accepted"),
        pytest.param(FORBIDDEN, ("Namespace kube-system", 403), id="the namespace may not be read"),
    ],
)
def test_what_is_no_matter_of_the_namespace_does_not_name_it(answer: Answerer, want: tuple[str, int]) -> None:
    async def read() -> str:
        told = FakeMember(answers={("GET", "/api/v1/namespaces/kube-system"): answer})
        async with serving(told) as member, member.connection() as connection:
            return await read_uid(connection)

    with pytest.raises(MemberRefused) as raised:
        run(read())
    assert (raised.value.problem.object, raised.value.status) == want


def test_a_member_without_connection_is_named_alone() -> None:
    async def read() -> str:
        async with serving(FakeMember()) as member:
            opened = member.connection()
        async with opened as connection:
            return await read_uid(connection)

    with pytest.raises(MemberUnreachable) as raised:
        run(read())
    problem = raised.value.problem
    assert (problem.what, problem.object, str(problem).startswith(f"{problem.member}: no connection")) == (
        "no connection",
        "",
        True,
    )
