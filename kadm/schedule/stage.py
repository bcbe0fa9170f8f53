"""The scheduling stage: repository and observation in, one decision per manifest out. Pure.

For each object: has it a policy, what does the object ask for, what was decided before, did something change since that
counts? Only then it goes through the pipeline. What cannot be decided, because something is missing, wrong or unread,
stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import msgspec

from kadm.errors import KadmError, Problem
from kadm.model.decision import Decision, Decisions, MemberDecision, Outcome
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.policy import PropagationPolicy
from kadm.model.repository import Manifest, Repo
from kadm.schedule.fleet import FleetView
from kadm.schedule.framework import CapacityUnknown, Plugin, PluginError
from kadm.schedule.history import History, Past
from kadm.schedule.member import members_of
from kadm.schedule.pipeline import Judged, Selected
from kadm.schedule.profile import Plugins, Profile, ProfileError, profile_of
from kadm.schedule.promises import defines_types, promised_types
from kadm.schedule.triggers import CLUSTERS, GENERATION, PROFILE, Triggers, compare, digest
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.unit_reader import Learned, Read, UnitError, UnitReader, pauses

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

_NAMED = 5
"""How many objects or reasons a message lists before it only counts."""


def schedule(
    repo: Repo,
    observation: Observation,
    *,
    now: datetime,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
    allow_empty: bool = False,
    learned: Mapping[ObjectKey, Learned] | None = None,
    outside: Mapping[str, Plugin] | None = None,
) -> Decisions:
    """Where each manifest goes, by key (sorted), and what went wrong on the way.

    ``now`` judges the end of evictions. ``reschedule`` names what is placed anew although no trigger fired.
    ``allow_empty`` permits that an object leaves its last member because no member fits. ``learned`` is what
    auto-migration knows of workloads. ``outside`` are plugins that are not kadm's own, by name.

    Raises QuantityError where a member's capacity cannot be read.
    """
    return _Stage(repo, observation, now, reschedule, allow_empty, learned or {}, outside or {}).run()


def capacity_needed(
    repo: Repo,
    observation: Observation,
    *,
    now: datetime,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
) -> tuple[str, ...]:
    """The members whose capacity decides something and is not in ``observation``, sorted.

    Whoever plans asks this first, and reads nodes and pods of these members alone (design, section 5).
    """
    stage = _Stage(repo, observation, now, reschedule, True, {}, {})
    stage.run()
    return tuple(sorted(stage.capacity_needed))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One object under its policy, with all that its decision is made from."""

    manifest: Manifest
    policy: PropagationPolicy
    profile: Profile
    read: Read
    past: tuple[Past, ...]
    triggers: Triggers
    """What will be recorded if it is scheduled anew."""

    @property
    def unit(self) -> SchedulingUnit:
        return self.read.unit


