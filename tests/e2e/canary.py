"""Looks for the value of a Secret in all that kadm says and writes."""

from __future__ import annotations

import base64
from pathlib import Path

from tests.e2e.running import Tools

CANARY = "canary-7b1f-never-shown"
NEXT = "canary-9c2e-never-shown"
A_NUMBER = "12345678901"


def secret(value: str, *, plain: bool, more: str = "") -> str:
    """A Secret called s; ``plain`` puts the value into stringData, ``more`` is a line of its own."""
    body = f"stringData: {{p: {value}}}" if plain else f"data: {{p: {base64.b64encode(value.encode()).decode()}}}"
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{body}\n{more}"


def shown(
    tools: Tools,
    root: Path,
    *,
    plain: bool,
    namespace: str = "default",
    apart: Path | None = None,
    offline: bool = True,
) -> list[str]:
    """The forms of a canary that any command, at any verbosity, says or writes: none is as it should be.

    A Secret is created, changed, made invalid, and made immutable so that the members refuse the next change. ``apart``
    is a directory within the tools' own that is not kadm's to keep clean; ``offline``: what asks no member, too.
    """
    manifest = root / "manifests/s.yaml"
    said: list[str] = []

    def run(*arguments: str, code: int | None = 0) -> None:
        done = tools.kadm("-C", root, "-vvv", "--debug", *arguments, code=code)
        said.extend((done.out, done.err))

    def look() -> None:
        for output in ("text", "json", "markdown", "name"):
            run("plan", "-o", output, code=None)
        if not offline:
            return
        for output in ("yaml", "json"):
            run("render", "-o", output)
        run("render", "--output-dir", str(tools.cwd / "rendered"))
        run("validate", "-o", "json")

    manifest.write_text(secret(CANARY, plain=plain))
    look()
    run("apply", "--yes", "-o", "json")
    manifest.write_text(secret(NEXT, plain=plain, more="immutable: true\n"))
    look()
    run("plan", "--out", str(tools.cwd / "saved"))
    run("show", str(tools.cwd / "saved"))
    run("apply", "--yes")
    run("status", "secret/s", "-n", namespace, "-o", "yaml")
    run("status", "secret/s", "-n", namespace, "-o", "json")
    manifest.write_text(secret(CANARY, plain=plain, more="immutable: true\n"))
    run("plan", code=None)
    run("apply", "--yes", code=1)
    if offline:
        manifest.write_text(secret(NEXT, plain=plain, more="bad: 1\n"))
        run("validate", code=None)
        run("plan", code=None)
        manifest.write_text(f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{p: {A_NUMBER}}}\n")
        run("validate", code=1)
    written = [path for path in tools.cwd.rglob("*") if path.is_file() and manifest.parent not in path.parents]
    written = [path for path in written if apart is None or apart not in path.parents]
    said += [path.read_text(errors="replace") for path in written]
    hidden = [form for value in (CANARY, NEXT) for form in (value, base64.b64encode(value.encode()).decode())]
    return [form for form in [*hidden, A_NUMBER] for text in said if form in text]
