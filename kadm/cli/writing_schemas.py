"""Writing JSON Schemas to files."""

from __future__ import annotations

from pathlib import Path

from kadm.cli.console import Console
from kadm.cli.plan_json import API_VERSION, encode
from kadm.repo.json_schemas import EVERY_KIND, json_schemas


def write_schemas(console: Console, directory: Path, *, as_json: bool) -> None:
    """All schemas into ``directory``, replacing those that are there; tells which files were written."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, schema in json_schemas().items():
        path = directory / name
        path.write_text(encode(schema) + "\n", encoding="utf-8")
        paths.append(path)
    if as_json:
        console.data(encode({"apiVersion": API_VERSION, "kind": "Schemas", "files": [str(path) for path in paths]}))
        return
    for path in paths:
        console.data(f"wrote {path}")
    console.info(f"an editor finds them by a first line: # yaml-language-server: $schema=PATH/{EVERY_KIND}")
