"""What a CustomResourceDefinition makes a member serve, and the conditions that say so."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.registry import CustomVersion, PrinterColumn, ResourceKind, Subresource, Verb

CUSTOM_VERBS: tuple[Verb, ...] = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""In the order in which discovery shows them for custom resources."""

_NAME_KEYS = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


def kinds_of(crd: JsonObject) -> tuple[ResourceKind, ...]:
    """The kinds that an established CRD serves, one for each served version, in its order; empty if it is not
    established.

    Names are those that were accepted.
    """
    if not _is_true(crd, "Established"):
        return ()
    spec, names = crd["spec"], crd["status"]["acceptedNames"]
    storage = storage_version(crd)
    return tuple(
        ResourceKind(
            group=spec["group"],
            version=version["name"],
            kind=names["kind"],
            plural=names["plural"],
            singular=names.get("singular") or names["kind"].lower(),
            namespaced=spec["scope"] == "Namespaced",
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            verbs=CUSTOM_VERBS,
            subresources=_subresources(names["kind"], version.get("subresources") or {}),
            generation=True,
            list_kind=names.get("listKind") or f"{names['kind']}List",
            storage_group=spec["group"],
            storage_version=storage,
            custom=_custom_version(crd, version),
        )
        for version in spec["versions"]
        if version["served"]
    )


def storage_version(crd: JsonObject) -> str:
    """The version in which the custom objects are stored; "" where a CRD that is yet to be refused names none."""
    return next((str(version["name"]) for version in crd["spec"].get("versions") or () if version["storage"]), "")


def accepted(crd: JsonObject, others: Iterable[JsonObject], now: str) -> JsonObject:
    """The CRD with its names accepted or refused in ``status``, as the naming controller leaves it; or the same.

    ``others`` are the member's other CRDs: a name that one of them holds in the same group is refused. Once
    established, a CRD stays so. ``now`` is the time of conditions that change.
    """
    spec = crd["spec"]
    wanted = {key: spec["names"][key] for key in _NAME_KEYS if spec["names"].get(key)}
    taken: set[tuple[str, str]] = set()
    for other in others:
        if other["spec"]["group"] != spec["group"] or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        held = other["status"]["acceptedNames"]
        taken.update(("plural", held[key]) for key in ("plural", "singular") if held.get(key))
        taken.update(("plural", name) for name in held.get("shortNames") or ())
        taken.update(("kind", held[key]) for key in ("kind", "listKind") if held.get(key))
    conflict = _name_conflict(wanted, taken)
    conditions = [{**condition} for condition in crd["status"].get("conditions") or ()]
    names = crd["status"].get("acceptedNames") or {"plural": "", "kind": ""}
    if conflict:
        _set_condition(conditions, "NamesAccepted", ("False", *conflict), now)
        if not _is_true(crd, "Established"):
            _set_condition(conditions, "Established", ("False", "NotAccepted", "not all names are accepted"), now)
    else:
        names = wanted
        _set_condition(conditions, "NamesAccepted", ("True", "NoConflicts", "no conflicts found"), now)
        _set_condition(
            conditions,
            "Established",
            ("True", "InitialNamesAccepted", "the initial names have been accepted"),
            now,
        )
    status = {**crd["status"], "conditions": conditions, "acceptedNames": names}
    return crd if status == crd["status"] else {**crd, "status": status}


def _name_conflict(wanted: JsonObject, taken: set[tuple[str, str]]) -> tuple[str, str] | None:
    """Reason and message of the first name that is held by another CRD; None if all are free."""
    for key in ("plural", "singular"):
        if ("plural", wanted.get(key, "")) in taken:
            return f"{key.capitalize()}Conflict", f'"{wanted[key]}" is already in use'
    for name in wanted.get("shortNames") or ():
        if ("plural", name) in taken:
            return "ShortNamesConflict", f'"{name}" is already in use'
    for key in ("kind", "listKind"):
        if ("kind", wanted.get(key, "")) in taken:
            return f"{key[0].upper()}{key[1:]}Conflict", f'"{wanted[key]}" is already in use'
    return None


def _set_condition(conditions: list[JsonObject], name: str, outcome: tuple[str, str, str], now: str) -> None:
    status, reason, message = outcome
    found = next((condition for condition in conditions if condition["type"] == name), None)
    if found is None:
        found = {"type": name}
        conditions.append(found)
    if found.get("status") != status:
        found["lastTransitionTime"] = now
    found.update(status=status, reason=reason, message=message)


def _is_true(crd: JsonObject, condition: str) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)


def _subresources(kind: str, subresources: JsonObject) -> tuple[Subresource, ...]:
    found = []
    if subresources.get("scale") is not None:
        found.append(Subresource(name="scale", kind="Scale", group="autoscaling", version="v1"))
    if subresources.get("status") is not None:
        found.append(Subresource(name="status", kind=kind))
    return tuple(found)


def _custom_version(crd: JsonObject, version: JsonObject) -> CustomVersion:
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    scale = (version.get("subresources") or {}).get("scale") or {}
    return CustomVersion(
        crd_name=crd["metadata"]["name"],
        schema=schema,
        preserve_unknown_fields=bool(crd["spec"].get("preserveUnknownFields")),
        columns=tuple(
            PrinterColumn(
                name=column["name"],
                type=column["type"],
                json_path=column["jsonPath"],
                format=column.get("format", ""),
                description=column.get("description", ""),
                priority=column.get("priority", 0),
            )
            for column in version.get("additionalPrinterColumns") or ()
        ),
        scale_spec_path=scale.get("specReplicasPath", ""),
        scale_status_path=scale.get("statusReplicasPath", ""),
        scale_label_selector_path=scale.get("labelSelectorPath", ""),
        deprecation_warning=_deprecation(crd, version),
        selectable_fields=tuple(field["jsonPath"] for field in version.get("selectableFields") or ()),
    )


def _deprecation(crd: JsonObject, version: JsonObject) -> str:
    """The text of the warning: the CRD's own, or one that names the newest served version that is not deprecated."""
    if not version.get("deprecated"):
        return ""
    own = version.get("deprecationWarning")
    if own is not None:
        return str(own)
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    text = f"{group}/{version['name']} {kind} is deprecated"
    for other in crd["spec"]["versions"]:
        if other["served"] and not other.get("deprecated"):
            return f"{text}; use {group}/{other['name']} {kind}"
    return text
