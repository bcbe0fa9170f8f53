"""Workloads as native objects with their aggregated ``.status``, one file each, for whatever reads Kubernetes objects.

DIRECTORY/NAMESPACE/KIND.GROUP/NAME.json      ``_`` for what has no namespace; ``KIND`` alone for the core group
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from kadm.model.objects import JsonObject, ObjectKey
from kadm.watch.store import write_whole


class StatusFiles:
    """Keeps a directory as the workloads are. Blocks: to be called in a thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._written: dict[ObjectKey, int] = {}

    @property
    def known(self) -> frozenset[ObjectKey]:
        """The objects that were written."""
        return frozenset(self._written)

    def write(self, objects: Mapping[ObjectKey, JsonObject]) -> None:
        """Write these objects where they differ from what was written last. Raises OSError."""
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

    def path(self, key: ObjectKey) -> Path:
        """Where an object's file is."""
        kind = f"{key.kind}.{key.group}" if key.group else key.kind
        return self._directory / (key.namespace or "_") / kind / f"{key.name}.json"
