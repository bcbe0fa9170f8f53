"""The files of workloads as native objects: what is there, and what is taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadm.model.objects import JsonObject, ObjectKey
from kadm.watch.status_files import StatusFiles

WEB = ObjectKey("apps", "Deployment", "shop", "web")
NODE = ObjectKey("", "Node", "", "n")


def an_object(key: ObjectKey) -> JsonObject:
    return {"apiVersion": "v1", "kind": key.kind, "metadata": {"name": key.name}, "status": {"replicas": 3}}


def files(directory: Path) -> list[str]:
    """The files that are no dot-files, by path."""
    found = (path.relative_to(directory) for path in directory.rglob("*.json") if not path.name.startswith("."))
    return sorted(map(str, found))


def test_each_has_a_file_of_its_own(tmp_path: Path) -> None:
    StatusFiles(tmp_path / "s").write({WEB: an_object(WEB), NODE: an_object(NODE)})
    assert files(tmp_path / "s") == ["_/Node/n.json", "shop/Deployment.apps/web.json"]
    assert json.loads((tmp_path / "s/shop/Deployment.apps/web.json").read_text()) == an_object(WEB)


def test_a_later_run_takes_away_what_an_earlier_one_wrote_and_nothing_else(tmp_path: Path) -> None:
    StatusFiles(tmp_path).write({WEB: an_object(WEB), NODE: an_object(NODE)})
    theirs = tmp_path / "shop/Deployment.apps/theirs.json"
    theirs.write_text("{}")
    later = StatusFiles(tmp_path)
    assert later.known == {WEB, NODE}
    later.remove(WEB)
    assert files(tmp_path) == ["_/Node/n.json", "shop/Deployment.apps/theirs.json"]
    assert StatusFiles(tmp_path).known == {NODE}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]"], ids=["empty", "half", "something else"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".written.json").write_bytes(content)
    damaged = StatusFiles(tmp_path)
    assert damaged.known == frozenset()
    damaged.write({WEB: an_object(WEB)})
    assert StatusFiles(tmp_path).known == {WEB}
