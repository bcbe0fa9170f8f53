"""Discovery documents: the groups and resources that a member serves, in both of Kubernetes' forms."""

from __future__ import annotations

from kadm.sandbox.kinds.registry import ResourceKind, Subresource
from kadm.sandbox.served import ServedKinds
from kadm.sandbox.store import Object

AGGREGATED = "APIGroupDiscoveryList"


def api_versions(address: str) -> Object:
    """``/api``."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def _group(kinds: ServedKinds, group: str) -> Object:
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in kinds.versions(group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def api_groups(kinds: ServedKinds) -> Object:
    """``/apis``."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(kinds, group) for group in kinds.groups() if group],
    }


def api_group(kinds: ServedKinds, group: str) -> Object:
    """``/apis/GROUP`` of a served group."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(kinds, group)}


def api_resources(kinds: ServedKinds, group: str, version: str) -> Object:
    """``/api/v1`` or ``/apis/GROUP/VERSION`` of a served version."""
    resources: list[Object] = []
    for kind in _kinds(kinds, group, version):
        entry: Object = {
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(kind.verbs),
        }
        if kind.short_names:
            entry["shortNames"] = list(kind.short_names)
        if kind.categories:
            entry["categories"] = list(kind.categories)
        resources.append(entry)
        resources.extend(_subresource(kind, sub) for sub in kind.subresources)
    document: Object = {"kind": "APIResourceList"}
    if group:
        document["apiVersion"] = "v1"
    return {**document, "groupVersion": f"{group}/{version}" if group else version, "resources": resources}


def _subresource(kind: ResourceKind, sub: Subresource) -> Object:
    entry: Object = {"name": f"{kind.plural}/{sub.name}", "singularName": "", "namespaced": kind.namespaced}
    if sub.version:
        entry["group"] = sub.group
        entry["version"] = sub.version
    return {**entry, "kind": sub.kind, "verbs": list(sub.verbs)}


def _kinds(kinds: ServedKinds, group: str, version: str) -> list[ResourceKind]:
    found = [kind for kind in kinds.all() if kind.group == group and kind.version == version]
    return sorted(found, key=lambda kind: kind.plural)


def aggregated(kinds: ServedKinds, *, core: bool) -> Object:
    """``/api`` (core group) or ``/apis`` (the rest) in one document, as ``apidiscovery.k8s.io/v2``."""
    items: list[Object] = []
    for group in kinds.groups():
        if (group == "") != core:
            continue
        versions = [
            {
                "version": version,
                "resources": [_aggregated_resource(kind) for kind in _kinds(kinds, group, version)],
                "freshness": "Current",
            }
            for version in kinds.versions(group)
        ]
        items.append({"metadata": {"name": group} if group else {}, "versions": versions})
    return {"kind": AGGREGATED, "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_resource(kind: ResourceKind) -> Object:
    entry: Object = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind.kind, kind, None),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    if kind.subresources:
        entry["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": _response_kind(sub.kind, kind, sub),
                "verbs": list(sub.verbs),
            }
            for sub in kind.subresources
        ]
    return entry


def _response_kind(name: str, kind: ResourceKind, sub: Subresource | None) -> Object:
    """The kind of the answers; group and version are empty where they are the resource's own, but for custom kinds."""
    if sub is not None and sub.version:
        return {"group": sub.group, "version": sub.version, "kind": name}
    if kind.custom:
        return {"group": kind.group, "version": kind.version, "kind": name}
    return {"group": "", "version": "", "kind": name}
