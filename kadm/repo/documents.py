"""Every YAML and JSON file that kadm reads, as the plain JSON values that kubectl would make of it.

libyaml parses (kubectl's Go parser was made from it), and ``compose.py`` puts its events together under the rules of
``scalars.py``. What kadm refuses although kubectl reads it, because kubectl's reading loses what is written: duplicate
keys (two spellings of one key included), text after a document's end, UTF-16, bytes that are no UTF-8, binary data that
is no text. Nesting, size, and what aliases repeat are bounded, so that no file costs more than seconds and some hundred
megabytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

import yaml
from yaml._yaml import CParser

from kadm.errors import Location, Problem
from kadm.model.objects import JsonObject, JsonValue, Path, at
from kadm.repo.compose import MAX_DEPTH, Composer
from kadm.repo.findings import Findings, StopDocument, StopFile
from kadm.repo.positions import Positions
from kadm.repo.scalars import ScalarError, json_scalar
from kadm.repo.source import Source
from kadm.repo.templates import with_template_hints
from kadm.repo.yaml_faults import syntax_problem

MAX_BYTES: Final = 32 * 2**20
"""Larger files are refused unread. An object of an API server has 1.5 MiB at most."""

_SEPARATOR_COST = 64
_DOCUMENT_COST = 1024

# Possessive quantifiers: a pattern that can go back remembers every step, gigabytes of them for a file of line breaks.
_SEPARATOR = re.compile(rb"^---([^\n]*+)(?:\n|\Z)", re.MULTILINE)
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r\n]++|#[^\n]*+)*+\Z")
_DIRECTIVE = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r\n]++|#[^\n]*+\n)*+(?<![ \t])(%)")
_DIRECTIVE_INSIDE = re.compile(rb"^(%)(?:TAG|YAML)[ \t]", re.MULTILINE)
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+\{")
_JSON_SPACE = re.compile(r"[ \t\r\n]*+")
_JSON_MAX_BYTES = 8 * 2**20


class Document:
    """One object as read, with its places. ``value`` is never changed by its readers; aliases share parts of it."""

    def __init__(self, value: JsonObject, source: Source, location: Location) -> None:
        self.value = value
        self.location = location
        self.source = source

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """The place of the value at ``path``, or of its key; where none is written, of the nearest value around."""
        return self._positions.locate(path, key=key) if self._positions else self.location

    def part(self, path: Path) -> Document:
        """The object at ``path`` as a document of its own; its places stay those in the file."""
        return _Part(self, path)

    @cached_property
    def _positions(self) -> Positions | None:
        try:
            return Positions(self.source)
        except yaml.YAMLError:  # JSON that is no YAML, as with a character escaped in two halves
            return None


class _Part(Document):
    def __init__(self, whole: Document, path: Path) -> None:
        super().__init__(at(whole.value, path), whole.source, whole.locate(path))
        self._whole = whole
        self._path = path

    def locate(self, path: Path, *, key: bool = False) -> Location:
        return self._whole.locate((*self._path, *path), key=key)


class YamlFile:
    """All that one file holds: its ``documents`` in order, empty ones left out, and the ``problems`` found in it.

    With an error among the problems the documents are those that could be read.
    """

    def __init__(self, documents: tuple[Document, ...], problems: tuple[Problem, ...]) -> None:
        self.documents = documents
        self.problems = problems


def read_documents(data: bytes, path: str) -> YamlFile:
    """Every document of a file with content ``data``. ``path`` is what messages call the file."""
    reader = _Reader(path)
    with suppress(StopFile):  # what stopped it is among the findings
        reader.read(data)
    return YamlFile(tuple(reader.documents), with_template_hints(reader.findings.problems, data))


class _Reader:
    """Reads one file."""

    def __init__(self, path: str) -> None:
        self.documents: list[Document] = []
        self.findings = Findings(path)
        self._path = path
        self._composer = Composer(self.findings)

    def read(self, data: bytes) -> None:
        self._check_encoding(data)
        for source in self._sources(data):
            if _BLANK.match(source.text):
                continue
            self.findings.pay(_DOCUMENT_COST, source.start)
            documents = self._json_documents(source)
            if documents is None:
                self._read_yaml(source)
            else:
                self.documents += documents

    def _check_encoding(self, data: bytes) -> None:
        start = Location(self._path)
        if len(data) > MAX_BYTES:
            what = f"the file has {len(data):,} bytes, and kadm reads {MAX_BYTES:,} at most"
            raise self.findings.stop_file(start, what, hint="split it")
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise self.findings.stop_file(start, "the file is written in UTF-16", hint="save it as UTF-8")
        try:
            data.decode()
        except UnicodeDecodeError as fault:
            where = Source(self._path, data).at_byte(fault.start)
            what = f"no UTF-8 text: byte 0x{data[fault.start]:02x}"
            raise self.findings.stop_file(where, what, hint="save the file as UTF-8") from None

    def _sources(self, data: bytes) -> Iterator[Source]:
        """The texts between separators. A line that begins with ``---`` is one wherever it stands, as for kubectl."""
        begin = line = 0
        for match in _SEPARATOR.finditer(data):
            if match.start() > begin:
                yield Source(self._path, data[begin : match.start()], line=line)
                line += data.count(b"\n", begin, match.start())
            self.findings.pay(_SEPARATOR_COST, Location(self._path, line + 1))
            rest = match[1].strip()
            if rest and not rest.startswith(b"#"):
                what = "text stands behind `---`, on the line that separates documents"
                self.findings.add(Location(self._path, line + 1, 4), what, hint="begin it on the next line")
            begin = match.end()
            line += 1
        yield Source(self._path, data[begin:], line=line)

    def _json_documents(self, source: Source) -> list[Document] | None:
        """The objects of a JSON text, which may follow each other; None for what is no JSON, or faulty JSON."""
        if not _JSON_START.match(source.text) or len(source.text) > _JSON_MAX_BYTES:
            return None
        text = source.text.decode().removeprefix("\ufeff")
        documents: list[Document] = []
        place = source
        begin = end = 0
        try:
            while True:
                begin = _skip_space(text, end)
                place = _moved(place, text[end:begin])
                if begin == len(text):
                    return documents
                value, end = _JSON.raw_decode(text, begin)
                part = text[begin:end]
                if not isinstance(value, dict) or _deeper(value, MAX_DEPTH):
                    return None
                if "\\u" in part:
                    json.dumps(value, ensure_ascii=False).encode()  # raises for half of an escaped pair
                self.findings.pay(_DOCUMENT_COST, place.start)
                written = Source(source.path, part.encode(), line=place.line, column=place.column)
                documents.append(Document(value, written, written.start))
                place = _moved(place, part)
        except ScalarError as fault:
            self.findings.add(place.start, f"no valid JSON: {fault}")
            return documents
        except (ValueError, RecursionError):  # the YAML reader knows better what is wrong with it, and where
            return None

    def _read_yaml(self, source: Source) -> None:
        directive = _DIRECTIVE.match(source.text) or _DIRECTIVE_INSIDE.search(source.text)
        if directive:
            where = source.at_byte(directive.start(1))
            self.findings.add(where, "a YAML directive (`%`), which kubectl refuses", hint="remove the line")
            return
        try:
            parser = CParser(source.text)
            parser.get_event()
            start: Any = parser.get_event()
            value = self._composer.compose(parser, source)
            self._check_end(parser, source)
        except yaml.YAMLError as fault:
            self.findings.put(syntax_problem(fault, source))
            return
        except StopDocument:
            return
        if self._composer.duplicates:
            for name, first, later in Positions(source).duplicates:
                why = f"it stands first at {first.line}:{first.column}"
                self.findings.add(later, f"the key `{name[:60]}` is there twice", why=why, hint="remove one of them")
        where = source.at_mark(start.start_mark)
        if value is None or self._composer.faults or self._composer.duplicates:
            return
        if isinstance(value, dict):
            self.documents.append(Document(value, source, where))
        else:
            kind = "a list" if isinstance(value, list) else "a plain value"
            self.findings.add(where, f"a document must be an object, and this is {kind}", hint="check the indentation")

    def _check_end(self, parser: CParser, source: Source) -> None:
        """Refuses what follows the end of a document without a separator: kubectl would drop it without a word."""
        end = self._composer.end
        if end is None:
            parser.get_event()  # raises where the text goes on
            return
        text = source.text.decode().removeprefix("\ufeff")
        if not _BLANK.match(text[end:].encode()):
            begin = end + len(text[end:]) - len(text[end:].lstrip())
            where = source.at_byte(len(text[:begin].encode()))
            what = "text follows the document's end (`...`), and kubectl would leave it out"
            self.findings.add(where, what, hint="begin the next document with `---`")


def _skip_space(text: str, begin: int) -> int:
    match = _JSON_SPACE.match(text, begin)
    return match.end() if match else begin


def _moved(place: Source, passed: str) -> Source:
    """The place behind the text ``passed``."""
    lines = passed.count("\n")
    column = len(passed) - passed.rfind("\n") - 1 if lines else place.column + len(passed)
    return Source(place.path, b"", line=place.line + lines, column=column)


def _deeper(value: JsonValue, levels: int) -> bool:
    """Whether ``value`` nests deeper than ``levels``."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not layer:
            return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _json_float(text: str) -> JsonValue:
    return json_scalar(float(text))


def _json_integer(text: str) -> JsonValue:
    return json_scalar(int(text) if len(text) < 30 else float(text))


def _no_constant(text: str) -> JsonValue:
    raise ValueError(f"JSON has no {text}")


_JSON = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_json_float, parse_int=_json_integer, parse_constant=_no_constant
)
