"""JSON patch (RFC 6902) and JSON merge patch (RFC 7386) on JSON values, with the liberties that the server takes.

Neither function changes its arguments. Source of the liberties: the v4 line of evanphx/json-patch, which Kubernetes
uses: ``replace`` adds an absent member, and indices below zero count from the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kadm.sandbox.typed import same


class PatchRefused(Exception):
    """A JSON patch does not apply: a test fails, a path leads nowhere, or an operation is none.

    ``str()`` says which.
    """


def json_patch(obj: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """``obj`` after all operations, in order. Raises PatchRefused; the server then answers 422."""
    out = copied(obj)
    for operation in operations:
        out = _applied(out, operation)
    return out


def merge_patch(obj: Any, patch: Any) -> Any:
    """``obj`` with ``patch`` put over it: null removes a member, lists and scalars are replaced."""
    if not isinstance(patch, dict):
        return _without_nulls(patch)
    out = dict(obj) if isinstance(obj, dict) else {}
    for name, value in patch.items():
        if value is None:
            out.pop(name, None)
        elif isinstance(value, dict):
            out[name] = merge_patch(out.get(name), value)
        else:
            out[name] = value
    return out


def copied(value: Any) -> Any:
    """A copy of a JSON value that shares nothing with it."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return value


def _applied(document: Any, operation: Mapping[str, Any]) -> Any:
    if not isinstance(operation, Mapping):
        raise PatchRefused(f"invalid operation {operation!r}")
    name, path = operation.get("op"), operation.get("path")
    if not isinstance(path, str):
        raise PatchRefused(f"{name} operation has no path")
    match name:
        case "add":
            _add(document, path, copied(operation.get("value")))
        case "remove":
            _take(document, path)
        case "replace":
            container, key = _place(document, path, "replace")
            if isinstance(container, dict):
                container[key] = copied(operation.get("value"))
            else:
                container[_index(container, key)] = copied(operation.get("value"))
        case "move":
            _add(document, path, _take(document, _source(operation)))
        case "copy":
            _add(document, path, copied(_find(document, _source(operation))))
        case "test":
            _test(document, path, operation)
        case _:
            raise PatchRefused(f"Unexpected kind: {name}")
    return document


def _source(operation: Mapping[str, Any]) -> str:
    source = operation.get("from")
    if not isinstance(source, str):
        raise PatchRefused(f"{operation.get('op')} operation has no from")
    return source


def _test(document: Any, path: str, operation: Mapping[str, Any]) -> None:
    try:
        found = _find(document, path)
    except _MissingMember:
        found = None
    if not same(found, operation.get("value")):
        raise PatchRefused(f"testing value {path} failed")


class _MissingMember(PatchRefused):
    """The last part of a path names no member of its container."""


def _parts(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _place(document: Any, path: str, what: str) -> tuple[dict[str, Any] | list[Any], str]:
    """The container that ``path`` leads into, and the key in it."""
    parts = _parts(path)
    if not parts:
        raise PatchRefused(f"{what} operation does not apply: doc is missing path: {path}")
    here = document
    for part in parts[:-1]:
        here = _member(here, part, path)
    if not isinstance(here, (dict, list)):
        raise PatchRefused(f"{what} operation does not apply: doc is missing path: {path}")
    return here, parts[-1]


def _member(container: Any, key: str, path: str) -> Any:
    if isinstance(container, dict):
        if key not in container:
            raise _MissingMember(f"doc is missing key: {path}")
        return container[key]
    if isinstance(container, list):
        return container[_index(container, key)]
    raise PatchRefused(f"doc is missing path: {path}")


def _index(container: list[Any], key: str) -> int:
    index = _number(key)
    if not -len(container) <= index < len(container):
        raise PatchRefused(f"Unable to access invalid index: {key}")
    return index


def _number(key: str) -> int:
    try:
        return int(key)
    except ValueError:
        raise PatchRefused(f"value was not a proper array index: '{key}'") from None


def _find(document: Any, path: str) -> Any:
    container, key = _place(document, path, "test")
    return _member(container, key, path)


def _add(document: Any, path: str, value: Any) -> None:
    container, key = _place(document, path, "add")
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        index = _number(key)
        places = len(container) + 1
        if not -places <= index < places:
            raise PatchRefused(f"Unable to access invalid index: {key}")
        container.insert(index if index >= 0 else places + index, value)


def _take(document: Any, path: str) -> Any:
    """Remove what is at ``path`` and return it."""
    container, key = _place(document, path, "remove")
    if isinstance(container, dict):
        if key not in container:
            raise PatchRefused(f"Unable to remove nonexistent key: {key}")
        return container.pop(key)
    return container.pop(_index(container, key))
