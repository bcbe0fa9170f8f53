"""The pipelines' files parse, keep credentials from pull requests, and the comment is updated in place."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from tests.examples.commands import EXAMPLES

CI = EXAMPLES / "ci"
SCRIPT = CI / "comment.py"
MARKER = "<!-- kadm plan shop -->"
PLAN = f"{MARKER}\n### kadm plan: shop\n"


def parsed(name: str) -> Any:
    return yaml.load((CI / name).read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # "on" stays a text


def test_github_gives_jobs_no_more_than_they_need() -> None:
    found = parsed("github-actions.yaml")
    assert (found["permissions"], set(found["on"])) == ({}, {"pull_request", "push"})
    jobs = found["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "plan": {"contents": "read"},
        "comment": {"contents": "read", "pull-requests": "write"},
        "reviewed": {"contents": "read", "actions": "read", "pull-requests": "read"},
        "apply": {"contents": "read"},
    }
    assert [name for name, job in jobs.items() if "secrets." in json.dumps(job)] == ["plan", "apply"]
    assert {name: job["environment"] for name, job in jobs.items() if "environment" in job} == {
        "plan": "fleet-plan",
        "apply": "fleet-apply",
    }
    assert all("${{" not in step.get("run", "") for job in jobs.values() for step in job["steps"]), "injection"


def test_gitlab_applies_on_the_default_branch_alone() -> None:
    found = parsed("gitlab-ci.yaml")
    assert found["apply"]["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    assert found["plan"]["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert set(found["stages"]) == {found[job]["stage"] for job in ("plan", "comment", "apply")}


async def commented(
    plan: Path, serve: Callable[[web.Request], Awaitable[web.Response]], environment: Callable[[str], dict[str, str]]
) -> int:
    """Run the script against a forge of our own; its exit code."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", serve)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        env = environment(f"http://127.0.0.1:{runner.addresses[0][1]}")
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(SCRIPT), str(plan), env={"PATH": os.environ["PATH"], **env}
        )
        async with asyncio.timeout(30):
            return await process.wait()
    finally:
        await runner.cleanup()


def on_github(url: str) -> dict[str, str]:
    return {"GITHUB_API_URL": url, "GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "t", "PULL_REQUEST": "7"}


def on_gitlab(url: str) -> dict[str, str]:
    return {"CI_API_V4_URL": url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7", "KADM_COMMENT_TOKEN": "t"}


BOT = {"user": {"login": "github-actions[bot]"}}
SOMEBODY = {"user": {"login": "mallory"}}
ME = {"author": {"id": 9}}
FILLER = [{"id": number, "body": "hello", **SOMEBODY} for number in range(100)]


@pytest.mark.parametrize(
    ("environment", "comments", "want"),
    [
        pytest.param(on_github, [], ("POST", "/repos/a/b/issues/7/comments"), id="GitHub: the first"),
        pytest.param(
            on_github,
            [{"id": 5, "body": f"{MARKER}\nold", **BOT}],
            ("PATCH", "/repos/a/b/issues/comments/5"),
            id="GitHub: in place",
        ),
        pytest.param(
            on_github,
            [*FILLER, {"id": 500, "body": f"{MARKER}\nold", **BOT}],
            ("PATCH", "/repos/a/b/issues/comments/500"),
            id="GitHub: on the second page",
        ),
        pytest.param(
            on_github,
            [{"id": 5, "body": f"{MARKER}\nfake", **SOMEBODY}],
            ("POST", "/repos/a/b/issues/7/comments"),
            id="GitHub: somebody else's is left alone",
        ),
        pytest.param(
            on_github,
            [{"id": 5, "body": "<!-- kadm plan other -->\n", **BOT}],
            ("POST", "/repos/a/b/issues/7/comments"),
            id="GitHub: another fleet's",
        ),
        pytest.param(on_gitlab, [], ("POST", "/projects/3/merge_requests/7/notes"), id="GitLab: the first"),
        pytest.param(
            on_gitlab,
            [{"id": 5, "body": f"{MARKER}\nold", **ME}],
            ("PUT", "/projects/3/merge_requests/7/notes/5"),
            id="GitLab: in place",
        ),
        pytest.param(
            on_gitlab,
            [{"id": 5, "body": f"{MARKER}\nfake", "author": {"id": 1}}],
            ("POST", "/projects/3/merge_requests/7/notes"),
            id="GitLab: somebody else's is left alone",
        ),
    ],
)
def test_the_comment(
    environment: Callable[[str], dict[str, str]], comments: list[dict[str, Any]], want: tuple[str, str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.md"
    plan.write_text(PLAN, encoding="utf-8")
    written: list[tuple[str, str, Any]] = []

    async def forge(request: web.Request) -> web.Response:
        assert request.headers.get("Authorization") == "Bearer t" or request.headers.get("PRIVATE-TOKEN") == "t"
        if request.path == "/user":
            return web.json_response({"id": 9})
        if request.method == "GET":
            first = (int(request.query["page"]) - 1) * int(request.query["per_page"])
            return web.json_response(comments[first : first + int(request.query["per_page"])])
        written.append((request.method, request.path, await request.json()))
        return web.json_response({})

    assert asyncio.run(commented(plan, forge, environment)) == 0
    assert written == [(*want, {"body": PLAN})]


def test_what_is_no_plan_is_not_posted(tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_text("error\n", encoding="utf-8")

    async def forge(_request: web.Request) -> web.Response:
        raise AssertionError("nothing is asked")

    assert asyncio.run(commented(plan, forge, on_github)) == 1
