"""One object under its policy, with all that its decision is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.policy import PropagationPolicy
from kadm.model.repository import Manifest, Repo
from kadm.schedule.asking import asked_for
from kadm.schedule.fleet import FleetView
from kadm.schedule.history import Past
from kadm.schedule.ordinals import Blocks, remembered
from kadm.schedule.profile import Plugins, Profile, ProfileError, profile_of
from kadm.schedule.triggers import CLUSTERS, GENERATION, PROFILE, Triggers, digest
from kadm.schedule.unit import Rules, SchedulingUnit
from kadm.schedule.unit_reader import UnitReader

_WHOLE = ("its policy divides, but it has no number of replicas: it goes whole to each member",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``past`` are earlier decisions, the latest first. ``triggers`` is what a new decision will be recorded with.

    ``blocks`` are the blocks of ordinals that past decisions gave. ``once``: it is divided once, and never re-planned.
    ``problems`` are those of its annotations; ``annotations``
    those that count instead of a field of the policy. ``asks`` says in words what is asked for.
    """

    manifest: Manifest
    policy: PropagationPolicy
    profile: Profile
    unit: SchedulingUnit
    past: tuple[Past, ...]
    triggers: Triggers
    blocks: Blocks = field(default_factory=dict)
    once: bool = False
    problems: tuple[Problem, ...] = ()
    annotations: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()

    @property
    def key(self) -> ObjectKey:
        return self.unit.key


class CaseReader:
    """Puts cases together: the unit, its profile, and the inputs to be recorded."""

    def __init__(self, repo: Repo, units: UnitReader, plugins: Plugins) -> None:
        self._repo = repo
        self._units = units
        self._plugins = plugins
        self._profiles: dict[str, Profile | ProfileError] = {}
        self._contents: dict[str, str] = {}
        self._asked: dict[Rules, tuple[str, ...]] = {}

    def read(self, manifest: Manifest, policy: PropagationPolicy, past: tuple[Past, ...], fleet: FleetView) -> Case:
        """The case of ``manifest``. Raises UnitError, ProfileError."""
        read = self._units.read(manifest, policy, past[0].placement if past else {})
        rules = read.unit.rules
        triggers = {
            **read.inputs,
            CLUSTERS: fleet.facts_text(read.unit.gvk, rules.placements.names),
            GENERATION: str(past[0].generation + 1 if past else 1),
        }
        profile = self._profile(rules.profile)
        if rules.profile:
            triggers[PROFILE] = self._content(rules.profile)
        return Case(
            manifest=manifest,
            policy=policy,
            profile=profile,
            unit=read.unit,
            past=past,
            triggers=triggers,
            blocks=remembered(read.unit, past),
            once=read.once,
            problems=read.problems,
            annotations=read.annotations,
            asks=(*self._asks(rules), *(_WHOLE if read.whole else ())),
        )

    def _asks(self, rules: Rules) -> tuple[str, ...]:
        if rules not in self._asked:
            self._asked[rules] = asked_for(rules)
        return self._asked[rules]

    def _profile(self, name: str) -> Profile:
        """The profile of this name, empty for the defaults. Raises ProfileError, for each object that uses it."""
        if name not in self._profiles:
            self._profiles[name] = self._built(name)
        found = self._profiles[name]
        if isinstance(found, ProfileError):
            raise found
        return found

    def _built(self, name: str) -> Profile | ProfileError:
        known = self._repo.profiles.get(name)
        if name and known is None:
            return ProfileError(f"its scheduling profile, {name}, does not exist")
        try:
            return profile_of(known, self._plugins, katalyst=self._repo.fleet.spec.katalyst)
        except ProfileError as error:
            return error

    def _content(self, name: str) -> str:
        """Hash of a profile and of the webhooks that it enables."""
        if name not in self._contents:
            spec = self._repo.profiles[name].spec
            points = (spec.plugins.filter, spec.plugins.score, spec.plugins.select)
            enabled = sorted({plugin.name for point in points for plugin in point.enabled})
            hooks = [(hook, self._repo.webhooks[hook].spec) for hook in enabled if hook in self._repo.webhooks]
            self._contents[name] = digest([spec, hooks])
        return self._contents[name]
