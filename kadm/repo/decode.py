"""A document as a typed value, or everything that is wrong with it, each fault with its place.

msgspec stops at the first fault and names no position, so a value that it refuses is checked against its description
of the type. A null where the type has none counts as absent, for API servers prune it.
"""

from __future__ import annotations

import difflib
import json
import re
from typing import TypeVar

import msgspec
from msgspec import inspect

from kadm.errors import Problem, RepoError
from kadm.model.objects import JsonValue, Path, at, path_text
from kadm.repo.documents import Document

T = TypeVar("T")

_SHOWN = 60
_LISTED = 30

_Sequence = (
    inspect.ListType,
    inspect.VarTupleType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.CollectionType,
)


def decode(
    document: Document,
    type: type[T],  # noqa: A002  # msgspec's own word
    *,
    path: Path = (),
    instead: JsonValue = None,
    secret: bool = False,
) -> T:
    """The value at ``path`` of ``document`` as a ``type``; an absent one counts as ``{}``.

    ``instead`` is read in its place, where given. With ``secret`` messages name no values. Raises RepoError with every
    fault.
    """
    value = instead if instead is not None else at(document.value, path)
    value = {} if value is None else value
    try:
        return msgspec.convert(value, type=type)
    except msgspec.ValidationError:  # says the first fault only, and takes a null for one
        check = _Check(document, secret=secret)
        cleaned = check.value(value, inspect.type_info(type), path)
    if check.problems:
        raise RepoError(check.problems)
    return msgspec.convert(cleaned, type=type)


class _Check:
    """Walks a value along its type. Each method returns the value as msgspec shall see it, nulls left out."""

    def __init__(self, document: Document, *, secret: bool) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._secret = secret

    def value(self, value: JsonValue, kind: inspect.Type, path: Path) -> JsonValue:
        if isinstance(kind, inspect.Metadata):
            return self.value(value, kind.type, path)
        if isinstance(kind, inspect.UnionType):
            return self._union(value, kind, path)
        if isinstance(kind, inspect.StructType):
            return self._struct(value, kind, path)
        if isinstance(kind, _Sequence):
            return self._sequence(value, kind, path)
        if isinstance(kind, inspect.DictType):
            return self._dict(value, kind, path)
        if not isinstance(kind, (inspect.AnyType, inspect.RawType)) and (fault := _leaf_fault(value, kind)):
            self._wrong(value, fault, path)
        return value

    def _union(self, value: JsonValue, kind: inspect.UnionType, path: Path) -> JsonValue:
        fitting = [one for one in kind.types if _fits(value, one)]
        if fitting:
            return self.value(value, fitting[0], path)
        self._wrong(value, " or ".join(_expected(one) for one in kind.types if _expected(one) != "null"), path)
        return value

    def _struct(self, value: JsonValue, kind: inspect.StructType, path: Path) -> JsonValue:
        if not isinstance(value, dict):
            self._wrong(value, _expected(kind), path)
            return value
        fields = {field.encode_name: field for field in kind.fields}
        cleaned = {}
        misspelt = set()
        for key, part in value.items():
            field = fields.get(key)
            if field is not None:
                if part is not None or _fits(None, field.type):
                    cleaned[key] = self.value(part, field.type, (*path, key))
            elif kind.forbid_unknown_fields:
                self._unknown(key, list(fields), path)
                misspelt.add(likeliest(key, list(fields)))
        for name, field in fields.items():
            if field.required and name not in cleaned and name not in misspelt:
                self._missing(name, field.type, path)
        return cleaned

    def _sequence(self, value: JsonValue, kind: inspect.Type, path: Path) -> JsonValue:
        assert isinstance(kind, _Sequence)
        if not isinstance(value, list):
            self._wrong(value, "a list", path)
            return value
        if kind.min_length is not None and len(value) < kind.min_length:
            self._wrong(value, f"a list of at least {kind.min_length} items", path)
        if kind.max_length is not None and len(value) > kind.max_length:
            self._wrong(value, f"a list of at most {kind.max_length} items", path)
        return [self.value(item, kind.item_type, (*path, index)) for index, item in enumerate(value)]

    def _dict(self, value: JsonValue, kind: inspect.DictType, path: Path) -> JsonValue:
        if not isinstance(value, dict):
            self._wrong(value, "an object", path)
            return value
        return {key: self.value(part, kind.value_type, (*path, key)) for key, part in value.items()}

    def _wrong(self, value: JsonValue, expected: str, path: Path) -> None:
        hint = ""
        if "text" in expected and isinstance(value, (bool, int, float)):
            hint = "put it in quotes"
        what = f"{_named(path)} must be {expected}, and is {_kind_of(value) if self._secret else shown(value)}"
        self.problems.append(Problem(what=what, where=self._document.locate(path), hint=hint))

    def _missing(self, name: str, kind: inspect.Type, path: Path) -> None:
        what = f"{_named((*path, name))} is missing; it must be {_expected(kind)}"
        self.problems.append(Problem(what=what, where=self._document.locate(path)))

    def _unknown(self, key: str, known: list[str], path: Path) -> None:
        what = f"{_named((*path, key))} is no field that kadm knows"
        where = self._document.locate((*path, key), key=True)
        self.problems.append(Problem(what=what, where=where, hint=suggestion(key, known)))


