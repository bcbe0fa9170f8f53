"""What reading one file finds, and what it may cost."""

from __future__ import annotations

from typing import Final

from kadm.errors import Location, Problem, Severity

MAX_PROBLEMS: Final = 50
"""Findings of one file that are listed one by one."""

MAX_COST: Final = 100 * 2**20
"""Bytes of memory, roughly, that the values of one file may take; what an alias repeats counts each time."""


class StopDocument(Exception):
    """The rest of this document cannot be read; why is listed."""


class StopFile(Exception):
    """The rest of this file is not read; why is listed."""


class Findings:
    """Collects the problems of file ``path`` and stops what costs too much."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.cost = 0
        self._problems: list[Problem] = []
        self._left_out = 0

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All findings in the order of their places; the last one counts those that are not listed."""
        ordered = sorted(self._problems, key=lambda problem: problem.where or Location(self.path))
        if self._left_out:
            what = f"{self._left_out} more findings in this file are not listed"
            ordered.append(Problem(what=what, where=Location(self.path), severity="warning"))
        return tuple(ordered)

    def add(self, where: Location, what: str, *, why: str = "", hint: str = "", severity: Severity = "error") -> None:
        self.put(Problem(what=what, where=where, why=why, hint=hint, severity=severity))

    def put(self, problem: Problem) -> None:
        """Lists ``problem``. Errors are never left out for warnings."""
        limit = MAX_PROBLEMS if problem.severity == "warning" else 2 * MAX_PROBLEMS
        if len(self._problems) < limit:
            self._problems.append(problem)
        else:
            self._left_out += 1

    def stop_document(self, where: Location, what: str, *, why: str = "", hint: str = "") -> StopDocument:
        """Lists an error after which the document cannot be read; the answer is to be raised."""
        self.add(where, what, why=why, hint=hint)
        return StopDocument()

    def stop_file(self, where: Location, what: str, *, why: str = "", hint: str = "") -> StopFile:
        """Lists an error after which the file cannot be read; the answer is to be raised."""
        self.add(where, what, why=why, hint=hint)
        return StopFile()

    def pay(self, cost: int, where: Location) -> None:
        """Counts ``cost`` bytes. Raises StopFile when the file costs more than any honest one."""
        self.cost += cost
        if self.cost > MAX_COST:
            raise self.stop_file(
                where,
                "the file holds too many values",
                why="with what its aliases repeat, it would take more memory than kadm gives one file",
                hint="split it, or write it without aliases",
            )
