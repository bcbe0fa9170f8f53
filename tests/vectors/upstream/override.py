"""The override engine (propagation spec, section 1)."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.vectors.case import Json
from tests.vectors.upstream.selector import SelectorFault, check_labels, some_term_matches
from tests.vectors.upstream.unit import POD_SPECS

Patch = dict[str, Json]

OPERATORS = {
    "image": {None, "overwrite", "addIfAbsent", "delete"},
    "command": {None, "append", "overwrite", "delete"},
    "args": {None, "append", "overwrite", "delete"},
    "envs": {None, "overwrite", "addIfAbsent", "delete", "upsert"},
    "annotations": {None, "overwrite", "addIfAbsent", "delete", "upsert"},
    "labels": {None, "overwrite", "addIfAbsent", "delete", "upsert"},
    "jsonpatch": {None, "add", "remove", "replace", "test"},
}
"""What the schema allows (with kadm's own upsert)."""

COMPONENTS = ("Registry", "Repository", "Tag", "Digest")
REFUSED_PATHS = ("/metadata/namespace", "/metadata/name", "/metadata/generateName", "/kind")


class OverrideFault(ValueError):
    """A rule cannot be applied."""


def override_answer(given: Json, fixed: frozenset[str]) -> dict[str, list[Json]]:
    """KubeAdmiral's answer to a case of suite ``override``. With row ``design 12``: ``refused`` clusters alone fail."""
    if "design 1" in fixed and not all(_allowed(rule) for rule in _rules(given)):
        return {"error": ["*"]}
    overrides: dict[str, list[Patch]] = {}
    patched: dict[str, Json] = {}
    refused: list[str] = []
    for cluster in given["clusters"]:
        name = cluster["metadata"]["name"]
        try:
            patches = _evaluated(given, cluster, fixed)
        except (OverrideFault, SelectorFault):
            refused.append(name)
            continue
        if not patches:
            continue
        try:
            result = _propagated(given["template"], patches, fixed)
        except OverrideFault as error:
            if "design 12" in fixed:
                refused.append(name)
                continue
            result = {"applyError": str(error)}
        overrides[name], patched[name] = patches, result
    if refused and ("design 12" not in fixed or len(refused) == len(given["clusters"])):
        return {"error": ["*"]}
    answer = {"overrides": overrides, "patched": patched}
    return {key: [value] for key, value in (answer | ({"refused": sorted(refused)} if refused else {})).items()}


def _rules(given: Json) -> Iterator[Json]:
    for policy in given["policies"]:
        yield from policy["spec"].get("overrideRules") or ()


def _allowed(rule: Json) -> bool:
    """Whether the schema has the rule's operators and components."""
    for kind, entries in (rule.get("overriders") or {}).items():
        for entry in entries or ():
            for one in (entry.get("operations") or ()) if kind == "image" else (entry,):
                if one.get("operator") not in OPERATORS[kind]:
                    return False
                if kind == "image" and one.get("imageComponent") not in COMPONENTS:
                    return False
    return True


def _evaluated(given: Json, cluster: Json, fixed: frozenset[str]) -> list[Patch]:
    """The patches for one cluster. Raises OverrideFault, SelectorFault."""
    working, found = copy.deepcopy(given["template"]), []
    for rule in _rules(given):
        if not _hits(rule.get("targetClusters"), cluster):
            continue
        patches = _compiled(working, rule.get("overriders") or {}, fixed)
        found += patches
        for patch in patches:
            if not patch["path"].startswith("/metadata/finalizers"):
                working = apply_patch(working, patch)
        if "design 12" in fixed:
            _same_object(given["template"], working)
    return found


def _propagated(template: Json, patches: Sequence[Patch], fixed: frozenset[str]) -> Json:
    """The object after all patches. Raises OverrideFault."""
    result = copy.deepcopy(template)
    for patch in patches:
        if "design 12" not in fixed and patch["path"] in REFUSED_PATHS:
            raise OverrideFault(f"{patch['path']} cannot be overridden")
        result = apply_patch(result, patch)
    return result


def _same_object(before: Json, after: Json) -> None:
    """kadm refuses what would be another object, however it is written."""

    def identity(document: Json) -> tuple[Json, ...]:
        metadata = document.get("metadata")
        if not isinstance(metadata, dict):
            raise OverrideFault("it has no metadata")
        names = tuple(metadata.get(key) for key in ("namespace", "name", "generateName"))
        return (document.get("kind"), str(document.get("apiVersion") or "").rpartition("/")[0], *names)

    if identity(before) != identity(after):
        raise OverrideFault("it would be another object")


def _hits(target: Json, cluster: Json) -> bool:
    if target is None:
        return True
    name, labels = cluster["metadata"]["name"], cluster["metadata"].get("labels") or {}
    if target.get("clusters") and name not in target["clusters"]:
        return False
    selector = target.get("clusterSelector") or {}
    check_labels(selector)
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    terms = target.get("clusterAffinity") or ()
    return not terms or some_term_matches(terms, name, labels)


# Compiling a rule


def _compiled(working: Json, overriders: Json, fixed: frozenset[str]) -> list[Patch]:
    patches = _images(working, overriders.get("image") or ())
    for field in ("command", "args"):
        patches += _entrypoints(working, field, overriders.get(field) or (), fixed)
    patches += _variables(working, overriders.get("envs") or ())
    for field in ("annotations", "labels"):
        patches += _maps(working, field, overriders.get(field) or ())
    for entry in overriders.get("jsonpatch") or ():
        patch = {"path": entry["path"], "value": entry.get("value")}
        patches.append({"op": entry["operator"], **patch} if entry.get("operator") else patch)
    return patches


def _containers(working: Json) -> list[tuple[str, Json]]:
    """Pointer and container, init containers first. Raises OverrideFault for a kind without pod spec."""
    group, _, _ = working["apiVersion"].rpartition("/")
    path = POD_SPECS.get((group, working["kind"]))
    if path is None:
        raise OverrideFault(f"{working['kind']} has no pod spec")
    spec: Any = working
    for step in path:
        spec = (spec.get(step) or {}) if isinstance(spec, dict) else None
    lists = [(spec.get(field) or []) if isinstance(spec, dict) else None for field in ("initContainers", "containers")]
    if not all(isinstance(found, list) and all(isinstance(one, dict) for one in found) for found in lists):
        raise OverrideFault("there is no list of containers")
    return [
        (f"/{'/'.join(path)}/{field}/{index}", container)
        for field in ("initContainers", "containers")
        for index, container in enumerate(spec.get(field) or ())
    ]


def _images(working: Json, overriders: Sequence[Json]) -> list[Patch]:
    values: dict[str, str] = {}
    for overrider in overriders:
        if overrider.get("imagePath"):
            targets = [(overrider["imagePath"], _image_at(working, overrider["imagePath"]))]
        else:
            names = overrider.get("containerNames") or ()
            targets = [
                (f"{path}/image", container.get("image") or "")
                for path, container in _containers(working)
                if not names or container.get("name") in names
            ]
        for path, image in targets:
            parts = _parsed(values.get(path, image))
            for operation in overrider.get("operations") or ():
                _operate(parts, operation)
            values[path] = _joined(parts)
    return [{"op": "replace", "path": path, "value": values[path]} for path in sorted(values)]


def _image_at(working: Json, path: str) -> str:
    if not path.startswith("/"):
        raise OverrideFault(f"{path} does not start with /")
    found: Any = working
    for step in path[1:].split("/"):
        if isinstance(found, list):
            if not re.fullmatch(r"[0-9]+", step, re.ASCII) or int(step) >= len(found):
                raise OverrideFault(f"{path}: {step} is no index")
            found = found[int(step)]
        elif isinstance(found, dict):
            found = found.get(step)
        else:
            raise OverrideFault(f"{path}: there is nothing at {step}")
    if not isinstance(found, str):
        raise OverrideFault(f"{path} holds no text")
    return found


_COMPONENT = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)"
_TAG = r"\w[\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_IMAGE = re.compile(
    rf"((?:{_HOST}(?:\.{_HOST})*(?::[0-9]+)?/)?{_COMPONENT}(?:/{_COMPONENT})*)(?::({_TAG}))?(?:@({_DIGEST}))?", re.ASCII
)
_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}


