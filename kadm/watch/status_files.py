"""Workloads as native objects with their aggregated ``.status``, one file each, for whatever reads Kubernetes objects.

DIRECTORY/NAMESPACE/KIND.GROUP/NAME.json      ``_`` for what has no namespace; ``KIND`` alone for the core group
DIRECTORY/.written.json                       which of them are kadm's, so that a later run can take them away
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from kadm.model.objects import JsonObject, ObjectKey
from kadm.watch.store import write_whole

INDEX = ".written.json"


class StatusFiles:
    """Keeps a directory as the workloads are. Blocks: to be called in a thread."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._written: dict[ObjectKey, int] = {}
        self._known: frozenset[ObjectKey] | None = None

    @property
    def known(self) -> frozenset[ObjectKey]:
        """The objects that were written, by this run or an earlier one."""
        if self._known is None:
            try:
                self._known = msgspec.json.decode((self.directory / INDEX).read_bytes(), type=frozenset[ObjectKey])
            except (OSError, msgspec.DecodeError):
                self._known = frozenset()  # whatever is there is left alone
        return self._known

    def write(self, objects: Mapping[ObjectKey, JsonObject]) -> None:
        """Write these objects where they differ from what was written last. Raises OSError."""
        self._note(self.known | objects.keys())
        for key, obj in objects.items():
            content = msgspec.json.format(msgspec.json.encode(obj, order="sorted"), indent=2) + b"\n"
            mark = hash(content)
            if self._written.get(key) != mark:
                path = self.path(key)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
                self._written[key] = mark

    def remove(self, key: ObjectKey) -> None:
        """Take away the file of an object that is not in the repository any more. Raises OSError."""
        self._written.pop(key, None)
        self.path(key).unlink(missing_ok=True)
        self._note(self.known - {key})

    def _note(self, known: frozenset[ObjectKey]) -> None:
        if known != self.known:
            self.directory.mkdir(parents=True, exist_ok=True)
            write_whole(self.directory / INDEX, msgspec.json.encode(sorted(known)))
            self._known = known

    def path(self, key: ObjectKey) -> Path:
        """Where an object's file is."""
        kind = f"{key.kind}.{key.group}" if key.group else key.kind
        return self.directory / (key.namespace or "_") / kind / f"{key.name}.json"
