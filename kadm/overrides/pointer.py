"""JSON pointers and patch operations, as lenient as KubeAdmiral's (propagation spec 1.8); the input stays as it is.

An operation is first brought to a form that PyPI's stricter jsonpatch agrees with (indexes counted from the start,
replace of an absent key as add), then applied to a document in which only the containers along its path are copies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, assert_never

import jsonpatch
from jsonpointer import JsonPointerException

from kadm.model.objects import JsonValue, Path
from kadm.overrides.error import OverrideError

PatchOperator = Literal["add", "remove", "replace", "test"]

_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True)
class Patch:
    """One RFC 6902 operation; ``value`` is None where the operator takes none, or where it is null."""

    op: PatchOperator
    path: str
    value: JsonValue = None


def patch_path(patch: Patch) -> str:
    """Sort key of patches: the path as text, so that index 10 stands before 2, as in KubeAdmiral."""
    return patch.path


def pointer(path: Path) -> str:
    """``path`` as an RFC 6901 pointer."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def split_pointer(text: str) -> tuple[str, ...]:
    """The pointer's reference tokens, unescaped; empty for the whole document. Raises OverrideError."""
    if not text:
        return ()
    if not text.startswith("/"):
        raise OverrideError(f"path {text!r} does not start with /")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/"))


def patched(document: JsonValue, patch: Patch) -> tuple[JsonValue, Path]:
    """The document after ``patch``, and where it changed it (the path with indexes from the start, as numbers).

    Containers along the path are copied, everything else is shared with the input. Raises OverrideError where the
    operation does not apply.
    """
    tokens = split_pointer(patch.path)
    if not tokens:
        return _whole(document, patch), ()
    changed = parent = _copy(document)
    where: list[str | int] = []
    for token in tokens[:-1]:
        step = _existing(parent, token, patch)
        child = parent[step]
        if not isinstance(child, dict | list):
            raise OverrideError(f"{patch.op} {patch.path}: {pointer((*where, step))} holds no object or list")
        parent[step] = child = _copy(child)
        parent = child
        where.append(step)
    operation, step = _strict(parent, tokens[-1], patch)
    where.append(step)
    if operation == "test":
        # Not jsonpatch's: Python holds 1 and true equal, JSON does not.
        value = parent.get(step) if isinstance(parent, dict) else parent[step]  # an absent key equals null
        if not _equal(value, patch.value):
            raise OverrideError(f"test {patch.path}: the value is another one")
        return document, tuple(where)
    strict: Any = {"op": operation, "path": pointer((step,)), "value": patch.value}  # relative to the parent
    try:
        jsonpatch.apply_patch(parent, [strict], in_place=True)
    except (jsonpatch.JsonPatchException, JsonPointerException) as error:
        raise OverrideError(f"{patch.op} {patch.path} does not apply") from error
    return changed, tuple(where)


def _whole(document: JsonValue, patch: Patch) -> JsonValue:
    match patch.op:
        case "replace":
            if isinstance(patch.value, dict):
                return patch.value
            raise OverrideError("replace of the whole object needs an object")
        case "test":
            if _equal(document, patch.value):
                return document
            raise OverrideError("test of the whole object: the value is another one")
        case "add" | "remove":
            raise OverrideError(f"{patch.op} needs a path")
        case _:
            assert_never(patch.op)


def _copy(container: JsonValue) -> JsonValue:
    return dict(container) if isinstance(container, dict) else list(container)


def _strict(parent: JsonValue, token: str, patch: Patch) -> tuple[PatchOperator, str | int]:
    """The operator and the last step as jsonpatch wants them."""
    if isinstance(parent, dict):
        if patch.op == "remove" and token not in parent:
            raise OverrideError(f"remove {patch.path}: there is no such key")
        return "add" if patch.op == "replace" else patch.op, token
    if patch.op == "add":
        if token == "-":  # noqa: S105  # a reference token, no secret
            return "add", len(parent)
        return "add", _index(token, len(parent) + 1, patch)
    return patch.op, _index(token, len(parent), patch)


def _existing(parent: JsonValue, token: str, patch: Patch) -> str | int:
    if isinstance(parent, list):
        return _index(token, len(parent), patch)
    if token not in parent:
        raise OverrideError(f"{patch.op} {patch.path}: there is no {token!r} on the way")
    return token


def _index(token: str, size: int, patch: Patch) -> int:
    """``token`` as an index below ``size``; a negative one counts from the end."""
    index = int(token) if _INDEX.fullmatch(token) else None
    if index is None or not -size <= index < size:
        raise OverrideError(f"{patch.op} {patch.path}: {token!r} is no index of a list that ends before {size}")
    return index % size


def _equal(left: JsonValue, right: JsonValue) -> bool:
    """Equality of JSON values: a boolean equals no number."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
