"""Connections that are replaced while somebody uses them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from kadm.errors import Location, MemberUnreachable
from kadm.model.cluster import FederatedCluster
from kadm.watch.links import Links
from tests.execute.builders import a_repo
from tests.members.fake_member import FakeMember, run, serving

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: eu, cluster: {{server: "{url}"}}}}]
users: [{{name: eu, user: {{}}}}]
contexts: [{{name: eu, context: {{cluster: eu, user: eu}}}}]
current-context: eu
"""


def test_whoever_waits_is_answered_and_whoever_asks_later_is_told(tmp_path: Path) -> None:
    async def body() -> None:
        asked, answers = asyncio.Event(), asyncio.Event()

        async def slow(_request: web.Request) -> web.Response:
            asked.set()
            await answers.wait()
            return web.json_response({"kind": "Slow"})

        async with serving(FakeMember(answers={("GET", "/slow"): slow})) as member:
            file = tmp_path / "kubeconfig"
            await asyncio.to_thread(file.write_text, KUBECONFIG.format(url=member.url))
            links = Links(request_timeout_s=5, parallel=4, environ={"KUBECONFIG": str(file)})
            links.use(replace(a_repo(), clusters=(FederatedCluster(name="eu", location=Location("eu.yaml")),)))
            before = await links.writer("eu")
            waiting = asyncio.create_task(before.request("GET", "/slow"))
            await asked.wait()
            links.renew("eu")
            await links.sweep()
            answers.set()
            assert (await waiting).status == 200
            assert await links.writer("eu") is not before
            await links.sweep()
            with pytest.raises(MemberUnreachable, match="the member is reached in another way by now"):
                await before.request("GET", "/slow")
            assert (await (await links.writer("eu")).request("GET", "/slow")).status == 200
            await links.close()

    run(body())
