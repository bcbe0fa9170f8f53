"""The value of a Secret appears in no output and no file, as text or base64, at any verbosity."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

CANARY = "canary-7b1f-never-shown"
NEXT = "canary-9c2e-never-shown"


def secret(value: str, *, plain: bool) -> str:
    body = f"stringData: {{p: {value}}}" if plain else f"data: {{p: {base64.b64encode(value.encode()).decode()}}}"
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{body}\n"


@pytest.mark.parametrize("plain", [pytest.param(True, id="stringData"), pytest.param(False, id="data")])
def test_no_secret_is_shown(plain: bool, fleet: Callable[..., Path], sandbox: Path, tools: Tools) -> None:
    root = fleet({"manifests/s.yaml": secret(CANARY, plain=plain)})
    said: list[str] = []

    def run(*arguments: str, code: int | None = 0) -> None:
        done = tools.kadm("-C", root, "-vvv", "--debug", *arguments, code=code)
        said.extend((done.out, done.err))

    def look() -> None:
        for output in ("text", "json", "markdown", "name"):
            run("plan", "-o", output, code=None)
        for output in ("yaml", "json"):
            run("render", "-o", output)
        run("render", "--output-dir", str(tools.cwd / "rendered"))
        run("validate", "-o", "json")

    look()
    run("apply", "--yes", "-o", "json")
    (root / "manifests/s.yaml").write_text(secret(NEXT, plain=plain))
    look()
    run("apply", "--yes")
    run("status", "secret/s", "-o", "yaml")
    run("status", "secret/s", "-o", "json")
    (root / "manifests/s.yaml").write_text(secret(NEXT, plain=plain).replace("kind: Secret", "kind: Secret\nbad: 1"))
    run("validate", code=None)
    run("plan", code=None)
    (root / "manifests/s.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: 12345678901}\n"
    )
    run("validate", code=1)
    written = [path for path in tools.cwd.rglob("*") if path.is_file() and root / "manifests" not in path.parents]
    written = [path for path in written if sandbox not in path.parents]
    said += [path.read_text(errors="replace") for path in written]
    hidden = [form for value in (CANARY, NEXT) for form in (value, base64.b64encode(value.encode()).decode())]
    assert [form for form in [*hidden, "12345678901"] for text in said if form in text] == []
