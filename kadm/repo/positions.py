"""Where each key and value of a document stands in its file.

Positions are wanted for what is wrong or asked about, which is little of a repository. So reading a document keeps its
text only, and the first question about a place reads the text again, into the tree of nodes below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from kadm.errors import Location
from kadm.model.objects import Path
from kadm.repo.compose import is_merge, scalar_value
from kadm.repo.scalars import ScalarError, key_scalar
from kadm.repo.source import Source


@dataclass(slots=True)
class Node:
    """A value as written, at ``line`` and ``column`` from 0. A scalar has neither ``items`` nor ``entries``."""

    line: int
    column: int
    key: str | None = None
    """What a scalar means as a key, None for what cannot be one."""
    items: list[Node] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class Entry:
    """One key of a mapping as written; ``merges`` marks a ``<<``."""

    key: Node
    value: Node
    merges: bool


class Positions:
    """The places of one document that reads without an error other than a duplicate key.

    ``depth`` of the text is bounded by whoever read it, so that walking it by recursion is safe.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parser = CParser(source.text)
        self._anchors: dict[str, Node] = {}
        self._duplicates: list[tuple[str, Location, Location]] = []
        self._root = next(self._node(event) for event in self._until(StreamEndEvent) if isinstance(event, NodeEvent))

    @property
    def duplicates(self) -> list[tuple[str, Location, Location]]:
        """Each key that stands twice in one mapping: the key, its first and its later place, in order of the latter."""
        return sorted(self._duplicates, key=lambda found: found[2])

    def locate(self, path: Path, *, key: bool) -> Location:
        """The place of the value at ``path``, or of its key, or of the nearest value around it that is written."""
        node, place = self._root, self._root
        for step in path:
            entry = _entry(node, step) if isinstance(step, str) else None
            if entry is not None:
                node, place = entry.value, entry.key if key else entry.value
            elif isinstance(step, int) and 0 <= step < len(node.items):
                node = place = node.items[step]
            else:
                place = node
                break
        return self._at(place)

    def _at(self, node: Node) -> Location:
        return self._source.at(node.line, node.column)

    def _node(self, event: Any) -> Node:
        if isinstance(event, AliasEvent):
            return self._anchors[str(event.anchor)]
        node = Node(event.start_mark.line, event.start_mark.column)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if isinstance(event, ScalarEvent):
            node.key = _key_text(event, self._source)
        elif isinstance(event, SequenceStartEvent):
            node.items = [self._node(event) for event in self._until(SequenceEndEvent)]
        elif isinstance(event, MappingStartEvent):
            self._read_entries(node)
        return node

    def _read_entries(self, node: Node) -> None:
        first: dict[str, Node] = {}
        for event in self._until(MappingEndEvent):
            mark = event.start_mark
            merges = isinstance(event, ScalarEvent) and is_merge(event)
            # A key that is an alias stands where the alias stands, not where its anchor does.
            key = Node(mark.line, mark.column, self._node(event).key)
            if not merges and key.key is not None:
                if key.key in first:
                    self._duplicates.append((key.key, self._at(first[key.key]), self._at(key)))
                first.setdefault(key.key, key)
            node.entries.append(Entry(key, self._node(self._parser.get_event()), merges))

    def _until(self, end: type[Event]) -> Iterator[Any]:
        while not isinstance(event := self._parser.get_event(), end):
            yield event


def _entry(node: Node, key: str) -> Entry | None:
    """The entry that gives ``key`` its value: the last one written, a merge counting where it stands."""
    for entry in reversed(node.entries):
        if entry.merges:
            for merged in entry.value.items or [entry.value]:
                if found := _entry(merged, key):
                    return found
        elif entry.key.key == key:
            return entry
    return None


def _key_text(event: ScalarEvent, source: Source) -> str | None:
    try:
        return key_scalar(scalar_value(event, source))
    except ScalarError:
        return None
