"""The plain JSON value of one YAML document, put together from libyaml's events.

One loop with a stack of its own: neither depth nor size of a hostile text reaches Python's recursion. Its hot path is a
plain scalar seen before, so everything else is moved out of the way, into methods.
"""

from __future__ import annotations

import re
from typing import Any, Final

from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kadm.model.objects import JsonObject, JsonValue
from kadm.repo.findings import MAX_COST, Findings, StopDocument
from kadm.repo.scalars import (
    ScalarError,
    ScalarValue,
    json_scalar,
    key_scalar,
    plain_scalar,
    reads_as_written,
    tagged_scalar,
)
from kadm.repo.source import Source

Node = Any
"""A NodeEvent; the stubs make marks and fields optional that libyaml always sets."""

MAX_DEPTH: Final = 250
"""Levels of nesting. Real manifests need below 60; Python's own recursion in json and msgspec ends at 1000."""

MERGE_TAG: Final = "tag:yaml.org,2002:merge"

_ESCAPE = re.compile(r"\\.", re.DOTALL)
_SCALAR_COST = 48
_COLLECTION_COST = 160

_MISSING: Any = object()
_NO_KEY: Any = object()
_OPEN: Any = object()


def is_merge(event: Node) -> bool:
    """Whether this key merges other mappings into its own; a quoted ``<<`` is a key like any other."""
    return bool(event.value == "<<" and (event.implicit[0] or event.tag == MERGE_TAG))


def scalar_value(event: Node, source: Source) -> ScalarValue:
    """The value of a scalar, before JSON's limits on numbers. Raises ScalarError where it contradicts its tag."""
    text: str = event.value
    if source.escapes_slash and event.style == '"':
        escapes = _ESCAPE.findall(source.between(event.start_mark, event.end_mark))
        if "\\/" in escapes:
            raise ScalarError("`\\/` is an escape of JSON only; kubectl refuses it in YAML")
    if event.tag is not None:
        return tagged_scalar(event.tag, text)
    return plain_scalar(text) if event.implicit[0] else text