def _parsed(image: str) -> dict[str, str]:
    found = _IMAGE.fullmatch(image)
    if found is None or len(found[1]) > 255:
        raise OverrideFault(f"{image!r} is no image")
    algorithm, _, digits = (found[3] or "").partition(":")
    if found[3] and (len(digits) != _LENGTHS.get(algorithm) or digits != digits.lower()):
        raise OverrideFault(f"{image!r} has no known digest")
    first, slash, rest = found[1].partition("/")
    registry = first if slash and ("." in first or ":" in first or first == "localhost") else ""
    repository = rest if registry else found[1]
    return {"Registry": registry, "Repository": repository, "Tag": found[2] or "", "Digest": found[3] or ""}


def _joined(parts: Mapping[str, str]) -> str:
    name = f"{parts['Registry']}/{parts['Repository']}" if parts["Registry"] else parts["Repository"]
    tag = f":{parts['Tag']}" if parts["Tag"] else ""
    return name + tag + (f"@{parts['Digest']}" if parts["Digest"] else "")


def _operate(parts: dict[str, str], operation: Json) -> None:
    part, value = operation["imageComponent"], operation.get("value") or ""
    operator = operation.get("operator") or "overwrite"
    if operator not in OPERATORS["image"] or part not in parts:
        raise OverrideFault(f"there is no {operator} of {part}")
    if operator == "addIfAbsent" and (not value or parts[part]):
        raise OverrideFault(f"{part} cannot be added")
    parts[part] = "" if operator == "delete" else value
    if part == "Tag" and parts[part] and not re.fullmatch(_TAG, parts[part], re.ASCII):
        raise OverrideFault(f"{value!r} is no tag")
    if part == "Digest" and parts[part] and not re.fullmatch(_DIGEST, parts[part], re.ASCII):
        raise OverrideFault(f"{value!r} is no digest")


