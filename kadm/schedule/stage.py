"""The scheduling stage: repository and observation in, one decision per manifest out. Pure.

For each object: has it a policy, what does the object ask for, what was decided before, did something change since that
counts? Only then it goes through the pipeline. What cannot be decided, because something is missing, wrong or unread,
stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime
from typing import Literal

from msgspec.structs import replace

from kadm.errors import Problem
from kadm.model.decision import Decision, Decisions
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.repository import Manifest, Repo
from kadm.schedule.case import Case, CaseReader
from kadm.schedule.fleet import FleetView
from kadm.schedule.framework import CapacityUnknown, PluginError
from kadm.schedule.history import History
from kadm.schedule.journal import Journal
from kadm.schedule.member import members_of
from kadm.schedule.placing import Placing, does_without_unread
from kadm.schedule.profile import Plugins, ProfileError
from kadm.schedule.promises import defines_types, promised_types
from kadm.schedule.triggers import compare
from kadm.schedule.unit_reader import Learned, UnitError, UnitReader, pauses, told_of

_CAN_FOLLOW = frozenset(
    {
        ("", "ConfigMap"),
        ("", "Namespace"),
        ("", "PersistentVolumeClaim"),
        ("", "Secret"),
        ("", "Service"),
        ("", "ServiceAccount"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("networking.k8s.io", "Ingress"),
        ("policy", "PodDisruptionBudget"),
    }
)
"""(group, kind) of what goes where others need it (propagation spec, section 3; design, section 12, rows 14 and 18)."""


def schedule(
    repo: Repo,
    observation: Observation,
    *,
    now: datetime,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
    allow_empty: bool = False,
    learned: Mapping[ObjectKey, Learned] | None = None,
    plugins: Plugins | None = None,
) -> Decisions:
    """Where each manifest goes, by key (sorted), and what went wrong on the way.

    ``now`` judges the end of evictions. ``reschedule`` names what is placed anew although no trigger fired.
    ``allow_empty`` permits that an object leaves its last member because no member fits. ``learned`` is what
    auto-migration knows of workloads. ``plugins`` are those that profiles can name (None: kadm's own alone).

    Where capacity decides and was not observed, ``Decisions.capacity_needed`` names the members. Raises QuantityError
    where a member's capacity cannot be read.
    """
    journal = Journal()
    known = learned or {}
    cases = CaseReader(repo, UnitReader(repo, now=now, learned=known), plugins or Plugins())
    stage = _Stage(repo, observation, cases, journal, reschedule=reschedule, allow_empty=allow_empty, learned=known)
    return stage.run()


class _Stage:
    """One run over all manifests."""

    def __init__(
        self,
        repo: Repo,
        observation: Observation,
        cases: CaseReader,
        journal: Journal,
        *,
        reschedule: Set[ObjectKey] | Literal["all"],
        allow_empty: bool,
        learned: Mapping[ObjectKey, Learned],
    ) -> None:
        self._repo = repo
        self._cases = cases
        self._journal = journal
        self._reschedule = reschedule
        self._allow_empty = allow_empty
        self._learned = learned
        self._history = History(observation)
        self._members = members_of(repo, observation)
        self._see(FleetView(self._members))

    def _see(self, fleet: FleetView) -> None:
        self._fleet = fleet
        self._placing = Placing(fleet, self._history, self._journal, allow_empty=self._allow_empty)

    def run(self) -> Decisions:
        definitions = [manifest for manifest in self._repo.manifests if defines_types(manifest)]
        decisions = {manifest.key: self._decide(manifest) for manifest in definitions}
        promised = promised_types(definitions, decisions)
        if promised:
            self._see(FleetView(self._members, promised))
        for manifest in self._repo.manifests:
            if manifest.key not in decisions:
                decisions[manifest.key] = self._decide(manifest)
        return Decisions(
            by_key={key: decisions[key] for key in sorted(decisions)},
            problems=self._journal.all_problems(self._fleet.unread),
            capacity_needed=tuple(sorted(self._journal.capacity_needed)),
        )

    def _decide(self, manifest: Manifest) -> Decision:
        ref = manifest.propagation
        if ref is None:
            return _without_policy(manifest)
        past = self._history.of(manifest.key)
        policy = self._repo.propagation_policies.get(ref.policy)
        if policy is None:
            what, hint = f"its policy, {ref.policy}, does not exist", "add the policy, or correct the name"
            problem = Problem(what=what, hint=hint)
        else:
            try:
                case = self._cases.read(manifest, policy, past, self._fleet)
                return _told(case, self._scheduled(case), self._learned.get(manifest.key))
            except (UnitError, ProfileError, PluginError) as error:
                if isinstance(error, CapacityUnknown):
                    self._journal.capacity_needed.update(error.members)
                problem = error.problem
        return self._placing.freeze(manifest, past, told_of(manifest, problem))

    def _scheduled(self, case: Case) -> Decision:
        """Kept where nothing that counts changed, else placed anew."""
        self._journal.problems += case.problems
        if pauses(case.manifest):
            return self._paused(case)
        if self._reschedule == "all" or case.key in self._reschedule:
            return self._placing.place(case, ("rescheduling was asked for",))
        if not case.past:
            return self._placing.place(case, ("it was never scheduled",))
        if case.once:
            return self._placing.keep(case, case.past[0], ("a Job is divided once",))
        reasons: tuple[str, ...] = ()
        for past in case.past:
            gone = [name for name in past.placement if name not in self._fleet]
            trigger = compare(
                past.triggers,
                case.triggers,
                facts=self._fleet.facts(case.unit.gvk),
                policy=case.policy.spec.reschedule_policy,
                decided_unread=does_without_unread(case.unit),
            )
            if not gone and not trigger.fires:
                why = trigger.reasons or ("nothing that counts changed",)
                return self._placing.keep(case, past, why, joined=trigger.joined)
            left = (f"{', '.join(gone)} left the fleet, and held it",) if gone else ()
            reasons = reasons or (*left, *(trigger.reasons if trigger.fires else ()))
        return self._placing.place(case, reasons)

    def _paused(self, case: Case) -> Decision:
        """Its user keeps it where it is; the recorded inputs stay, so that lifting the pause catches up."""
        why = ("annotation kubeadmiral.io/no-scheduling is set",)
        if case.past:
            return self._placing.keep(case, case.past[0], why)
        return Decision(key=case.key, outcome="unplaced", policy=case.manifest.propagation, reasons=why)


def _told(case: Case, decision: Decision, learned: Learned | None) -> Decision:
    """The decision with what was asked for, and what was learned, so that it can be explained."""
    return replace(
        decision,
        replicas=case.unit.replicas,
        asks=case.asks,
        annotations=case.annotations,
        learned=learned.trail if learned else (),
    )


def _without_policy(manifest: Manifest) -> Decision:
    if (manifest.key.group, manifest.key.kind) in _CAN_FOLLOW:
        why = "it has no propagation policy: it goes where something that needs it goes"
        return Decision(key=manifest.key, outcome="following", reasons=(why,))
    return Decision(key=manifest.key, outcome="unplaced", reasons=("it has no propagation policy",))
