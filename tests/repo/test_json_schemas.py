"""The schemas for editors: they take what kadm ships and what it takes, and refuse what is misspelt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from kadm.repo.json_schemas import EVERY_KIND, json_schemas

ROOT = Path(__file__).parents[2]
SCHEMAS = json_schemas()
REGISTRY: Any = Registry().with_resources((name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items())
WHOLE = Draft202012Validator(SCHEMAS[EVERY_KIND], registry=REGISTRY)
HEAD = {"apiVersion": "core.kubeadmiral.io/v1alpha1", "metadata": {"name": "x"}}


def _shipped() -> Iterator[tuple[str, Any]]:
    """The documents of kadm's and KubeAdmiral's kinds in what kadm ships."""
    for folder in ("policies", "examples", "kadm/cli/demo_fleet"):
        for file in sorted((ROOT / folder).rglob("*.yaml")):
            for index, document in enumerate(yaml.safe_load_all(file.read_text(encoding="utf-8"))):
                if document and document.get("apiVersion", "").partition("/")[0] in ("kadm.io", "core.kubeadmiral.io"):
                    yield f"{file.relative_to(ROOT)}#{index}", document


SHIPPED = dict(_shipped())


def _faults(document: Any) -> list[str]:
    return sorted(f"{fault.json_path}: {fault.message}" for fault in WHOLE.iter_errors(document))


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


def test_something_is_shipped() -> None:
    assert len(SHIPPED) > 20


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_valid(name: str) -> None:
    assert _faults(SHIPPED[name]) == []


@pytest.mark.parametrize("name", [name for name, document in SHIPPED.items() if document.get("spec")])
def test_a_misspelt_field_is_not(name: str) -> None:
    document = SHIPPED[name]
    first = next(iter(document["spec"]))
    misspelt = {**document, "spec": {**document["spec"], f"{first}x": document["spec"][first]}}
    assert [fault for fault in _faults(misspelt) if f"'{first}x' was unexpected" in fault] != []


@pytest.mark.parametrize(
    ("document", "faults"),
    [
        pytest.param(
            {**HEAD, "kind": "PropagationPolicy", "spec": {"schedulingMode": "Split"}},
            ["$.spec.schedulingMode: 'Split' is not one of ['Divide', 'Duplicate']"],
            id="no such mode",
        ),
        pytest.param(
            {**HEAD, "kind": "PropagationPolicy", "spec": {}},
            ["$.spec: 'schedulingMode' is a required property"],
            id="no mode",
        ),
        pytest.param(
            {
                **HEAD,
                "kind": "ClusterPropagationPolicy",
                "spec": {
                    "schedulingMode": "Divide",
                    "placement": [{"cluster": "eu", "preferences": {"weight": -1}}],
                },
            },
            ["$.spec.placement[0].preferences.weight: -1 is less than the minimum of 0"],
            id="a negative weight",
        ),
        pytest.param(
            {
                **HEAD,
                "kind": "ClusterPropagationPolicy",
                "spec": {"schedulingMode": "Divide", "stickyCluster": True, "placement": [{"clusterName": "eu"}]},
            },
            [],
            id="fields of earlier versions",
        ),
        pytest.param(
            {**HEAD, "kind": "ClusterPropagationPolicy", "spec": {"schedulingMode": "Divide", "placement": [{}]}},
            ["$.spec.placement[0]: {} is not valid under any of the given schemas"],
            id="a placement of no member",
        ),
        pytest.param({**HEAD, "kind": "Policy"}, ["$.kind: 'Policy' is not one of"], id="no such kind"),
        pytest.param(
            {**HEAD, "kind": "OverridePolicy", "apiVersion": "v1", "spec": {}},
            ["$.apiVersion: 'core.kubeadmiral.io/v1alpha1' was expected"],
            id="another version",
        ),
        pytest.param(
            {"apiVersion": "kadm.io/v1alpha1", "kind": "Fleet", "metadata": {"name": "Shop"}},
            ["$.metadata.name: 'Shop' does not match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'"],
            id="a fleet's name",
        ),
    ],
)
def test_what_is_wrong_is_told(document: Any, faults: list[str]) -> None:
    assert [fault[: len(want)] for fault, want in zip(_faults(document), faults, strict=True)] == faults


def _described(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, definition in schema["$defs"].items():
        yield name, definition.get("description", "")
        for field, part in definition["properties"].items():
            yield f"{name}.{field}", part.get("description", "")


DESCRIBED = {path: text for name in SCHEMAS if name != EVERY_KIND for path, text in _described(SCHEMAS[name])}


def test_every_type_and_every_field_that_users_write_is_described() -> None:
    recorded = ("Recorded", "FleetMetadata")
    assert [path for path, text in DESCRIBED.items() if not text and not path.startswith(recorded)] == []


def test_descriptions_are_for_those_who_write_policies() -> None:
    assert {path: text for path, text in DESCRIBED.items() if any(mark in text for mark in ("`", "_", "(design"))} == {}
    assert DESCRIBED["Preferences.maxReplicas"] == "It gets at most so many."
