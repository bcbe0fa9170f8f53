#!/usr/bin/env python3
"""Put a plan into one comment on the pull request, and keep it up to date there.

    kadm plan -o markdown > plan.md
    python3 comment.py plan.md

The plan's first line is a hidden marker, <!-- kadm plan FLEET -->. A comment of this pipeline's own that begins with it
is updated in place; where there is none, one is made. Needs Python alone. Of its environment it uses

    GitHub Actions   GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN (pull-requests: write), PULL_REQUEST
    GitLab CI        CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, KADM_COMMENT_TOKEN (scope api)
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = 100
MOST_PAGES = 30
TIMEOUT_S = 30


@dataclass(frozen=True)
class Forge:
    """Where comments are. ``comments`` is the address of those on the pull request, ``one`` of one by its id."""

    comments: str
    one: str
    update: str
    headers: Mapping[str, str]
    author: Mapping[str, Any]
    """What an own comment's author has: others' comments are left alone, whatever they begin with."""


def main(arguments: list[str]) -> int:
    """Read the plan, and make or update the comment."""
    body = Path(arguments[0]).read_text(encoding="utf-8")
    marker = body.splitlines()[0] if body else ""
    if not (marker.startswith("<!-- kadm plan ") and marker.endswith(" -->")):
        sys.stderr.write(f"{arguments[0]} is not what kadm plan -o markdown writes\n")
        return 1
    forge = github(os.environ) if "GITHUB_REPOSITORY" in os.environ else gitlab(os.environ)
    known = own_comment(forge, marker)
    if known is None:
        send(forge, "POST", forge.comments, {"body": body})
    else:
        send(forge, forge.update, f"{forge.one}/{known}", {"body": body})
    return 0


def github(env: Mapping[str, str]) -> Forge:
    """The pull request of this run of GitHub Actions."""
    issues = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues"
    return Forge(
        comments=f"{issues}/{env['PULL_REQUEST']}/comments",
        one=f"{issues}/comments",
        update="PATCH",
        headers={
            "Authorization": f"Bearer {env['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        author={"user": {"login": "github-actions[bot]"}},
    )


def gitlab(env: Mapping[str, str]) -> Forge:
    """The merge request of this pipeline of GitLab."""
    api, headers = env["CI_API_V4_URL"], {"PRIVATE-TOKEN": env["KADM_COMMENT_TOKEN"]}
    notes = f"{api}/projects/{env['CI_PROJECT_ID']}/merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes"
    forge = Forge(comments=notes, one=notes, update="PUT", headers=headers, author={})
    me = send(forge, "GET", f"{api}/user")
    return Forge(comments=notes, one=notes, update="PUT", headers=headers, author={"author": {"id": me["id"]}})


def own_comment(forge: Forge, marker: str) -> int | None:
    """The id of this pipeline's comment that begins with the marker, None where there is none."""
    for page in range(1, MOST_PAGES + 1):
        found = send(forge, "GET", f"{forge.comments}?per_page={PAGE}&page={page}")
        for comment in found:
            if comment["body"].startswith(marker) and holds(comment, forge.author):
                return int(comment["id"])
        if len(found) < PAGE:
            return None
    return None


def holds(value: Any, wanted: Any) -> bool:
    """Whether a JSON value has everything that is wanted of it."""
    if isinstance(wanted, Mapping):
        return isinstance(value, dict) and all(holds(value.get(name), part) for name, part in wanted.items())
    return bool(value == wanted)


def send(forge: Forge, method: str, url: str, body: Mapping[str, Any] | None = None) -> Any:
    """One request, and its answer as JSON."""
    data = None if body is None else json.dumps(body).encode()
    headers = {**forge.headers, "Content-Type": "application/json", "User-Agent": "kadm"}
    request = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310  # the forge's own
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
