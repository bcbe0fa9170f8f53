"""OpenAPI documents, as little as clients need: which paths take which parameters, for which kinds.

kubectl asks them whether the server validates fields itself before it sends ``--validate`` along. The schemas of the
objects are left open: the sandbox describes no fields.
"""

from __future__ import annotations

import hashlib

from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.served import ServedKinds
from kadm.sandbox.store import Object


def version_2() -> Object:
    """``/openapi/v2``."""
    return {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.2"}, "paths": {}, "definitions": {}}


def index(kinds: ServedKinds) -> Object:
    """``/openapi/v3``: the documents there are, with a hash that changes when their kinds do."""
    paths: Object = {}
    for group in kinds.groups():
        for version in kinds.versions(group):
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            names = ",".join(
                sorted(kind.plural for kind in kinds.all() if (kind.group, kind.version) == (group, version))
            )
            digest = hashlib.sha256(names.encode()).hexdigest().upper()
            paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": paths}


def group_version(kinds: ServedKinds, group: str, version: str) -> Object:
    """The document of a served group version."""
    prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
    paths: Object = {}
    schemas: Object = {}
    for kind in kinds.all():
        if (kind.group, kind.version) != (group, version):
            continue
        scope = "/namespaces/{namespace}" if kind.namespaced else ""
        collection = f"{prefix}{scope}/{kind.plural}"
        gvk = {"group": kind.group, "version": kind.version, "kind": kind.kind}
        reads, writes = _parameters(), _parameters("dryRun", "fieldManager", "fieldValidation")
        patches = _parameters("dryRun", "fieldManager", "fieldValidation", "force")
        paths[collection] = _operations(kind, gvk, {"get": ("list", reads), "post": ("create", writes)})
        paths[f"{collection}/{{name}}"] = _operations(
            kind,
            gvk,
            {
                "get": ("get", reads),
                "put": ("update", writes),
                "patch": ("patch", patches),
                "delete": ("delete", _parameters("dryRun")),
            },
        )
        schemas[f"{kind.group or 'core'}.{kind.version}.{kind.kind}"] = {
            "type": "object",
            "x-kubernetes-group-version-kind": [gvk],
        }
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {path: item for path, item in paths.items() if item},
        "components": {"schemas": schemas},
    }


def _operations(kind: ResourceKind, gvk: Object, wanted: dict[str, tuple[str, list[Object]]]) -> Object:
    return {
        method: {
            "parameters": parameters,
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": verb if verb != "update" else "put",
            "x-kubernetes-group-version-kind": gvk,
        }
        for method, (verb, parameters) in wanted.items()
        if verb in kind.verbs
    }


def _parameters(*names: str) -> list[Object]:
    return [{"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}} for name in names]
