"""What was decided before, as the records of the members tell it (design, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.record import RecordedWorkload
from kadm.schedule.triggers import GENERATION, Triggers


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One decision about an object: member → replicas (None where it was not divided), and what it was made from.

    ``blocks``: member → number of its block of a StatefulSet's ordinals, also of members that were left before.
    """

    placement: Mapping[str, int | None]
    triggers: Triggers
    blocks: Mapping[str, int] = field(default_factory=dict)

    @property
    def generation(self) -> int:
        """Higher for a later decision."""
        text = self.triggers.get(GENERATION, "")
        return int(text) if text.isdecimal() else 0


class History:
    """The past decisions of all objects, over all members that were read."""

    def __init__(self, observation: Observation) -> None:
        self._observation = observation
        self._copies: dict[ObjectKey, dict[str, RecordedWorkload]] = {}
        for name, state in sorted(observation.read.items()):
            for workload in state.record.workloads if state.record else ():
                self._copies.setdefault(workload.key, {})[name] = workload

    def of(self, key: ObjectKey) -> tuple[Past, ...]:
        """The decisions that the records hold about one object, the latest first; empty: it was never decided.

        More than one are there after a run that was killed between two members.
        """
        copies = self._copies.get(key, {})
        found: list[Past] = []
        last: Triggers | None = None
        for copy in copies.values():
            if copy.triggers == last:  # as a rule all are equal
                continue
            last = copy.triggers
            if any(past.triggers == last for past in found):  # the generation is among them
                continue
            placement = copy.placement or {name: other.replicas for name, other in copies.items()}
            blocks = copy.blocks
            if not copy.placement:  # a record that was rebuilt knows its own member alone
                blocks = {name: block for other in copies.values() for name, block in other.blocks.items()}
            found.append(Past(placement=dict(sorted(placement.items())), triggers=copy.triggers, blocks=blocks))
        return tuple(sorted(found, key=lambda past: -past.generation))

    def holders(self, key: ObjectKey) -> tuple[str, ...]:
        """The members that were read and whose record says that kadm put the object there, sorted."""
        return self._holders.get(key, ())

    @cached_property
    def _holders(self) -> dict[ObjectKey, tuple[str, ...]]:
        found: dict[ObjectKey, list[str]] = {}
        for name, state in sorted(self._observation.read.items()):
            for recorded in state.record.objects if state.record else ():
                found.setdefault(recorded.key, []).append(name)
        return {key: tuple(names) for key, names in found.items()}