@dataclass
class _Stage:
    """One run. ``capacity_needed`` and the problems grow while it goes through the manifests."""

    repo: Repo
    observation: Observation
    now: datetime
    reschedule: Set[ObjectKey] | Literal["all"]
    allow_empty: bool
    learned: Mapping[ObjectKey, Learned]
    outside: Mapping[str, Plugin]
    capacity_needed: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    waiting: dict[str, list[ObjectKey]] = field(default_factory=dict)
    """Member → objects that are frozen because it is unknown."""
    profiles: dict[str, Profile | KadmError] = field(default_factory=dict)

    def run(self) -> Decisions:
        self.history = History(self.observation)
        self.reader = UnitReader(self.repo, now=self.now, learned=self.learned)
        self.plugins = Plugins(outside=self.outside)
        members = members_of(self.repo, self.observation)
        self.fleet = FleetView(members)
        definitions = [manifest for manifest in self.repo.manifests if defines_types(manifest)]
        decisions = {manifest.key: self._decide(manifest) for manifest in definitions}
        promised = promised_types(definitions, decisions)
        if promised:
            self.fleet = FleetView(members, promised)
        for manifest in self.repo.manifests:
            if manifest.key not in decisions:
                decisions[manifest.key] = self._decide(manifest)
        return Decisions(
            by_key={key: decisions[key] for key in sorted(decisions)},
            problems=(*self.problems, *self._unknown_members()),
        )

    def _decide(self, manifest: Manifest) -> Decision:
        ref = manifest.propagation
        if ref is None:
            return _without_policy(manifest)
        past = self.history.of(manifest.key)
        policy = self.repo.propagation_policies.get(ref.policy)
        if policy is None:
            return self._frozen(
                manifest,
                past,
                Problem(
                    what=f"its policy, {ref.policy}, does not exist",
                    where=manifest.location,
                    object=str(manifest.key),
                    hint="add the policy, or correct the name",
                ),
            )
        try:
            case = self._case(manifest, policy, past)
            self.problems += case.read.problems
            return self._scheduled(case)
        except (UnitError, ProfileError) as error:
            where = error.problem.where or manifest.location
            problem = msgspec.structs.replace(error.problem, where=where, object=str(manifest.key))
        except PluginError as error:
            if isinstance(error, CapacityUnknown):
                self.capacity_needed.update(error.members)
            problem = msgspec.structs.replace(error.problem, where=manifest.location, object=str(manifest.key))
        return self._frozen(manifest, past, problem)

    def _case(self, manifest: Manifest, policy: PropagationPolicy, past: tuple[Past, ...]) -> _Case:
        read = self.reader.read(manifest, policy, past[0].placement if past else {})
        name = read.unit.rules.profile
        return _Case(
            manifest=manifest,
            policy=policy,
            profile=self._profile(name),
            read=read,
            past=past,
            triggers={
                **read.inputs,
                **({PROFILE: self._profile_content(name)} if name else {}),
                CLUSTERS: self.fleet.facts_text(read.unit.gvk, read.unit.rules.placements.names),
                GENERATION: str(past[0].generation + 1 if past else 1),
            },
        )

    def _profile(self, name: str) -> Profile:
        """The profile of this name, empty for the defaults. Raises ProfileError, each time anew."""
        if name not in self.profiles:
            known = self.repo.profiles.get(name)
            if name and known is None:
                raise ProfileError(f"its scheduling profile, {name}, does not exist")
            try:
                self.profiles[name] = profile_of(known, self.plugins)
            except ProfileError as error:
                self.profiles[name] = error
        found = self.profiles[name]
        if isinstance(found, KadmError):
            raise found
        return found

    def _profile_content(self, name: str) -> str:
        """Hash of a profile and of the webhooks that it names."""
        spec = self.repo.profiles[name].spec
        points = (spec.plugins.filter, spec.plugins.score, spec.plugins.select)
        enabled = sorted({plugin.name for point in points for plugin in point.enabled})
        webhooks = [(name, self.repo.webhooks[name].spec) for name in enabled if name in self.repo.webhooks]
        return digest([spec, webhooks])

    def _scheduled(self, case: _Case) -> Decision:
        """Kept where nothing that counts changed, else placed anew."""
        if pauses(case.manifest):
            why = ("annotation kubeadmiral.io/no-scheduling is set",)
            return self._kept(case, case.past[0], why) if case.past else self._decision(case, "unplaced", reasons=why)
        if self.reschedule == "all" or case.unit.key in self.reschedule:
            return self._placed(case, ("rescheduling was asked for",))
        if not case.past:
            return self._placed(case, ("it was never scheduled",))
        if case.read.once:
            return self._kept(case, case.past[0], ("a Job is divided once",))
        reasons: tuple[str, ...] = ()
        for past in case.past:
            gone = [name for name in past.placement if name not in self.fleet]
            trigger = compare(
                past.triggers,
                case.triggers,
                facts=self.fleet.facts(case.unit.gvk),
                policy=case.policy.spec.reschedule_policy,
                decided_unread=_does_without_unread(case.unit),
            )
            if not gone and not trigger.fires:
                return self._kept(case, past, trigger.reasons or ("nothing that counts changed",))
            left = (f"{', '.join(gone)} left the fleet, and held it",) if gone else ()
            reasons = reasons or (*left, *(trigger.reasons if trigger.fires else ()))
        return self._placed(case, reasons)

    def _placed(self, case: _Case, why: tuple[str, ...]) -> Decision:
        """The decision of the pipeline; ``why`` it runs."""
        unit = case.unit
        current = [name for name in unit.current if name in self.fleet]
        if unit.rules.sticky and current:
            return self._stuck(case, current, why)
        # Of an object that no record knows it is not known either whether an unread member holds it.
        held_by = current if case.past else [*current, *self.fleet.unread]
        judged = self.fleet.pipeline.judge(unit, case.profile, held_by=held_by)
        unknown = [member.name for member in judged.unknown]
        staying = [name for name in unknown if name in unit.current]
        if unknown and (not _does_without_unread(unit) or not (judged.fitting or staying)):
            return self._waits(case, judged, unknown)
        if not judged.fitting and not staying:
            return self._fits_nowhere(case, judged, current)
        selected = self.fleet.pipeline.select(unit, case.profile, held_by=held_by)
        if unit.rules.mode == "Duplicate" or not selected.members:
            names = [member.name for member in selected.members] + staying
            none = () if names else ("the policy's maxClusters lets no member be selected",)
            return self._decision(
                case,
                "scheduled",
                placement=dict.fromkeys(sorted(names)),
                members=selected.decisions,
                reasons=none + why,
            )
        return self._divided(case, selected, current, why)

    def _stuck(self, case: _Case, current: Sequence[str], why: tuple[str, ...]) -> Decision:
        """A sticky object keeps its members; a changed total is divided among them (design, section 12, row 5)."""
        unit = case.unit
        unread = [name for name in current if name in self.fleet.unread]
        reasons = ("it is sticky: it keeps its members", *why)
        selected = self.fleet.pipeline.all_of(_by_priority(unit, current), "it is sticky, and here already")
        if unit.rules.mode == "Duplicate":
            return self._decision(
                case, "kept", placement=dict.fromkeys(sorted(current)), members=selected.decisions, reasons=reasons
            )
        replicas = {name: unit.current[name] for name in sorted(current)}
        if sum(number or 0 for number in replicas.values()) == unit.replicas and None not in replicas.values():
            return self._decision(case, "kept", placement=replicas, members=selected.decisions, reasons=reasons)
        if unread:
            return self._waits(case, Judged(fitting=(), unknown=(), decisions=selected.decisions), unread)
        return self._divided(case, selected, current, reasons)

    def _divided(self, case: _Case, selected: Selected, current: Sequence[str], why: tuple[str, ...]) -> Decision:
        unit = case.unit
        total = unit.replicas or 0
        names = sorted(member.name for member in selected.members)
        if total == 0:
            # KubeAdmiral deletes it everywhere (design, section 12, row 4).
            stays = [name for name in names if name in current] or names
            return self._decision(
                case,
                "scheduled",
                placement=dict.fromkeys(stays, 0),
                members=selected.decisions,
                reasons=("it is scaled to 0, and stays where it is", *why),
            )
        shares, selected = self.fleet.pipeline.divide(unit, case.profile, selected)
        placement: dict[str, int | None] = {name: shares.replicas[name] for name in names if shares.replicas[name] > 0}
        unplaced = max(total - sum(shares.replicas.values()), 0)
        details = "; ".join(f"{name}: {', '.join(shares.notes.get(name, ()))}" for name in names[:_NAMED])
        if not placement and not self.allow_empty:
            problem = Problem(
                what=f"no member gets any of its {total} replicas",
                where=case.manifest.location,
                object=str(unit.key),
                why=details,
                hint="--allow-empty removes it everywhere" if current else "",
            )
            return self._kept_back(case, current, problem, selected.decisions, unplaced)
        if unplaced:
            self.problems.append(
                Problem(
                    what=f"{unplaced} of {total} replicas find no place",
                    where=case.manifest.location,
                    object=str(unit.key),
                    why=details,
                    hint="raise a maximum, or allow more members",
                )
            )
            why = (f"{unplaced} of {total} replicas find no place: {details}", *why)
        return self._decision(
            case, "scheduled", placement=placement, members=selected.decisions, reasons=why, unplaced_replicas=unplaced
        )

    def _fits_nowhere(self, case: _Case, judged: Judged, current: Sequence[str]) -> Decision:
        """No member takes it: it stays where it is, unless that is permitted to end (design, section 12, row 2)."""
        why = _refusals(judged.decisions)
        if self.allow_empty and current:
            return self._decision(
                case, "scheduled", members=judged.decisions, reasons=(f"no member takes it, as permitted: {why}",)
            )
        problem = Problem(
            what="no member takes it",
            where=case.manifest.location,
            object=str(case.unit.key),
            why=why,
            hint="--allow-empty removes it everywhere" if current else "",
        )
        return self._kept_back(case, current, problem, judged.decisions, case.unit.replicas or 0)

    def _kept_back(
        self,
        case: _Case,
        current: Sequence[str],
        problem: Problem,
        members: tuple[MemberDecision, ...],
        unplaced_replicas: int,
    ) -> Decision:
        """Frozen where it is; unplaced where it is nowhere."""
        if current or self.history.holders(case.unit.key):
            return self._frozen(case.manifest, case.past, problem, members)
        self.problems.append(problem)
        reasons = (f"{problem.what}: {problem.why}",)
        return self._decision(
            case, "unplaced", members=members, reasons=reasons, unplaced_replicas=unplaced_replicas, recorded=False
        )

    def _kept(self, case: _Case, past: Past, why: tuple[str, ...]) -> Decision:
        return Decision(
            key=case.unit.key,
            outcome="kept",
            policy=case.manifest.propagation,
            placement=past.placement,
            members=self.fleet.kept(case.unit, case.profile, past.placement),
            reasons=why,
            triggers=past.triggers,
        )

    def _decision(
        self,
        case: _Case,
        outcome: Outcome,
        *,
        placement: Mapping[str, int | None] | None = None,
        members: tuple[MemberDecision, ...] = (),
        reasons: tuple[str, ...],
        unplaced_replicas: int = 0,
        recorded: bool = True,
    ) -> Decision:
        return Decision(
            key=case.unit.key,
            outcome=outcome,
            policy=case.manifest.propagation,
            placement=placement or {},
            unplaced_replicas=unplaced_replicas,
            members=members,
            reasons=reasons,
            triggers=case.triggers if recorded else {},
        )

    def _frozen(
        self,
        manifest: Manifest,
        past: tuple[Past, ...],
        problem: Problem,
        members: tuple[MemberDecision, ...] = (),
    ) -> Decision:
        """Left as it is live, everywhere where the records say that it is."""
        self.problems.append(problem)
        return self._left(manifest, past, f"{problem.what}: {problem.why}" if problem.why else problem.what, members)

    def _waits(self, case: _Case, judged: Judged, unknown: Iterable[str]) -> Decision:
        """Left as it is, because members are unknown that could hold or take it."""
        names = list(unknown)
        for name in names:
            self.waiting.setdefault(name, []).append(case.unit.key)
        why = f"it depends on {', '.join(names)}: {self.fleet.why_unknown(names[0], judged.decisions)}"
        return self._left(case.manifest, case.past, why, judged.decisions)

    def _left(
        self, manifest: Manifest, past: tuple[Past, ...], why: str, members: tuple[MemberDecision, ...]
    ) -> Decision:
        placement = dict(past[0].placement) if past else {}
        for name in self.history.holders(manifest.key):
            placement.setdefault(name, None)
        return Decision(
            key=manifest.key,
            outcome="frozen",
            policy=manifest.propagation,
            placement=dict(sorted(placement.items())),
            members=members,
            reasons=(why,),
            triggers=past[0].triggers if past else {},
        )

    def _unknown_members(self) -> list[Problem]:
        """For each unknown member that something waits for, what that is."""
        return [
            Problem(
                what=f"{_counted(keys)} left as they are, because they depend on this member",
                severity="warning",
                member=name,
                why=self.fleet.unread.get(name, "not all that it serves is known"),
            )
            for name, keys in sorted(self.waiting.items())
        ]