def _named(working: Json, name: str) -> tuple[str, Json] | None:
    return next(((path, one) for path, one in _containers(working) if one.get("name") == name), None)


def _entrypoints(working: Json, field: str, overriders: Sequence[Json], fixed: frozenset[str]) -> list[Patch]:
    values: dict[str, list[str] | None] = {}
    if overriders:
        _containers(working)
    for overrider in overriders:
        found = _named(working, overrider["containerName"])
        if found is None:
            continue
        path = f"{found[0]}/{field}"
        words = values.get(path, found[1].get(field)) or []
        given = overrider.get("value") or []
        match overrider.get("operator"):
            case "append" if given:
                values[path] = [*words, *given]
            case "overwrite":
                values[path] = given
            case "delete":
                values[path] = [word for word in words if word not in given] or None
            case None if "design 13" in fixed:
                values[path] = given
            case _:
                raise OverrideFault(f"{field} cannot be changed by {overrider.get('operator')}")
    return [{"op": "replace", "path": path, "value": values[path]} for path in sorted(values)]


def _variables(working: Json, overriders: Sequence[Json]) -> list[Patch]:
    values: dict[str, list[Json] | None] = {}
    if overriders:
        _containers(working)
    for overrider in overriders:
        found = _named(working, overrider["containerName"])
        if found is None:
            continue
        path = f"{found[0]}/env"
        there: list[Json] | None = values.get(path, found[1].get("env"))
        given = {one["name"]: one for one in overrider.get("value") or ()}
        match overrider.get("operator") or "overwrite":
            case "overwrite":
                values[path] = [given.get(one["name"], one) for one in there] if there else there
            case "delete":
                left = [one for one in there or () if one["name"] not in given]
                values[path] = left or (None if there else there)
            case "addIfAbsent" if overrider.get("value"):
                names = [one["name"] for one in [*(there or ()), *overrider["value"]]]
                if len(set(names) & given.keys()) != len([name for name in names if name in given]):
                    raise OverrideFault("a variable is there already")
                values[path] = [*(there or ()), *overrider["value"]]
            case operator:
                raise OverrideFault(f"env cannot be changed by {operator}")
    return [
        {
            "op": "replace",
            "path": path,
            "value": value and [{key: text for key, text in one.items() if key != "value" or text} for one in value],
        }
        for path, value in sorted(values.items())
    ]


def _maps(working: Json, field: str, overriders: Sequence[Json]) -> list[Patch]:
    if not overriders:
        return []
    values: dict[str, str] = dict((working.get("metadata") or {}).get(field) or {})
    for overrider in overriders:
        given = overrider.get("value") or {}
        match overrider.get("operator") or "overwrite":
            case "overwrite":
                values.update({key: text for key, text in given.items() if key in values})
            case "delete":
                values = {key: text for key, text in values.items() if key not in given}
            case "addIfAbsent":
                if not given or given.keys() & values.keys():
                    raise OverrideFault(f"{field} cannot be added")
                values.update(given)
            case _:
                pass  # anything else does nothing
    return [{"op": "replace", "path": f"/metadata/{field}", "value": values}]


# JSON patch, in the lenient form of the Go library


def apply_patch(document: Json, patch: Patch) -> Json:
    """A copy of the document after one operation. Raises OverrideFault."""
    operator, path, value = patch.get("op") or "replace", patch["path"], patch.get("value")
    if operator not in OPERATORS["jsonpatch"]:
        raise OverrideFault(f"there is no operation {operator}")
    result = copy.deepcopy(document)
    if path == "":
        if operator == "test" and _same(result, value):
            return result
        if operator == "replace" and isinstance(value, dict):
            return value
        raise OverrideFault(f"{operator} of the whole")
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    if not steps:
        raise OverrideFault(f"{path} is no path")
    container = result
    for step in steps[:-1]:
        container = _child(container, step)
        if not isinstance(container, dict | list):
            raise OverrideFault(f"{path}: there is nothing at {step}")
    last = steps[-1]
    if isinstance(container, dict):
        if operator == "test":
            if not _same(container.get(last), value):
                raise OverrideFault("test failed")
        elif operator == "remove":
            if last not in container:
                raise OverrideFault(f"{path} is not there")
            del container[last]
        else:
            container[last] = value
        return result
    if operator == "add":
        index = len(container) if last == "-" else _index(last, len(container) + 1)
        container.insert(index, value)
        return result
    index = _index(last, len(container))
    if operator == "test":
        if not _same(container[index], value):
            raise OverrideFault("test failed")
    elif operator == "remove":
        del container[index]
    else:
        container[index] = value
    return result


def _child(container: Json, step: str) -> Json:
    if isinstance(container, dict):
        return container.get(step)
    return container[_index(step, len(container))]


def _index(text: str, size: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) or not -size <= int(text) < size:
        raise OverrideFault(f"{text} is no index")
    return int(text) % size


def _same(left: Json, right: Json) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)
