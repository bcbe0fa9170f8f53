"""JSON Schemas (2020-12) of the kinds that kadm reads, for editors: made from the types that kadm itself decodes into.

A schema knows less than ``kadm validate``: nothing of names that must exist, and nothing of what one field says about
another. Descriptions are the docstrings of types and fields.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from kadm.model import cluster, fleet, override, policy
from kadm.model.fleet import FLEET_API_VERSION
from kadm.model.objects import JsonObject
from kadm.repo.clusters import CLUSTER_KIND, KUBEADMIRAL_VERSION

DIALECT = "https://json-schema.org/draft/2020-12/schema"
EVERY_KIND = "kadm.json"
"""The schema that takes each kind by its own, for files that hold several."""

_MODULES = (cluster, fleet, override, policy)
"""Where the types are."""

_SPECS: Mapping[str, type[Struct]] = {
    CLUSTER_KIND: cluster.FederatedClusterSpec,
    "PropagationPolicy": policy.PropagationPolicySpec,
    "ClusterPropagationPolicy": policy.PropagationPolicySpec,
    "OverridePolicy": override.OverridePolicySpec,
    "ClusterOverridePolicy": override.OverridePolicySpec,
    "SchedulingProfile": policy.SchedulingProfileSpec,
    "SchedulerPluginWebhookConfiguration": policy.WebhookConfigurationSpec,
    "FederatedTypeConfig": policy.FederatedTypeConfigSpec,
}
"""KubeAdmiral's kinds → what their spec holds."""

_KINDS_IN_WORDS = {
    "Fleet": "The fleet: where its files are, defaults, guards.",
    CLUSTER_KIND: "A member of the fleet: its labels and taints, and how kadm reaches it.",
    "PropagationPolicy": "Where objects of its namespace go that are bound to it.",
    "ClusterPropagationPolicy": "Where objects go that are bound to it.",
    "OverridePolicy": "In which members objects of its namespace differ that are bound to it, and in what.",
    "ClusterOverridePolicy": "In which members objects differ that are bound to it, and in what.",
    "SchedulingProfile": "Which scheduler plugins run, with which arguments and weights.",
    "SchedulerPluginWebhookConfiguration": "A scheduler plugin that is asked over HTTP.",
    "FederatedTypeConfig": "What kadm cannot know of a custom type: its scope, and where its replicas stand.",
}

_ALIASES: JsonObject = {
    "stickyCluster": {"type": "boolean", "description": "Earlier name of reschedulePolicy.disableRescheduling."},
    "replicaRescheduling": {
        "$ref": "#/$defs/ReplicaRescheduling",
        "description": "Earlier place of reschedulePolicy.replicaRescheduling.",
    },
}
"""Fields of earlier KubeAdmiral versions that kadm takes too (scheduling spec 1.7)."""

_METADATA: JsonObject = {
    "type": "object",
    "description": "Name, labels and annotations, as of any Kubernetes object.",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "namespace": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
}


_ANNOTATIONS: Mapping[type[Struct], Mapping[str, str]] = {
    policy.PropagationPolicySpec: {
        policy.FAIL_OVER_AFTER: "What is placed here leaves a member that did not answer for so long; e.g. 10m.",
        policy.MIGRATION_COOL_DOWN: (
            "For how long a member that could not run a replica gets none more, at first; e.g. 10m."
            f" Absent: {policy.COOL_DOWN_FACTOR} times podUnschedulableFor."
        ),
    }
}
"""Annotations by which kadm adds to KubeAdmiral's kinds, with what they do."""


def json_schemas() -> dict[str, JsonObject]:
    """File name → schema: one for each kind, ``<kind in lower case>.json``, and EVERY_KIND."""
    whole: dict[str, JsonObject] = {"Fleet": _fleet()}
    whole.update({kind: _document(kind, spec) for kind, spec in _SPECS.items()})
    files = {f"{kind.lower()}.json": {"$schema": DIALECT, **schema} for kind, schema in whole.items()}
    files[EVERY_KIND] = _every_kind(list(whole))
    return files


def _every_kind(kinds: list[str]) -> JsonObject:
    """A schema that leaves the rest to the schema of the document's own kind, so that messages speak of that alone."""
    return {
        "$schema": DIALECT,
        "title": "kadm",
        "description": "Any document of a fleet but its manifests: the schema of its kind applies.",
        "type": "object",
        "properties": {"kind": {"enum": kinds}},
        "required": ["apiVersion", "kind"],
        "allOf": [
            {"if": {"properties": {"kind": {"const": kind}}}, "then": {"$ref": f"{kind.lower()}.json"}}
            for kind in kinds
        ],
    }