def _does_without_unread(unit: SchedulingUnit) -> bool:
    """Whether each member is decided by itself, so that one which is unknown leaves the others alone."""
    return unit.rules.mode == "Duplicate" and unit.rules.max_clusters is None


def _none_selected(case: _Case) -> Problem:
    zero = case.unit.rules.max_clusters == 0
    return Problem(
        what="it goes nowhere: no member is selected, although some fit",
        severity="warning",
        where=case.manifest.location,
        object=str(case.unit.key),
        why="maxClusters is 0" if zero else "the select plugins of its profile leave none",
    )


def _by_priority(unit: SchedulingUnit, names: Iterable[str]) -> list[str]:
    priorities = unit.rules.placements.priorities
    return sorted(names, key=lambda name: (-priorities.get(name, 0), name.encode()))


def _refusals(decisions: Iterable[MemberDecision]) -> str:
    """Why members were refused, members with the same reason together: ``eu, us: …; ap: …``."""
    names_by_reason: dict[str, list[str]] = {}
    for decision in decisions:
        if decision.verdicts and not decision.verdicts[-1].fits:
            names_by_reason.setdefault(decision.verdicts[-1].reason, []).append(decision.member)
    texts = [f"{_listed(names)}: {reason}" for reason, names in names_by_reason.items()]
    more = [f"{len(texts) - _NAMED} more reasons"] if len(texts) > _NAMED else []
    return "; ".join(texts[:_NAMED] + more) or "the fleet has no members"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _counted(keys: Sequence[ObjectKey]) -> str:
    return f"{len(keys)} objects ({_listed([str(key) for key in keys])})"


def _without_policy(manifest: Manifest) -> Decision:
    if (manifest.key.group, manifest.key.kind) in _CAN_FOLLOW:
        why = "it has no propagation policy: it goes where something that needs it goes"
        return Decision(key=manifest.key, outcome="following", reasons=(why,))
    return Decision(key=manifest.key, outcome="unplaced", reasons=("it has no propagation policy",))
