"""Writing one member's changes: what is tried again, and how long what is waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from kadm.execute.member import SCHEMA_SETTLES_S
from kadm.execute.stop import INTERRUPTED, Stop
from kadm.members.resources import CONFIG_MAPS
from kadm.model.objects import ObjectKey
from kadm.model.observation import ApiResource
from tests.execute.builders import a_run
from tests.members.fake_member import FakeMember, in_turn, run, serving, status

WIDGETS = ApiResource(group="example.com", version="v1", kind="Widget", plural="widgets", namespaced=True)
CRDS = ApiResource(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    namespaced=False,
)
DEPLOYMENTS = ApiResource(group="apps", version="v1", kind="Deployment", plural="deployments", namespaced=True)
JOBS = ApiResource(group="batch", version="v1", kind="Job", plural="jobs", namespaced=True)
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}}
CRD = ObjectKey("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com")
KEY = ObjectKey("example.com", "Widget", "shop", "w")
PATH = "/apis/example.com/v1/namespaces/shop/widgets/w"


def refuses() -> web.Response:
    """As a server answers that has no schema of the kind yet."""
    return status(500, "", "failed to create typed patch object (shop/w; example.com/v1, Kind=Widget): .spec")


def takes() -> web.Response:
    entry = {"manager": "kadm-shop", "operation": "Apply", "fieldsV1": {}}
    body = {**WIDGET, "metadata": {"name": "w", "namespace": "shop", "uid": "u", "managedFields": [entry]}}
    return web.json_response(body, status=201)


async def _written(member: FakeMember, *, crd_age_s: float | None) -> tuple[str, int]:
    """What became of the widget, and how often it was sent."""
    async with serving(member), member.connection() as connection:
        work = a_run(connection, WIDGET, resources=(WIDGETS,))
        if crd_age_s is not None:
            work.written_s[CRD] = asyncio.get_running_loop().time() - crd_age_s
        await work.apply(work.changes)
        sent = sum(request.startswith(f"PATCH {PATH}") for request in member.requests)
        return work.results[KEY].result, sent


def test_after_its_crd_an_object_is_tried_until_the_schema_is_there() -> None:
    member = FakeMember(answers={("PATCH", PATH): in_turn(refuses, refuses, takes)})
    assert run(_written(member, crd_age_s=1.0)) == ("done", 3)


def test_a_crd_of_long_ago_is_no_reason_to_try_again() -> None:
    member = FakeMember(answers={("PATCH", PATH): in_turn(refuses, takes)})
    assert run(_written(member, crd_age_s=SCHEMA_SETTLES_S)) == ("failed", 1)


def test_without_a_crd_the_manifest_is_at_fault() -> None:
    member = FakeMember(answers={("PATCH", PATH): in_turn(refuses, takes)})
    assert run(_written(member, crd_age_s=None)) == ("failed", 1)


def discovered(*resources: ApiResource) -> Callable[[], web.Response]:
    """Aggregated discovery that tells of these types."""
    items = [
        {
            "metadata": {"name": one.group},
            "versions": [
                {
                    "version": one.version,
                    "resources": [
                        {
                            "resource": one.plural,
                            "scope": "Namespaced" if one.namespaced else "Cluster",
                            "responseKind": {"group": one.group, "version": one.version, "kind": one.kind},
                        }
                    ],
                }
            ],
        }
        for one in resources
    ]
    return lambda: web.json_response({"kind": "APIGroupDiscoveryList", "items": items})


def test_an_object_waits_until_discovery_tells_of_its_kind() -> None:
    """A server says that a CRD is established before its discovery tells of the kind."""
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD.name}"
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": CRD.name, "uid": "c", "managedFields": [{"manager": "kadm-shop", "operation": "Apply"}]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    member = FakeMember(
        answers={
            ("GET", "/api"): in_turn(discovered()),
            ("GET", "/apis"): in_turn(discovered(CRDS), discovered(CRDS), discovered(CRDS, WIDGETS)),
            ("GET", path): in_turn(lambda: web.json_response(crd)),
            ("PATCH", path): in_turn(lambda: web.json_response(crd, status=201)),
            ("PATCH", PATH): in_turn(takes),
        }
    )

    async def written() -> tuple[list[str], int]:
        async with serving(member), member.connection() as connection:
            work = a_run(connection, crd, WIDGET, resources=(CRDS,))
            await work.apply(work.changes)
            asked = sum(request == "GET /apis" for request in member.requests)
            return [one.result for one in work.ordered_results()], asked

    assert run(written()) == (["done", "done"], 3)


def _a_deployment(name: str) -> dict[str, Any]:
    """Never ready."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": {}}


def _waiting(body: Callable[[FakeMember], Awaitable[None]]) -> None:
    async def serve() -> None:
        member = FakeMember()
        for name in ("a", "b"):
            member.add(
                f"/apis/apps/v1/namespaces/shop/deployments/{name}",
                {**_a_deployment(name), "metadata": {"name": name, "namespace": "shop", "generation": 2}},
            )
        async with serving(member):
            await body(member)

    run(serve())


def test_each_object_has_its_own_time() -> None:
    """One was written long ago: its time is over first, and the other is asked about until its own is."""

    async def body(member: FakeMember) -> None:
        async with member.connection() as connection:
            work = a_run(connection, _a_deployment("a"), _a_deployment("b"), resources=(DEPLOYMENTS,), timeout_s=1.0)
            keys = [change.key for change in work.changes]
            now_s = asyncio.get_running_loop().time()
            work.written_s |= {keys[0]: now_s - 10, keys[1]: now_s}
            health = await work.wait_for(keys)
            assert [health[key].code for key in keys] == ["Progressing", "Progressing"]
            asked = [sum(request.endswith(f"/deployments/{name}") for request in member.requests) for name in "ab"]
            assert (asked[0], asked[1] > 1) == (1, True)

    _waiting(body)


def test_once_the_end_is_asked_for_nothing_is_waited_for_and_nothing_sent() -> None:
    async def body(member: FakeMember) -> None:
        async with member.connection() as connection:
            stop = Stop()
            work = a_run(connection, _a_deployment("a"), resources=(DEPLOYMENTS, CONFIG_MAPS), timeout_s=60, stop=stop)
            began_s = time.monotonic()
            waiting = asyncio.create_task(work.wait_for([change.key for change in work.changes]))
            await asyncio.sleep(0.1)
            stop.ask()
            await waiting
            assert time.monotonic() - began_s < 5
            sent = len(member.requests)
            await work.apply(work.changes)
            (result,) = work.ordered_results()
            assert result.problem is not None
            assert (result.result, result.problem.what, len(member.requests)) == ("skipped", INTERRUPTED, sent)

    _waiting(body)


@pytest.mark.parametrize(("digest", "code"), [("d", "Healthy"), ("", "Missing")])
def test_a_job_that_the_member_removes_has_finished_where_it_is_gone(digest: str, code: str) -> None:
    """A Job with a ttlSecondsAfterFinished of 0 may be gone before anybody has looked at it."""

    async def body() -> str:
        async with serving() as member, member.connection() as connection:
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once", "namespace": "shop"}}
            work = a_run(connection, job, resources=(JOBS,), timeout_s=0)
            (change,) = work.changes
            work.digests[change.key] = digest
            return (await work.wait_for([change.key]))[change.key].code

    assert run(body()) == code
