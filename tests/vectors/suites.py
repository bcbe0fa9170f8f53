"""The suites of vectors: what kadm answers, and what a transcription of KubeAdmiral's rules does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.vectors.case import Answer, Case, Json
from tests.vectors.deviations import Upstream, gives
from tests.vectors.kadm import binpack, override, planner, scheduler, status
from tests.vectors.upstream.binpack import binpack_answer
from tests.vectors.upstream.override import override_answer
from tests.vectors.upstream.planner import planner_answer
from tests.vectors.upstream.scheduler import scheduler_answer
from tests.vectors.upstream.status import status_answer


@dataclass(frozen=True, slots=True)
class Suite:
    """``normal`` leaves out of an answer what does not count; it is applied to all answers and expectations."""

    answer: Callable[[Json], Answer]
    upstream: Upstream
    normal: Callable[[Answer], Answer] = lambda answer: answer

    def case(self, case: Case) -> Case:
        """The case with what counts of its expectation."""
        return Case(case.id, case.input, self.normal(case.expect), case.vary)

    def reference(self, given: Json, fixed: frozenset[str]) -> Mapping[str, list[Json]]:
        """The transcription's answer, with what counts of it."""
        return {
            key: [self.normal({key: value})[key] for value in values]
            for key, values in self.upstream(given, fixed).items()
        }

    def gives(self, given: Json, fixed: frozenset[str], answer: Answer) -> bool:
        """Whether ``answer`` (with what counts of it) is the transcription's with these rows."""
        return gives(self.reference(given, fixed), answer)


SUITES: Mapping[str, Suite] = {
    "planner": Suite(planner.answer, planner_answer),
    "binpack": Suite(binpack.answer, binpack_answer),
    "scheduler": Suite(scheduler.answer, scheduler_answer, scheduler.normal),
    "override": Suite(override.answer, override_answer, override.normal),
    "status": Suite(status.answer, status_answer, status.normal),
}
