"""Names of objects, found by looking at lines: the shapes that people write, and a cache that knows what changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from kadm.cli import completing
from kadm.cli.command_line import app
from kadm.cli.name_scan import FleetNames, Name, entries, fleet_names, names_in


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("kind: Pod\nmetadata:\n  name: a\n", [Name("Pod", "", "a")], id="a block"),
        pytest.param("kind: Pod\nmetadata: {name: a}\n", [Name("Pod", "", "a")], id="on one line"),
        pytest.param("metadata:\n  name: a\nkind: Pod\n", [Name("Pod", "", "a")], id="kind last"),
        pytest.param(
            "kind: Pod\nmetadata:\n  namespace: n\n  labels:\n    name: no\n  name: a\n",
            [Name("Pod", "n", "a")],
            id="a label called name",
        ),
        pytest.param(
            "kind: Pod\nmetadata: {labels: {name: no}, namespace: n, name: a}\n",
            [Name("Pod", "n", "a")],
            id="a label called name, on one line",
        ),
        pytest.param(
            "kind: \"Pod\"\nmetadata:\n  # a comment\n  name: 'a'  # why\n", [Name("Pod", "", "a")], id="quotes"
        ),
        pytest.param(
            "# first\nkind: Pod\nmetadata: {name: a}\n---\nkind: Job\nmetadata:\n    name: b\n--- # third\nkind: Pod\n",
            [Name("Pod", "", "a"), Name("Job", "", "b")],
            id="several documents",
        ),
        pytest.param(
            "kind: Pod\nmetadata:\n  name: a\nspec:\n  template:\n    metadata:\n      name: no\n",
            [Name("Pod", "", "a")],
            id="a template's name",
        ),
        pytest.param("kind: Pod\nmetadata:\n  generateName: a-\n", [], id="no name"),
        pytest.param("]{ no YAML", [], id="no YAML"),
        pytest.param("", [], id="empty"),
    ],
)
def test_names_in_a_file(text: str, want: list[Name]) -> None:
    assert names_in(text) == want


@pytest.mark.parametrize(
    ("document", "want"),
    [
        pytest.param({"kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}, [Name("Pod", "n", "a")], id="one"),
        pytest.param(
            {"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "a"}}]}, [Name("Pod", "", "a")], id="list"
        ),
        pytest.param([1, {"metadata": 3}, "x"], [], id="something else"),
    ],
)
def test_names_in_json(document: object, want: list[Name]) -> None:
    assert names_in(json.dumps(document), json_file=True) == want


@pytest.mark.parametrize(
    ("fleet", "want"),
    [
        pytest.param("spec: {}\n", ["manifests"], id="not written"),
        pytest.param("spec: {policies: [p], manifests: [a, b/c]}\n", ["a", "b/c"], id="on one line"),
        pytest.param("spec:\n  manifests: ['a']   # why\n", ["a"], id="a list on one line"),
        pytest.param("spec:\n  manifests:\n  - a\n  - b   # why\n  policies: [p]\n", ["a", "b"], id="a block"),
        pytest.param(
            "spec:\n  manifests:\n    # why\n    - a\n    - {path: b, namespace: n}\n"
            "    - path: c\n      namespace: n\n",
            ["a", "b", "c"],
            id="mappings",
        ),
        pytest.param(
            "spec:\n  manifests: [{path: a, namespace: n}, {namespace: n, path: b}]\n", ["a", "b"], id="in one line"
        ),
    ],
)
def test_the_entries_of_a_fleet(fleet: str, want: list[str]) -> None:
    assert entries(fleet, "manifests") == want


def _write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def test_a_fleet(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "kadm.yaml": "spec:\n  manifests: ['apps/*/deploy', one.yaml]\n",
            "apps/a/deploy/x.yml": "kind: Pod\nmetadata: {name: a}\n",
            "apps/b/deploy/deep/x.yaml": "kind: Pod\nmetadata: {name: b}\n",
            "apps/b/other/x.yaml": "kind: Pod\nmetadata: {name: no}\n",
            "one.yaml": "kind: Job\nmetadata: {name: one}\n",
            "policies/p.yaml": "kind: PropagationPolicy\nmetadata: {name: p}\n",
            "clusters/eu.yaml": "kind: FederatedCluster\nmetadata: {name: eu-1}\n",
        },
    )
    assert fleet_names(tmp_path) == FleetNames(
        manifests=(Name("Pod", "", "a"), Name("Pod", "", "b"), Name("Job", "", "one")),
        policies=(Name("PropagationPolicy", "", "p"),),
        clusters=(Name("FederatedCluster", "", "eu-1"),),
    )


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    _write(tmp_path, {"kadm.yaml": "", "manifests/x.yaml": "kind: Pod\nmetadata: {name: before}\n"})
    before = fleet_names(tmp_path).manifests
    _write(tmp_path, {"manifests/x.yaml": "kind: Pod\nmetadata: {name: after-it}\n"})
    assert (before, fleet_names(tmp_path).manifests) == ((Name("Pod", "", "before"),), (Name("Pod", "", "after-it"),))


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    _write(tmp_path, {"kadm.yaml": "", "manifests/x.yaml": "kind: Pod\nmetadata: {name: a}\n"})
    fleet_names(tmp_path)
    (cache,) = (tmp_path / "cache" / "kadm" / "names").iterdir()
    cache.write_text(cache.read_text(encoding="utf-8").replace('"a"', '"from-the-cache"'), encoding="utf-8")
    assert fleet_names(tmp_path).manifests == (Name("Pod", "", "from-the-cache"),)


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", "3", "[0, {}]", "[1, 3]", '[1, {"x": 1}]', '[1, {"x": [1, 2, 3]}]']
)
def test_a_cache_that_cannot_be_used_is_replaced(tmp_path: Path, text: str) -> None:
    _write(tmp_path, {"kadm.yaml": "", "manifests/x.yaml": "kind: Pod\nmetadata: {name: a}\n"})
    fleet_names(tmp_path)
    (cache,) = (tmp_path / "cache" / "kadm" / "names").iterdir()
    cache.write_text(text, encoding="utf-8")
    assert fleet_names(tmp_path).manifests == (Name("Pod", "", "a"),)


def test_without_a_fleet_there_are_no_names(tmp_path: Path) -> None:
    assert fleet_names(tmp_path / "nowhere") == FleetNames()


def test_of_objects_with_a_namespace_only_those_of_the_one_asked_for_are_offered(tmp_path: Path) -> None:
    pods = "\n---\n".join(
        f"kind: Pod\nmetadata: {{name: {name}{space}}}"
        for name, space in (("a", ", namespace: one"), ("b", ", namespace: two"), ("c", ""))
    )
    _write(tmp_path, {"kadm.yaml": "", "manifests/x.yaml": pods})
    parser = typer.main.get_command(app)
    context: Any = parser.make_context("kadm", ["-C", str(tmp_path)], resilient_parsing=True)
    context.params["namespace"] = "two"
    assert completing.objects(context, "po/") == ["po/b", "po/c"]
