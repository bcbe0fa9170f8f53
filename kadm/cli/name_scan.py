"""The names in a fleet's files, found by looking at lines: a shell asks at every key, and a YAML library takes longer
to import than all of this.

It knows the shapes that people write, and misses others (names behind anchors, documents of kind List): nothing but
completion may rely on it. What a file holds is kept in the user's cache until the file changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_FORMAT = 1
_SUFFIXES = (".yaml", ".yml", ".json")
_MARKS = "*?["
_KIND = re.compile(r"""^kind:[ \t]*["']?([A-Za-z0-9]+)""", re.MULTILINE)
_METADATA = re.compile(r"^metadata:[ \t]*(.*)\n?((?:[ \t]+.*\n?|[ \t]*\n|#.*\n)*)", re.MULTILINE)
_NESTED = re.compile(r"\{[^{}]*\}")
_VALUE = r"""[ \t]*["']?([^\s"',{}\]#]+)"""


class Name(NamedTuple):
    """What a document is called; ``namespace`` is empty where it does not say it."""

    kind: str
    namespace: str
    name: str


class _Known(NamedTuple):
    """What a file held when it was modified at this time (ns) and had this size."""

    modified: int
    size: int
    names: tuple[Name, ...]


class FleetNames(NamedTuple):
    """The names of a fleet, in the order of their files."""

    manifests: tuple[Name, ...] = ()
    policies: tuple[Name, ...] = ()
    clusters: tuple[Name, ...] = ()


def fleet_names(directory: Path) -> FleetNames:
    """What the fleet in ``directory`` holds; nothing where there is no kadm.yaml."""
    try:
        fleet = (directory / "kadm.yaml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return FleetNames()
    scan = _Scan(directory)
    clusters = scan.names(entries(fleet, "clusters"))
    policies = scan.names(entries(fleet, "policies"))
    others = {*clusters, *policies}
    manifests = tuple(one for one in scan.names(entries(fleet, "manifests")) if one not in others)
    scan.save()
    return FleetNames(manifests, policies, clusters)


def entries(fleet: str, field: str) -> list[str]:
    """The paths under ``spec.<field>`` of kadm.yaml; the field's own name where it is not written."""
    flow = re.search(rf"""(?<![\w.]){field}:[ \t]*\[([^\]]*)\]""", fleet)
    if flow is not None:
        return _paths(_NESTED.sub(lambda found: _path_of(found[0]), flow[1]).split(","))
    block = re.search(
        rf"^([ \t]*){field}:[ \t]*(?:#.*)?\n((?:\1[ \t]*(?:-|[ \t]|#).*\n?|[ \t]*\n)+)", fleet, re.MULTILINE
    )
    if block is None:
        return [field]
    items = re.split(r"^[ \t]*-[ \t]+", block[2], flags=re.MULTILINE)[1:]
    return _paths(_path_of(item) if re.search(r"(?<!\w)path:", item) else item.split("\n")[0] for item in items)


def _path_of(mapping: str) -> str:
    found = re.search(rf"(?<!\w)path:{_VALUE}", mapping)
    return found[1] if found else ""


def _paths(texts: Iterable[str]) -> list[str]:
    return [path for text in texts if (path := text.partition(" #")[0].strip().strip("\"'"))]


def names_in(text: str, *, json_file: bool = False) -> list[Name]:
    """The names of the documents in the text of one file."""
    if json_file:
        return list(_json_names(text))
    found = []
    for document in re.split(r"^---.*$", text, flags=re.MULTILINE):
        kind, metadata = _KIND.search(document), _METADATA.search(document)
        if kind is None or metadata is None:
            continue
        fields = _flow(metadata[1]) if metadata[1].startswith("{") else _block(metadata[2])
        if name := _field(fields, "name"):
            found.append(Name(kind[1], _field(fields, "namespace"), name))
    return found


def _flow(text: str) -> str:
    """``{name: a, labels: {…}}`` as lines, without what is nested."""
    return "\n".join(part.strip() for part in _NESTED.sub("", text[1:]).split(","))


def _block(text: str) -> str:
    """The lines of a block that stand as far to the left as its first one, without their indentation."""
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        return ""
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines if not line[indent : indent + 1].isspace())


def _field(lines: str, field: str) -> str:
    found = re.search(rf"^{field}:{_VALUE}", lines, re.MULTILINE)
    return found[1] if found else ""


def _json_names(text: str) -> Iterator[Name]:
    try:
        document = json.loads(text)
    except ValueError:
        return
    pending = [document]
    while pending:
        one = pending.pop(0)
        if isinstance(one, list):
            pending += one
        elif isinstance(one, dict) and isinstance(one.get("items"), list):
            pending += one["items"]
        elif isinstance(one, dict) and isinstance(one.get("metadata"), dict) and one["metadata"].get("name"):
            metadata = one["metadata"]
            yield Name(str(one.get("kind") or ""), str(metadata.get("namespace") or ""), str(metadata["name"]))


class _Scan:
    """One look at a fleet's files; those that are as they were at the last one are not read."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        digest = hashlib.blake2b(str(directory.absolute()).encode(), digest_size=8).hexdigest()
        self._cache = home / "kadm" / "names" / f"{digest}.json"
        self._before = self._read_cache()
        self._now: dict[str, _Known] = {}

    def names(self, paths: Iterable[str]) -> tuple[Name, ...]:
        """The names in all files of these entries of kadm.yaml."""
        files = dict.fromkeys(file for path in paths for file in self._files(path))
        return tuple(name for file in files for name in self._names(file))

    def save(self) -> None:
        """Keep what was found for the next key."""
        if self._now == self._before:
            return
        with contextlib.suppress(OSError):  # without a cache it is slower, and nothing else
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._cache.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps([_FORMAT, self._now]), encoding="utf-8")
            fresh.replace(self._cache)

    def _files(self, path: str) -> list[str]:
        if any(mark in path for mark in _MARKS):
            try:
                return sorted(file for found in self._directory.glob(path) for file in _below(found))
            except (ValueError, NotImplementedError, OSError):  # what pathlib takes for no pattern
                return []
        return _below(self._directory / path)

    def _names(self, file: str) -> tuple[Name, ...]:
        try:
            status = os.stat(file)  # noqa: PTH116  # a text is at hand, for thousands of files
            if file not in self._now:
                self._now[file] = self._known(file, status.st_mtime_ns, status.st_size)
        except OSError:
            return ()
        return self._now[file].names

    def _known(self, file: str, modified: int, size: int) -> _Known:
        known = self._before.get(file)
        if known is not None and (known.modified, known.size) == (modified, size):
            return known
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        return _Known(modified, size, tuple(names_in(text, json_file=file.endswith(".json"))))

    def _read_cache(self) -> dict[str, _Known]:
        try:
            form, files = json.loads(self._cache.read_text(encoding="utf-8"))
            if form != _FORMAT:
                return {}
            return {
                file: _Known(modified, size, tuple(Name(*name) for name in names))
                for file, (modified, size, names) in files.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):  # none there, or none of ours
            return {}


def _below(path: Path) -> list[str]:
    """The file, or all files of a directory that may hold documents, sorted."""
    if path.is_file():
        return [str(path)]
    return sorted(
        f"{folder}{os.sep}{name}" for folder, _, names in os.walk(path) for name in names if name.endswith(_SUFFIXES)
    )