def _fleet() -> JsonObject:
    (_,), defs = msgspec.json.schema_components([fleet.Fleet], ref_template="#/$defs/{name}")
    defs = _described(defs)
    root = defs.pop("Fleet")
    root["properties"]["apiVersion"] = {"const": FLEET_API_VERSION}
    root["properties"]["kind"] = {"const": "Fleet"}
    return {**root, "description": _KINDS_IN_WORDS["Fleet"], "$defs": defs}


def _document(kind: str, spec: type[Struct]) -> JsonObject:
    """The schema of one of KubeAdmiral's kinds."""
    types = [spec, cluster.RecordedStatus] if kind == CLUSTER_KIND else [spec]
    refs, defs = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    defs = _described(defs)
    if spec is policy.PropagationPolicySpec:
        defs["PropagationPolicySpec"]["properties"] |= _ALIASES
        defs["Placement"] = _with_old_name(defs["Placement"])
    required = [
        "apiVersion",
        "kind",
        "metadata",
        *(["spec"] if any(field.required for field in fields(spec)) else []),
    ]
    return {
        "title": kind,
        "description": _KINDS_IN_WORDS[kind],
        "type": "object",
        "properties": {
            "apiVersion": {"const": KUBEADMIRAL_VERSION},
            "kind": {"const": kind},
            "metadata": _metadata(spec),
            "spec": refs[0],
            "status": refs[1] if kind == CLUSTER_KIND else {"type": "object", "description": "Not read."},
        },
        "required": required,
        "additionalProperties": False,
        "$defs": defs,
    }


def _metadata(spec: type[Struct]) -> JsonObject:
    known = _ANNOTATIONS.get(spec)
    if known is None:
        return _METADATA
    said = {name: {"type": "string", "description": text} for name, text in known.items()}
    annotations = {**_METADATA["properties"]["annotations"], "properties": said}
    return {**_METADATA, "properties": {**_METADATA["properties"], "annotations": annotations}}


def _with_old_name(placement: JsonObject) -> JsonObject:
    """``clusterName`` stands for ``cluster``, as it did until May 2023."""
    properties = placement["properties"]
    old = {"type": "string", "description": "Earlier name of cluster."}
    return {
        **{key: value for key, value in placement.items() if key != "required"},
        "properties": {**properties, "clusterName": old},
        "oneOf": [{"required": ["cluster"]}, {"required": ["clusterName"]}],
    }


def _described(defs: Mapping[str, Any]) -> dict[str, JsonObject]:
    """The definitions with descriptions that are for those who write the files: of types the first sentence."""
    texts = _field_texts()
    names = _encoded_names()
    described = {}
    for name, definition in sorted(defs.items()):
        said = texts.get(name, {})
        properties = {
            field: {**_without_null(schema), **({"description": said[field]} if field in said else {})}
            for field, schema in definition.get("properties", {}).items()
        }
        first = re.split(r"(?<=\.)\s", definition.get("description", ""))[0]
        described[name] = {
            **definition,
            **({"description": _readable(first, names)} if first else {}),
            **({"properties": properties} if properties else {}),
        }
    return described


def _without_null(schema: JsonObject) -> JsonObject:
    """A schema that takes null for "not set", without that: nobody writes it, and messages get clearer."""
    match schema:
        case {"anyOf": [only, {"type": "null"}], "default": None}:
            return dict(only)
        case _:
            return schema


_POINTER = re.compile(r"\s*\((?:[^()]*\b(?:spec|design|section|row)\b[^()]*|[0-9]+(?:\.[0-9]+)*)\)")
_CODE = re.compile(r"``([^`]*)``")


def _readable(docstring: str, names: Mapping[str, str]) -> str:
    """A docstring on one line, without pointers into the specification; fields by the names that they have in YAML."""
    text = _POINTER.sub("", " ".join(docstring.split()))
    return _CODE.sub(lambda found: names.get(found[1], found[1]), text)


def _types() -> Iterator[type[Struct]]:
    for module in _MODULES:
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, Struct) and found.__module__ == module.__name__:
                yield found


def _encoded_names() -> dict[str, str]:
    """Name of a field in Python → its name in YAML, of all types."""
    return {field.name: field.encode_name for one in _types() for field in fields(one)}


def _field_texts() -> dict[str, dict[str, str]]:
    """Type → field as it is called in YAML → the docstring below it. Python keeps these in the source alone."""
    found: dict[str, dict[str, str]] = {}
    encoded = {one.__name__: {field.name: field.encode_name for field in fields(one)} for one in _types()}
    for module in _MODULES:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef) and node.name in encoded:
                found[node.name] = dict(_documented(node, encoded[node.name]))
    return found


def _documented(node: ast.ClassDef, encoded: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for field, text in itertools.pairwise(node.body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                yield encoded[name], " ".join(docstring.split())
