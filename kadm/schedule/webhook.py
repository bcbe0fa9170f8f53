"""Plugins that somebody else runs, and that answer over HTTP (scheduling spec, section 7).

Of a fault (no answer in time, an answer that is none, an answer that says so) ``failurePolicy`` decides: ``Fail``
leaves the workload as it is; with ``Ignore`` a member that the filter gave no answer about is filtered out, as in
KubeAdmiral (design, section 12, row 3). Faults of scores and of the selection always leave the workload as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kadm.model.policy import WebhookConfigurationSpec
from kadm.model.webhook import WebhookCall, WebhookReply, WebhookTransport
from kadm.schedule.framework import (
    FITS,
    Answer,
    CapacityUnknown,
    PluginError,
    Scored,
    cannot_tell,
    normalize,
    refuses,
)
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.webhook_answer import AnswerFault, filter_answer, score_answer, select_answer
from kadm.schedule.webhook_payload import Payloads
from kadm.schedule.wording import listed


@dataclass(frozen=True, slots=True)
class WebhookPlugin:
    """One configured webhook: a filter, score or select plugin, as far as its paths are set."""

    name: str
    spec: WebhookConfigurationSpec
    payloads: Payloads
    transport: WebhookTransport

    def serves(self, point: str) -> bool:
        """Whether it has a path for this extension point."""
        paths = {"filter": self.spec.filter_path, "score": self.spec.score_path, "select": self.spec.select_path}
        return bool(paths.get(point))

    def filter_all(self, unit: SchedulingUnit, members: Sequence[Member]) -> Sequence[Answer]:
        """An answer for each member; of a member that was not read there is nothing to send."""
        known = [member for member in members if not member.unread]
        answers: dict[str, Answer] = {}
        faults: dict[str, str] = {}
        for member, reply in zip(known, self._about_each(self.spec.filter_path, unit, known), strict=True):
            try:
                selected = filter_answer(reply)
            except AnswerFault as fault:
                faults[member.name] = str(fault)
                answers[member.name] = refuses(f"webhook {self.name} failed, which its failurePolicy ignores: {fault}")
            else:
                answers[member.name] = FITS if selected else refuses(f"webhook {self.name} does not select it")
        if faults and self.spec.failure_policy == "Fail":
            raise self._failed("filter", faults)
        return [
            cannot_tell(f"it could not be read: {member.unread}") if member.unread else answers[member.name]
            for member in members
        ]

    def score_all(self, unit: SchedulingUnit, members: Sequence[Member]) -> Sequence[int]:
        """A score for each member."""
        scores: list[int] = []
        faults: dict[str, str] = {}
        for member, reply in zip(members, self._about_each(self.spec.score_path, unit, members), strict=True):
            try:
                scores.append(score_answer(reply))
            except AnswerFault as fault:
                faults[member.name] = str(fault)
        if faults:
            raise self._failed("score", faults)
        return scores

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        return self.filter_all(unit, (member,))[0]

    def score(self, unit: SchedulingUnit, member: Member) -> int:
        return self.score_all(unit, (member,))[0]

    def normalize(self, scores: Mapping[str, int]) -> Mapping[str, int]:
        return normalize(scores)

    def select(self, unit: SchedulingUnit, scored: Sequence[Scored]) -> Sequence[Scored]:
        """The members that it names, in its order; a name that it repeats counts once."""
        _require_capacity([entry.member for entry in scored])
        body = self.payloads.select(unit, scored)
        (reply,) = self.transport.call_many([WebhookCall(hook=self.name, path=self.spec.select_path, body=body)])
        by_name = {entry.member.name: entry for entry in scored}
        try:
            names = select_answer(reply, offered=by_name)
        except AnswerFault as fault:
            raise PluginError(f"webhook {self.name} gave no selection", why=str(fault)) from fault
        return [by_name[name] for name in names]

    def _about_each(self, path: str, unit: SchedulingUnit, members: Sequence[Member]) -> Sequence[WebhookReply]:
        """Replies about each member. Raises CapacityUnknown."""
        _require_capacity(members)
        bodies = self.payloads.about_members(unit, members)
        return self.transport.call_many([WebhookCall(hook=self.name, path=path, body=body) for body in bodies])

    def _failed(self, point: str, faults: Mapping[str, str]) -> PluginError:
        return PluginError(
            f"webhook {self.name} gave no {point} for {listed(list(faults))}",
            why="; ".join(dict.fromkeys(faults.values())),
            hint="mend the webhook, or set its failurePolicy: Ignore" if point == "filter" else "mend the webhook",
        )


def _require_capacity(members: Sequence[Member]) -> None:
    """Raise CapacityUnknown where it was not read: what is sent of a member holds what it has free."""
    lacking = [member.name for member in members if member.capacity is None]
    if lacking:
        raise CapacityUnknown(lacking)
