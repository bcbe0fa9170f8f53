"""The types of the objects that the sandbox serves: which fields exist, how lists and maps merge, what Go would store.

A ``Schema`` is the type of one kind. ``builtin`` gives that of a kind of Kubernetes 1.36, ``crd_schema.from_crd`` that
of a custom kind; ``UNTYPED`` is the type of anything whose structure alone decides.

The facts about built-in kinds are in ``builtin_schema.json``. Source: the field tags and markers of ``types.go`` in
kubernetes/api, apimachinery, apiextensions-apiserver and kube-aggregator, branch release-1.36, checked against the
structured-merge-diff schema in kubernetes/client-go (applyconfigurations/internal). Its sections:

- ``types``: type → field → reference. A reference is a scalar (``string``, ``bytes``, ``bool``, ``int32``, ``int64``,
  ``float64``, ``quantity``, ``intstr``, ``time``, ``microtime``, ``duration``, ``any``) or a type, behind ``[]``
  (atomic list), ``[set]``, ``[key,key]`` (list keyed by these fields), ``{}`` (map with separate keys) or ``{atomic}``.
  A trailing ``!`` makes the type atomic in this place, ``~`` makes it separate. In front stand flags: ``*`` the field
  is a pointer (a zero value is kept), ``+`` it is written even when empty, ``0`` it is left out when it is a zero
  struct.
- ``atomic``: types that are atomic wherever they stand. ``keyDefaults``: what an absent key field counts as in a keyed
  list. ``patch``: strategic merge strategy and merge key. ``kinds``: ``apiVersion/kind`` → type.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import msgspec

Scalar = Literal["", "string", "numeric", "boolean", "untyped"]
"""What structured merge diff checks of a scalar; "" means that the type is no scalar."""

_SCALARS: Mapping[str, Scalar] = {
    "string": "string",
    "bytes": "string",
    "duration": "string",
    "int": "numeric",
    "int32": "numeric",
    "int64": "numeric",
    "float64": "numeric",
    "bool": "boolean",
    "quantity": "untyped",
    "intstr": "untyped",
    "time": "untyped",
    "microtime": "untyped",
}


class FieldRule(msgspec.Struct, frozen=True):
    """How Go reads and writes one field of a struct: pointer, written when empty, left out when zero."""

    pointer: bool = False
    always: bool = False
    omit_zero: bool = False
    strategy: str = ""
    """Strategic merge strategy: "", "merge", "retainKeys", "merge,retainKeys" or "replace"."""
    merge_key: str = ""


_PLAIN_RULE = FieldRule()


class Atom:
    """One type. A built-in type is a scalar, a list or a map; an untyped one is all three, and the value decides.

    ``name`` is the Go type (``core/v1.PodSpec``) or "". ``codec`` is the scalar as Go reads it ("" for untyped
    scalars). ``keys`` is None for an atomic list, () for a set, else the key fields. ``values`` is the type of
    undeclared keys of a map, or None where none are permitted.
    """

    __slots__ = (
        "_fields",
        "_rules",
        "_types",
        "codec",
        "is_list",
        "is_map",
        "items",
        "key_defaults",
        "keys",
        "map_atomic",
        "name",
        "scalar",
        "values",
    )

    def __init__(
        self,
        *,
        name: str = "",
        scalar: Scalar = "",
        codec: str = "",
        items: Atom | None = None,
        keys: tuple[str, ...] | None = None,
        values: Atom | None = None,
        is_map: bool = False,
        map_atomic: bool = False,
        fields: Mapping[str, Atom] | None = None,
        key_defaults: Mapping[str, Any] | None = None,
        types: _Types | None = None,
    ) -> None:
        self.name = name
        self.scalar = scalar
        self.codec = codec
        self.items = items
        self.is_list = items is not None
        self.keys = keys
        self.values = values
        self.is_map = is_map
        self.map_atomic = map_atomic
        self.key_defaults: Mapping[str, Any] = key_defaults or {}
        self._types = types
        self._fields: Mapping[str, Atom] | None = fields if types is None else None
        self._rules: Mapping[str, FieldRule] | None = None

    @property
    def fields(self) -> Mapping[str, Atom]:
        """Declared fields; empty for plain maps, lists and scalars.

        Built on first use, as types refer to themselves.
        """
        found = self._fields
        if found is None:
            self._load()
            found = self._fields
        return found or {}

    @property
    def rules(self) -> Mapping[str, FieldRule]:
        """How Go reads and writes each declared field; empty for custom kinds, which Go keeps as they are."""
        found = self._rules
        if found is None:
            self._load()
            found = self._rules
        return found or {}

    @property
    def is_struct(self) -> bool:
        """Whether this is a Go struct with known fields."""
        return self._types is not None

    def _load(self) -> None:
        if self._types is None:
            self._fields = self._fields or {}
            self._rules = {}
            return
        self._fields, self._rules = self._types.members(self.name)

    def __repr__(self) -> str:
        kind = self.name or self.codec or self.scalar or ("list" if self.is_list else "map")
        return f"Atom({kind})"


def _untyped(*, atomic: bool) -> Atom:
    """Scalar, list or map, as the value is; lists are atomic, and so is all below ``atomic``."""
    atom = Atom(scalar="untyped", is_map=True, map_atomic=atomic)
    atom.is_list = True
    atom.values = atom
    atom.items = atom if atomic else _UNTYPED_ATOMIC
    return atom


_UNTYPED_ATOMIC = _untyped(atomic=True)
UNTYPED = _untyped(atomic=False)
"""The type of a value of which nothing is declared: maps merge by key, lists are atomic."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The type of one kind. ``typed`` is False where Go has no struct for it (custom kinds)."""

    group: str
    version: str
    kind: str
    root: Atom
    typed: bool = True

    @property
    def api_version(self) -> str:
        """``apps/v1``; ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version


class _Data(msgspec.Struct, frozen=True, rename="camel"):
    atomic: tuple[str, ...]
    key_defaults: dict[str, dict[str, str | int]]
    kinds: dict[str, str]
    patch: dict[str, dict[str, str]]
    types: dict[str, dict[str, str]]


class _Types:
    """The built-in types, each made when first asked for."""

    def __init__(self, data: _Data) -> None:
        self._data = data
        self._atomic = frozenset(data.atomic)
        self._made: dict[str, Atom] = {}

    def kind(self, key: str) -> Atom | None:
        name = self._data.kinds.get(key)
        return None if name is None else self.atom(name)

    def kinds(self) -> Iterator[str]:
        yield from sorted(self._data.kinds)

    def atom(self, ref: str) -> Atom:
        """The type behind a reference without flags."""
        found = self._made.get(ref)
        if found is None:
            found = self._made[ref] = self._make(ref)
        return found

    def members(self, name: str) -> tuple[Mapping[str, Atom], Mapping[str, FieldRule]]:
        """Fields of a struct and how Go treats each."""
        fields: dict[str, Atom] = {}
        rules: dict[str, FieldRule] = {}
        patch = self._data.patch.get(name, {})
        for field, flagged in self._data.types[name].items():
            ref = flagged.lstrip("*+0")
            flags = flagged[: len(flagged) - len(ref)]
            strategy, _, merge_key = patch.get(field, "").partition(":")
            fields[field] = self.atom(ref)
            if flags or strategy:
                rules[field] = FieldRule("*" in flags, "+" in flags, "0" in flags, strategy, merge_key)
            else:
                rules[field] = _PLAIN_RULE
        return fields, rules

    def _make(self, ref: str) -> Atom:
        if ref.startswith("["):
            head, _, rest = ref[1:].partition("]")
            keys = None if not head else () if head == "set" else tuple(head.split(","))
            element = self.atom(rest)
            defaults = self._data.key_defaults.get(element.name, {})
            return Atom(items=element, keys=keys, key_defaults=defaults)
        if ref.startswith("{"):
            head, _, rest = ref[1:].partition("}")
            return Atom(is_map=True, map_atomic=head == "atomic", values=self.atom(rest))
        if ref == "any":
            return UNTYPED
        if ref in _SCALARS:
            return Atom(scalar=_SCALARS[ref], codec=ref)
        name = ref.rstrip("!~")
        atomic = ref.endswith("!") or (name in self._atomic and not ref.endswith("~"))
        return Atom(name=name, is_map=True, map_atomic=atomic, types=self)


@functools.cache
def _builtin_types() -> _Types:
    raw = resources.files(__package__).joinpath("builtin_schema.json").read_bytes()
    return _Types(msgspec.json.decode(raw, type=_Data))


@functools.cache
def builtin(group: str, version: str, kind: str) -> Schema | None:
    """The type of a built-in kind, or None when Kubernetes 1.36 has no such kind in its stable groups."""
    root = _builtin_types().kind(f"{group}/{version}/{kind}" if group else f"{version}/{kind}")
    return None if root is None else Schema(group, version, kind, root)


def builtin_kinds() -> tuple[str, ...]:
    """``apiVersion/kind`` of every built-in kind that ``builtin`` knows, sorted."""
    return tuple(_builtin_types().kinds())


def object_meta() -> Atom:
    """The type of ``metadata``, which custom kinds share."""
    return _builtin_types().atom("meta/v1.ObjectMeta")