class Composer:
    """Composes the documents of one file; ``compose`` is called once for each."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        # Plain scalars and keys repeat much; equal text is one object then, and is looked at once.
        self._values: dict[str, JsonValue] = {}
        self._keys: dict[str, str] = {}
        self.duplicates = False
        """Whether the last document holds a key twice; ``Positions`` says which, and where."""
        self.faults = False
        """Whether the last value lacks something because of a finding."""
        self.end: int | None = None
        """The character behind the end marker (``...``) of the last document, None where it has none."""

    def compose(self, parser: CParser, source: Source) -> JsonValue:
        """The value of the document whose start ``parser`` has just passed; its end is consumed.

        Faults that leave the rest readable are listed and set ``faults``. Raises StopDocument or StopFile for others,
        and the parser's own errors.
        """
        self.duplicates = self.faults = False
        next_event = parser.get_event
        values, names = self._values, self._keys
        budget = MAX_COST - self._findings.cost
        cost = 0
        # name → value, the value of a scalar before JSON's limits, cost of repeating it
        anchors: dict[str, tuple[Any, Any, int]] = {}
        open_anchors: list[tuple[int, str, int]] = []
        stack: list[tuple[Any, Any, set[str] | None]] = []
        # The container being filled; the key that waits for a value, _NO_KEY where one must come, None in a list; and
        # the keys a mapping wrote itself, None while it merges nothing.
        container: Any = []
        key: Any = None
        own: set[str] | None = None
        root = container
        # The depth at which a list in brackets or mapping in braces began, 0 outside of all.
        flow = 0

        while True:
            event: Node = next_event()
            kind = event.__class__
            by_alias = False
            if kind is ScalarEvent:
                text = event.value
                cost += _SCALAR_COST + len(text)
                if key is _NO_KEY:
                    key = names.get(text) if event.implicit[0] and event.anchor is None else None
                    if key is None:
                        if event.anchor is not None:
                            anchors[event.anchor] = (*self._value(event, source, quiet=True), _SCALAR_COST + len(text))
                        key = self._key(event, source, in_flow=flow > 0)
                    if key in (container if own is None else own):
                        self.duplicates = True
                    elif own is not None and key.__class__ is not _Merge:
                        own.add(key)
                    continue
                value = values.get(text, _MISSING) if event.implicit[0] else _MISSING
                if value is _MISSING or (event.tag is not None and value.__class__ is not str):  # ``! 1`` is text
                    value, raw = self._value(event, source, in_flow=flow > 0)
                else:
                    raw = value
                if event.anchor is not None:
                    anchors[event.anchor] = (value, raw, _SCALAR_COST + len(text))
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                if open_anchors and open_anchors[-1][0] == len(stack):
                    _, anchor, before = open_anchors.pop()
                    if anchors[anchor][0] is container:  # else a node inside took the name over
                        anchors[anchor] = (container, _MISSING, cost - before)
                value = container
                container, key, own = stack.pop()
                if len(stack) < flow:
                    flow = 0
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if key is _NO_KEY:
                    raise self._stop(event, source, "a list or mapping cannot be a key")
                if len(stack) >= MAX_DEPTH:
                    raise self._stop(event, source, f"nested deeper than {MAX_DEPTH} levels")
                stack.append((container, key, own))
                if event.flow_style and not flow:
                    flow = len(stack)
                container, key, own = ({}, _NO_KEY, None) if kind is MappingStartEvent else ([], None, None)
                if event.anchor is not None:
                    anchors[event.anchor] = (container, _OPEN, 0)
                    open_anchors.append((len(stack), event.anchor, cost))
                cost += _COLLECTION_COST
                continue
            elif kind is AliasEvent:
                anchored = anchors.get(event.anchor)
                if anchored is None:
                    raise self._stop(event, source, "nothing that this alias names stands before it")
                value, raw, repeated = anchored
                if raw is _OPEN:
                    raise self._stop(event, source, "the alias stands inside of what it repeats")
                cost += repeated
                if key is _NO_KEY:
                    if raw is _MISSING:
                        raise self._stop(event, source, "a list or mapping cannot be a key")
                    key = self._named(raw, event, source)
                    if key in (container if own is None else own):
                        self.duplicates = True
                    elif own is not None:
                        own.add(key)
                    continue
                by_alias = True
            else:
                assert kind is DocumentEndEvent
                self.end = event.end_mark.index if event.explicit else None
                break

            if cost > budget:
                break
            if key is None:
                container.append(value)
            elif key.__class__ is not _Merge:
                container[key] = value
                key = _NO_KEY
            else:
                if own is None:
                    own = set(container)
                self._merge(value, container, own, key.event, source, by_alias=by_alias)
                key = _NO_KEY

        self._findings.pay(cost, source.at_mark(event.start_mark))
        return root[0]

    def _value(
        self, event: Node, source: Source, *, in_flow: bool = False, quiet: bool = False
    ) -> tuple[JsonValue, ScalarValue]:
        """The JSON value of a scalar, and its value before JSON's limits."""
        try:
            raw = scalar_value(event, source)
            value = json_scalar(raw)
        except ScalarError as fault:
            if not quiet:
                self._fault(event, source, str(fault))
            return None, None
        if event.tag is not None or not event.implicit[0]:
            return value, raw
        text: str = event.value
        if "?" in text:
            if in_flow:
                self._refuse_question_mark(event, source)
        elif isinstance(raw, str) or reads_as_written(text):
            return self._values.setdefault(text, value), raw
        elif not quiet:
            what = "a plain value of a Secret is read as no text"
            if not source.may_hold_secrets:
                what = f"`{text}` is read as {_shown(value)}"
            self._surprise(event, source, what, "put it in quotes if it means text")
        return value, raw

    def _key(self, event: Node, source: Source, *, in_flow: bool) -> Any:
        """The key that a scalar means, or a _Merge."""
        if is_merge(event):
            return _Merge(event)
        text: str = event.value
        try:
            raw = scalar_value(event, source)
        except ScalarError as fault:
            self._fault(event, source, str(fault))
            return _Unreadable(text)
        name = self._named(raw, event, source)
        if event.tag is None and event.implicit[0]:
            if "?" in text:
                if in_flow:
                    self._refuse_question_mark(event, source)
            elif name == text:
                return self._keys.setdefault(text, name)
            elif not isinstance(name, _Unreadable):
                self._surprise(event, source, f'the key `{text}` is read as "{name}"', "put the key in quotes")
        return name

    def _named(self, raw: ScalarValue, event: Node, source: Source) -> str:
        try:
            return key_scalar(raw)
        except ScalarError as fault:
            self._fault(event, source, str(fault), hint="put the key in quotes")
            return _Unreadable(str(raw))

    def _merge(
        self,
        value: JsonValue,
        container: JsonObject,
        own: set[str],
        event: Node,
        source: Source,
        *,
        by_alias: bool,
    ) -> None:
        """Merges into ``container`` what ``<<`` names; of several mappings the first that holds a key gives it."""
        merged = value if isinstance(value, list) and not by_alias else [value]
        if not all(isinstance(mapping, dict) for mapping in merged):
            self._fault(event, source, "`<<` merges a mapping or a list of mappings, and this is neither")
            return
        replaced = sorted({name for mapping in merged for name in mapping if name in own})
        for mapping in reversed(merged):
            container.update(mapping)
        if replaced:
            what = f"the merge replaces the key `{replaced[0]}`, which stands before it"
            self._surprise(event, source, what, "write `<<` first in its mapping; kubectl lets what stands later win")

    def _refuse_question_mark(self, event: Node, source: Source) -> None:
        text: str = event.value
        if not event.style and "?" in text[1:]:
            self._fault(event, source, "kubectl refuses a `?` within braces or brackets", hint="put the text in quotes")

    def _fault(self, event: Node, source: Source, what: str, *, hint: str = "") -> None:
        self.faults = True
        self._findings.add(source.at_mark(event.start_mark), what, hint=hint)

    def _surprise(self, event: Node, source: Source, what: str, hint: str) -> None:
        self._findings.add(source.at_mark(event.start_mark), what, hint=hint, severity="warning")

    def _stop(self, event: Node, source: Source, what: str) -> StopDocument:
        return self._findings.stop_document(source.at_mark(event.start_mark), what)


class _Merge:
    """Stands for the key ``<<``, written at ``event``."""

    __slots__ = ("event",)

    def __init__(self, event: Node) -> None:
        self.event = event


class _Unreadable(str):
    """Stands for a key that has no reading, and equals nothing else, so that it is no duplicate."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def _shown(value: JsonValue) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