def suggestion(word: str, known: list[str], *, prefix: str = "") -> str:
    """The likeliest of ``known`` for a mistyped ``word``, else all of them, as a hint. Empty where nothing is known.

    ``prefix`` stands before all of them, and is left out where they are compared.
    """
    if meant := likeliest(word, known):
        return f"did you mean `{prefix}{meant}`?"
    if not known:
        return ""
    listed = ", ".join(prefix + name for name in known[:_LISTED]) + (", …" if len(known) > _LISTED else "")
    return f"known here: {listed}"


def likeliest(word: str, known: list[str]) -> str:
    """What of ``known`` a mistyped ``word`` is close to; empty where it is close to nothing."""
    by_lower = {name.lower(): name for name in reversed(known)}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[close[0]] if close else ""


def _named(path: Path) -> str:
    return f"`{path_text(path)}`" if path else "the document"


def _fits(value: JsonValue, kind: inspect.Type) -> bool:
    """Whether ``value`` has the JSON type that ``kind`` is written in, whatever else is wrong with it."""
    if isinstance(kind, inspect.Metadata):
        return _fits(value, kind.type)
    if isinstance(kind, inspect.UnionType):
        return any(_fits(value, one) for one in kind.types)
    if isinstance(kind, (inspect.AnyType, inspect.RawType)):
        return True
    if isinstance(kind, inspect.NoneType):
        return value is None
    if isinstance(kind, inspect.BoolType):
        return isinstance(value, bool)
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(kind, (inspect.StructType, inspect.DictType)):
        return isinstance(value, dict)
    if isinstance(kind, _Sequence):
        return isinstance(value, list)
    if isinstance(kind, (inspect.LiteralType, inspect.EnumType)):
        return any(type(value) is type(choice) for choice in _choices(kind))
    return isinstance(value, str)


def _leaf_fault(value: JsonValue, kind: inspect.Type) -> str:
    """What ``value`` must be and is not; empty where it is."""
    expected = _expected(kind)
    if not _fits(value, kind):
        return expected
    if isinstance(kind, (inspect.LiteralType, inspect.EnumType)):
        return "" if any(value == choice and type(value) is type(choice) for choice in _choices(kind)) else expected
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        whole = isinstance(kind, inspect.FloatType) or isinstance(value, int)
        bounded = (
            (kind.ge is None or value >= kind.ge)
            and (kind.gt is None or value > kind.gt)
            and (kind.le is None or value <= kind.le)
            and (kind.lt is None or value < kind.lt)
            and (kind.multiple_of is None or value % kind.multiple_of == 0)
        )
        return "" if whole and bounded else expected
    if isinstance(kind, inspect.StrType):
        fits = (
            (kind.min_length is None or len(value) >= kind.min_length)
            and (kind.max_length is None or len(value) <= kind.max_length)
            and (kind.pattern is None or re.search(kind.pattern, value) is not None)
        )
        return "" if fits else expected
    return ""


def _choices(kind: inspect.LiteralType | inspect.EnumType) -> list[JsonValue]:
    if isinstance(kind, inspect.LiteralType):
        return list(kind.values)
    return [member.value for member in kind.cls]


def _expected(kind: inspect.Type) -> str:
    """What a value of this type is, in words that follow "must be"."""
    if isinstance(kind, inspect.Metadata):
        return _expected(kind.type)
    if isinstance(kind, inspect.UnionType):
        words = [_expected(one) for one in kind.types]
        return " or ".join(word for word in words if word != "null")
    if isinstance(kind, (inspect.LiteralType, inspect.EnumType)):
        choices = [f"`{choice}`" if choice != "" else '""' for choice in _choices(kind)]
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        return ("a whole number" if isinstance(kind, inspect.IntType) else "a number") + _bounds(kind)
    if isinstance(kind, inspect.StrType):
        return "text" + _text_bounds(kind)
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.NoneType):
        return "null"
    if isinstance(kind, (inspect.StructType, inspect.DictType)):
        return "an object"
    return "a list" if isinstance(kind, _Sequence) else "a value"


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    low, high = kind.ge, kind.le
    if low is not None and high is not None:
        return f" from {low} to {high}"
    words = [
        f" {word} {bound}"
        for word, bound in (
            ("of at least", low),
            ("above", kind.gt),
            ("of at most", high),
            ("below", kind.lt),
            ("that divides by", kind.multiple_of),
        )
        if bound is not None
    ]
    return ",".join(words)


def _text_bounds(kind: inspect.StrType) -> str:
    words = []
    if kind.pattern is not None:
        words.append(f" that matches {kind.pattern}")
    if kind.min_length is not None:
        words.append(f" of at least {kind.min_length} characters")
    if kind.max_length is not None:
        words.append(f" of at most {kind.max_length} characters")
    return " and".join(words)


def _kind_of(value: JsonValue) -> str:
    """What a value is, without its content."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, bool) or value is None:
        return "null" if value is None else "a boolean"
    return "text" if isinstance(value, str) else "a number"


def shown(value: JsonValue) -> str:
    """A value in a message: on one line, short, without control characters, and telling text from number."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
