"""The native objects: lists expanded, identities complete, and what an API server would refuse at once."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kadm.errors import Problem, RepoError
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.model.policy import FederatedTypeConfig
from kadm.model.repository import RECORD_NAMESPACE
from kadm.repo.clusters import CLUSTER_KIND
from kadm.repo.documents import Document
from kadm.repo.headers import Header, header_problems, read_header
from kadm.repo.keys import key_problems
from kadm.repo.replica_counts import replica_problems
from kadm.repo.scopes import is_namespaced

_KUBEADMIRAL_GROUP = "core.kubeadmiral.io"
_OUR_GROUP = "kadm.io"
_RECORDS = "kadm-"
_RECORD_KINDS = frozenset({("", "ConfigMap"), ("", "Secret"), ("coordination.k8s.io", "Lease")})
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True)
class NativeObject:
    """One object with its identity; ``document.value`` is as written, ``value`` has its namespace filled in."""

    document: Document
    header: Header
    key: ObjectKey
    value: JsonObject
    namespaced: bool | None


def expanded(document: Document) -> Iterator[Document]:
    """The objects of a document: itself, or what a List holds, lists in lists included. Raises RepoError."""
    value = document.value
    kind = value.get("kind")
    items = value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and "items" in value):
        yield document
        return
    if items is not None and not isinstance(items, list):
        where = document.locate(("items",))
        raise RepoError([Problem(what=f"`items` of a {kind} must be a list", where=where)])
    for index, item in enumerate(items or []):
        if not isinstance(item, dict):
            where = document.locate(("items", index))
            raise RepoError([Problem(what=f"an item of a {kind} must be an object", where=where)])
        part = document.part(("items", index))
        if kind != "List":  # items of a list of one kind may leave out what the list says
            implied = {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
            part.value = {**implied, **item}
        yield from expanded(part)


def defined_scopes(
    documents: list[Document], type_configs: Mapping[str, FederatedTypeConfig]
) -> dict[tuple[str, str], bool]:
    """(group, kind) → whether it lives in a namespace, as CRDs and FederatedTypeConfigs of the repository say."""
    scopes: dict[tuple[str, str], bool] = {}
    for config in type_configs.values():
        source = config.spec.source_type
        scopes[source.group, source.kind] = source.scope == "Namespaced"
    for document in documents:
        value = document.value
        version = value.get("apiVersion")
        if isinstance(version, str) and (version.rpartition("/")[0], value.get("kind")) == _CRD:
            group, kind, scope = (
                at(value, path) for path in (("spec", "group"), ("spec", "names", "kind"), ("spec", "scope"))
            )
            if isinstance(group, str) and isinstance(kind, str):
                scopes[group, kind] = scope == "Namespaced"
    return scopes


def read_object(
    document: Document, namespace: str, scopes: Mapping[tuple[str, str], bool]
) -> tuple[NativeObject | None, list[Problem]]:
    """The object of a document, and what there is to say about it; None where its identity is not known.

    ``namespace`` is that of namespaced objects without one. An object of a kind that nobody here knows keeps what it
    says, with a warning where that is no namespace.
    """
    try:
        header = read_header(document)
    except RepoError as error:
        return None, list(error.problems)
    gvk, metadata = header.gvk, header.metadata
    if misplaced := _misplaced(header, document):
        return None, [misplaced]
    problems = header_problems(header, document)
    problems += key_problems(header, document.locate)
    problems += replica_problems(gvk.group, gvk.kind, document)
    problems += _content_problems(gvk.group, gvk.kind, document)
    namespaced = is_namespaced(gvk.group, gvk.kind, scopes)
    space = metadata.namespace
    if namespaced:
        space = space or namespace
    elif namespaced is False and space:
        what = f"a {gvk.kind} has no namespace; {space} is left out"
        where = document.locate(("metadata", "namespace"))
        problems.append(Problem(what=what, where=where, hint="remove it", severity="warning"))
        space = ""
    elif namespaced is None and not space and metadata.name:
        what = f"nothing here says whether {header.api_version} {gvk.kind} is namespaced; it counts as cluster-scoped"
        hint = "write metadata.namespace if it is, or add its CustomResourceDefinition"
        problems.append(Problem(what=what, where=document.locate(("kind",)), hint=hint, severity="warning"))
    if not metadata.name:
        return None, problems
    key = ObjectKey(gvk.group, gvk.kind, space, metadata.name)
    if _is_record(key):
        what = f"{key.kind} {key.qualified_name} is where kadm keeps its own records"
        where = document.locate(("metadata", "name"))
        problems.append(Problem(what=what, where=where, hint=f"give it a name that does not begin with {_RECORDS}"))
    return NativeObject(document, header, key, _with_namespace(document.value, space), namespaced), problems


def _is_record(key: ObjectKey) -> bool:
    """Whether kadm, of this or another fleet, writes the object itself: adopted, it would lose what is in it."""
    own = (key.group, key.kind) in _RECORD_KINDS and key.namespace == RECORD_NAMESPACE
    return own and key.name.startswith(_RECORDS)


def _with_namespace(value: JsonObject, namespace: str) -> JsonObject:
    metadata = value["metadata"]
    if (metadata.get("namespace") or "") == namespace:
        return value
    without = {key: part for key, part in metadata.items() if key != "namespace"}
    return {**value, "metadata": {**without, "namespace": namespace} if namespace else without}


def _misplaced(header: Header, document: Document) -> Problem | None:
    group = header.gvk.group
    if group not in (_KUBEADMIRAL_GROUP, _OUR_GROUP):
        return None
    hint = "policies belong to what spec.policies of kadm.yaml names"
    if header.kind == CLUSTER_KIND:
        hint = "members belong to what spec.clusters of kadm.yaml names"
    elif header.kind.endswith("Object"):
        hint = "write the object that it wraps; kadm has no federated objects"
    return Problem(what=f"a {header.kind} is no native object", where=document.locate(("kind",)), hint=hint)


def _content_problems(group: str, kind: str, document: Document) -> Iterator[Problem]:
    if group:
        return
    if kind == "Secret":
        yield from _texts(document, "stringData", secret=True)
        yield from _base64_texts(document, "data", secret=True)
    elif kind == "ConfigMap":
        yield from _texts(document, "data", secret=False)
        yield from _base64_texts(document, "binaryData", secret=False)


def _texts(document: Document, field: str, *, secret: bool) -> Iterator[Problem]:
    """Values that are no text, as YAML's numbers and booleans are not. Values of Secrets are not named."""
    values = document.value.get(field)
    if values is None:
        return
    if not isinstance(values, dict):
        yield Problem(what=f"`{field}` must be an object", where=document.locate((field,)))
        return
    for key, value in values.items():
        if not isinstance(value, str):
            shown = "" if secret else f", and is {_shown(value)}"
            what = f"`{field}.{key}` must be text{shown}"
            hint = "" if value is None or isinstance(value, (dict, list)) else "put it in quotes"
            yield Problem(what=what, where=document.locate((field, key)), hint=hint)


def _base64_texts(document: Document, field: str, *, secret: bool) -> Iterator[Problem]:
    yield from _texts(document, field, secret=True)
    values = document.value.get(field)
    for key, value in values.items() if isinstance(values, dict) else ():
        if not isinstance(value, str):
            continue
        try:
            base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
        except (binascii.Error, ValueError):
            what = f"`{field}.{key}` is not base64"
            hint = "write plain text under stringData" if secret else "write plain text under data"
            yield Problem(what=what, where=document.locate((field, key)), hint=hint)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else str(value)
