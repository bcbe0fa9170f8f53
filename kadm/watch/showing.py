"""What is shown: a view of each workload, made anew when something about it changed, and files where asked for.

Many changes cost one snapshot, and a workload about which nothing changed keeps its view.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.repository import Manifest
from kadm.model.workload import workload_kind
from kadm.watch.state import WorkloadView
from kadm.watch.status_files import StatusFiles
from kadm.watch.trail import time_text
from kadm.watch.views import Known, view

PUBLISH_EVERY_S = 0.1
TICK_S = 1.0
SHOW_AGE_EVERY_S = 10.0
VIEWS_AT_A_TIME = 100
"""So many are made before others get their turn."""


class Showing:
    """The views of all workloads.

    ``known`` gives what is known of one, ``publish`` shows a new snapshot. ``told`` hears of a directory why it cannot
    be written, and (empty) that it can again.
    """

    def __init__(
        self,
        known: Callable[[ObjectKey], Known],
        publish: Callable[[], None],
        *,
        directory: Path | None,
        told: Callable[[str, str], None],
    ) -> None:
        self.views: dict[ObjectKey, WorkloadView] = {}
        self._known = known
        self._publish = publish
        self._files = StatusFiles(directory) if directory is not None else None
        self._told = told
        self._unwritten: dict[ObjectKey, JsonObject] = {}
        self._why = ""
        self._manifests: Mapping[ObjectKey, Manifest] = {}
        self._in_force = False
        self._dirty: set[ObjectKey] = set()
        self._changed = asyncio.Event()

    def use(self, manifests: Mapping[ObjectKey, Manifest]) -> None:
        """Show the workloads among these (sorted) from now on, and nothing else."""
        self._in_force = True
        self._manifests = {key: one for key, one in manifests.items() if workload_kind(key.group, key.kind) is not None}
        self.views = {key: shown for key, shown in self.views.items() if key in self._manifests}
        self.all()

    @property
    def ordered(self) -> tuple[WorkloadView, ...]:
        """The views, sorted by key."""
        return tuple(self.views[key] for key in self._manifests if key in self.views)

    def shows(self, key: ObjectKey) -> bool:
        """Whether the object is one of those workloads."""
        return key in self._manifests

    def some(self, keys: Collection[ObjectKey]) -> None:
        """Something about these workloads changed."""
        self._dirty.update(keys)
        self._changed.set()

    def all(self) -> None:
        """Something about all workloads may have changed."""
        self._dirty |= self._manifests.keys()
        self._changed.set()

    def rest(self) -> None:
        """Something else changed, and no workload."""
        self._changed.set()

    def native(self, key: ObjectKey) -> JsonObject | None:
        """A workload as a native object with its aggregated status; None where there is none."""
        manifest = self._manifests.get(key)
        return view(manifest, self._known(key), now=_now_text())[1].aggregated if manifest is not None else None

    async def run(self, tick: Callable[[], None]) -> None:
        """Show what changed soon after it changed, and from time to time how old everything is. ``tick`` is called
        about once a second. Ends by cancellation alone."""
        loop = asyncio.get_running_loop()
        shown_s = loop.time()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._changed.wait()
            tick()
            if self._changed.is_set() or loop.time() - shown_s >= SHOW_AGE_EVERY_S:
                self._changed.clear()
                await self._renew()
                self._publish()
                shown_s = loop.time()
            await asyncio.sleep(PUBLISH_EVERY_S)

    async def _renew(self) -> None:
        """Make the views of what changed anew, and write their files."""
        dirty, self._dirty = sorted(self._dirty), set()
        now = _now_text()
        natives: dict[ObjectKey, JsonObject] = {}
        for number, key in enumerate(dirty, 1):
            manifest = self._manifests.get(key)
            if manifest is None:
                continue
            shown, status = view(manifest, self._known(key), now=now)
            if shown != self.views.get(key):
                self.views[key] = shown
            if self._files is not None and status.aggregated is not None:
                natives[key] = status.aggregated
            if number % VIEWS_AT_A_TIME == 0:
                await asyncio.sleep(0)
        if self._files is not None and self._in_force:
            await self._write(self._files, self._unwritten | natives)

    async def _write(self, files: StatusFiles, natives: dict[ObjectKey, JsonObject]) -> None:
        """Write these files; those of a directory that cannot be written are kept for the next time."""
        why = await asyncio.to_thread(_write, files, natives, self._manifests)
        self._unwritten = natives if why else {}
        if why != self._why:
            self._why = why
            self._told(str(files.directory), why)


def _write(files: StatusFiles, natives: Mapping[ObjectKey, JsonObject], keep: Collection[ObjectKey]) -> str:
    """Write and remove files; why that cannot be done, in words, empty where it was."""
    natives = {key: native for key, native in natives.items() if key in keep}
    gone: Iterable[ObjectKey] = sorted(key for key in files.known if key not in keep)
    try:
        files.write(natives)
        for key in gone:
            files.remove(key)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _now_text() -> str:
    return time_text(datetime.now(UTC))
