"""Scheduling units out of manifests and policies (scheduling spec, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace as replace_fields

from kadm.errors import KadmError, Location, Problem
from kadm.model.objects import GroupVersionKind, ObjectKey, Path, at
from kadm.model.policy import PolicyKey, PropagationPolicy
from kadm.model.repository import Manifest, Repo
from kadm.model.workload import workload_kind
from kadm.schedule.policy_annotations import (
    MIGRATION_CONFIGURATION,
    NO_SCHEDULING,
    PLACEMENT_ANNOTATIONS,
    PREFIX,
    AnnotationError,
    apply,
    migration_of,
)
from kadm.schedule.resources import GPU, KATALYST, Amounts, RequestError, pod_request
from kadm.schedule.triggers import Triggers, content_of, digest
from kadm.schedule.unit import NO_MIGRATION, Migration, Rules, SchedulingUnit, rules_of

_ANNOTATIONS: Path = ("metadata", "annotations")
_DEFAULT_REPLICAS = 1
_INTERNAL_PREFIX = "internal.kubeadmiral.io/"
_FOLLOWS_OBJECT = PREFIX + "follows-object"
_DRY_RUN = PREFIX + "dry-run"
_OTHER_HASHED = (MIGRATION_CONFIGURATION, _FOLLOWS_OBJECT, _DRY_RUN)


class Learned(Struct, frozen=True, kw_only=True):
    """What auto-migration learned of one workload, member → replicas (spec 2.6): ``estimated`` is what a member is
    believed to run, for members that cannot run all they have; ``scheduled`` is what found a node.

    ``evicted`` are members that it left because they were lost, and until when it stays away. ``trail`` says in words
    what was learned and done, oldest first.
    """

    estimated: Mapping[str, int] = {}
    scheduled: Mapping[str, int] = {}
    evicted: Mapping[str, datetime] = {}
    trail: tuple[str, ...] = ()


_NOTHING_LEARNED = Learned()


class UnitError(KadmError):
    """A manifest, or what its policy asks of it, cannot be scheduled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A unit, what to record of it (members aside), and what is wrong with its annotations."""

    unit: SchedulingUnit
    inputs: Triggers
    once: bool
    """A Job: it is divided once, and never re-planned (design, section 7)."""
    annotations: tuple[str, ...] = ()
    """Those that count instead of a field of the policy."""
    whole: bool = False
    """Its policy divides, but it has no replica count."""
    problems: tuple[Problem, ...] = ()


class UnitReader:
    """Reads units of one repository. Units whose policy and annotations say the same share one ``Rules``."""

    def __init__(self, repo: Repo, *, now: datetime, learned: Mapping[ObjectKey, Learned]) -> None:
        self._repo = repo
        self._now = now
        self._learned = learned
        self._annotations_count = repo.fleet.spec.allow_placement_annotations
        self._katalyst = repo.fleet.spec.katalyst
        self._scalars = frozenset({GPU, *KATALYST} if self._katalyst else {GPU})
        self._replicas_paths: dict[GroupVersionKind, Path] = {
            GroupVersionKind(source.group, source.version, source.kind): tuple(path.split("."))
            for config in repo.type_configs.values()
            if (source := config.spec.source_type) and (path := config.spec.path_definition.replicas_spec)
        }
        self._rules: dict[tuple[PolicyKey, tuple[tuple[str, str], ...]], tuple[Rules, Mapping[str, str]]] = {}
        self._undivided: dict[Rules, Rules] = {}
        self._staying: dict[Rules, Rules] = {}
        self._contents: dict[PolicyKey, str] = {}

    def read(self, manifest: Manifest, policy: PropagationPolicy, current: Mapping[str, int | None]) -> Read:
        """The unit of ``manifest`` under ``policy``; ``current`` is its last decision. Raises UnitError."""
        key = manifest.key
        gvk = GroupVersionKind(key.group, manifest.version, key.kind)
        written = _written_annotations(manifest)
        placing = {name: text for name, text in written.items() if name in PLACEMENT_ANNOTATIONS}
        problems = []
        if placing and not self._annotations_count:
            problems += [_forbidden(manifest, name) for name in placing]
            placing = {}
        rules, wrong = self._rules_of(policy, placing)
        problems += [_wrong(manifest, name, why) for name, why in wrong.items()]
        path = self._replicas_path(gvk)
        whole = False
        if path is None and rules.mode == "Divide" and manifest.propagation and manifest.propagation.via != "label":
            # An entry of kadm.yaml, or the Fleet's default, binds all that stands in a directory: what has no number
            # goes whole to the members that are selected. A label means this very object: that is an error.
            rules, whole = self._whole(rules), True
        if rules.auto_migration is not None and not self._repo.migrates(manifest):
            rules = self._staying_of(rules)
        migration, problem = self._migration(manifest, written, rules, divisible=path is not None)
        if problem:
            problems.append(problem)
        request = _request(manifest)
        unit = SchedulingUnit(
            key=key,
            gvk=gvk,
            rules=rules,
            replicas=_replicas(manifest, path) if rules.mode == "Divide" else None,
            current=current,
            request={resource: amount for resource, amount in request.items() if resource in self._scalars},
            pod_request=request,
            migration=migration,
            now=self._now,
            labels=at(manifest.object, ("metadata", "labels")) or {},
            annotations=written,
        )
        hashed = placing | {name: text for name, text in written.items() if name in _OTHER_HASHED}
        inputs = {
            "annotations": digest(hashed) if hashed else "",
            "replicas": _replicas_text(manifest, path),
            "request": digest(request) if request else "",
            "policy": str(policy.key),
            "content": self._content(policy),
            "migration": digest([migration.estimated, migration.scheduled]) if rules.auto_migration else "",
            "evicted": ",".join(name for name, until in migration.unavailable.items() if self._now < until),
        }
        return Read(
            unit=unit,
            inputs={name: text for name, text in inputs.items() if text},
            once=(key.group, key.kind) == ("batch", "Job") and rules.mode == "Divide",
            annotations=tuple(name for name in placing if name not in wrong),
            whole=whole,
            problems=tuple(problems),
        )

    def _rules_of(self, policy: PropagationPolicy, placing: Mapping[str, str]) -> tuple[Rules, Mapping[str, str]]:
        key = (policy.key, tuple(sorted(placing.items())))
        found = self._rules.get(key)
        if found is None:
            plain = rules_of(policy.spec)
            found = self._rules[key] = apply(plain, placing) if placing else (plain, {})
        return found

    def _whole(self, rules: Rules) -> Rules:
        """The rules with Duplicate; the same ones for the same rules, so that what is computed from them is shared."""
        if rules not in self._undivided:
            self._undivided[rules] = replace(rules, mode="Duplicate")
        return self._undivided[rules]

    def _staying_of(self, rules: Rules) -> Rules:
        """The rules without auto-migration; the same ones for the same rules."""
        if rules not in self._staying:
            self._staying[rules] = replace(rules, auto_migration=None)
        return self._staying[rules]

    def _content(self, policy: PropagationPolicy) -> str:
        if policy.key not in self._contents:
            self._contents[policy.key] = content_of(policy.spec) + ("+katalyst" if self._katalyst else "")
        return self._contents[policy.key]

    def _replicas_path(self, gvk: GroupVersionKind) -> Path | None:
        """Where the type's replicas stand: as its FederatedTypeConfig says, else as kadm knows; None: it has none."""
        if gvk in self._replicas_paths:
            return self._replicas_paths[gvk]
        kind = workload_kind(gvk.group, gvk.kind)
        return kind.replicas_path if kind and kind.divides else None

    def _migration(
        self, manifest: Manifest, written: Mapping[str, str], rules: Rules, *, divisible: bool
    ) -> tuple[Migration, Problem | None]:
        learned = self._learned.get(manifest.key, _NOTHING_LEARNED)
        text = written.get(MIGRATION_CONFIGURATION, "")
        if not text and learned is _NOTHING_LEARNED:
            return NO_MIGRATION, None
        problem = None
        custom = NO_MIGRATION
        try:
            custom = migration_of(text, divisible=divisible) if text else NO_MIGRATION
        except AnnotationError as error:
            problem = _wrong(manifest, MIGRATION_CONFIGURATION, str(error))
        migrates = rules.auto_migration is not None
        return Migration(
            limited=custom.limited,
            unavailable={**learned.evicted, **custom.unavailable},
            estimated=learned.estimated if migrates else {},
            scheduled=learned.scheduled if migrates else {},
        ), problem


def told_of(manifest: Manifest, problem: Problem) -> Problem:
    """The problem as one of this object: with its name, and its place where the problem has none."""
    return replace_fields(problem, where=problem.where or manifest.location, object=str(manifest.key))


def pauses(manifest: Manifest) -> bool:
    """Whether the object asks for its placement to be left as it is (spec 6.3)."""
    return bool(_written_annotations(manifest).get(NO_SCHEDULING))


def asked_evictions(manifest: Manifest) -> Mapping[str, datetime]:
    """Member → until when the object stays away from it, as its annotation asks (propagation spec 7.6)."""
    text = _written_annotations(manifest).get(MIGRATION_CONFIGURATION, "")
    try:
        return migration_of(text, divisible=True).unavailable
    except AnnotationError:
        return {}  # it is told where the object is placed


def _written_annotations(manifest: Manifest) -> Mapping[str, str]:
    """The object's annotations, public names for KubeAdmiral's; its internal twin of one wins (propagation spec 0)."""
    written = at(manifest.object, _ANNOTATIONS)
    if not isinstance(written, dict):
        return {}
    twins = {
        PREFIX + name.removeprefix(_INTERNAL_PREFIX): text
        for name, text in written.items()
        if name.startswith(_INTERNAL_PREFIX)
    }
    return written | twins if twins else written


def _request(manifest: Manifest) -> Amounts:
    try:
        return pod_request(manifest.key, manifest.object)
    except RequestError as error:
        raise UnitError(error.problem.what, where=manifest.locate(error.path)) from error


def _replicas(manifest: Manifest, path: Path | None) -> int:
    """The total to divide. Absent means 1 where the API server says so. Raises UnitError."""
    key = manifest.key
    if path is None:
        raise UnitError(
            f"schedulingMode Divide needs a replica count, and {key.kind} has none",
            where=manifest.location,
            hint="use Duplicate, or give its FederatedTypeConfig a pathDefinition.replicasSpec",
        )
    replicas = at(manifest.object, path)
    text = ".".join(str(step) for step in path)
    if replicas is None and workload_kind(key.group, key.kind) is not None:
        replicas = _DEFAULT_REPLICAS
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
        what = f"{text} is missing" if replicas is None else f"{text} is {replicas!r}, not an integer of at least 0"
        raise UnitError(what, where=manifest.locate(path))
    if (key.group, key.kind) == ("batch", "Job"):
        return _job_parallelism(manifest, replicas)
    return replicas


def _job_parallelism(manifest: Manifest, parallelism: int) -> int:
    """What to divide of a Job: not more than it has completions, so that no member gets pods without work."""
    if at(manifest.object, ("spec", "completionMode")) == "Indexed":
        raise UnitError(
            "an Indexed Job cannot be divided: every member would run the same indexes",
            where=manifest.locate(("spec", "completionMode")),
            hint="use Duplicate, with maxClusters: 1 to run it once",
        )
    completions = at(manifest.object, ("spec", "completions"))
    if not isinstance(completions, int) or isinstance(completions, bool):
        return parallelism
    if completions > 0 and parallelism < 1:
        raise UnitError(
            "completions can be divided only with a parallelism of at least 1",
            where=manifest.locate(("spec", "parallelism")),
        )
    return min(parallelism, completions)


def _replicas_text(manifest: Manifest, path: Path | None) -> str:
    replicas = None if path is None else at(manifest.object, path)
    if path is not None and replicas is None and workload_kind(manifest.key.group, manifest.key.kind) is not None:
        replicas = _DEFAULT_REPLICAS
    return "" if replicas is None else str(replicas)


def _forbidden(manifest: Manifest, annotation: str) -> Problem:
    return Problem(
        what=f"annotation {annotation} does not count",
        severity="warning",
        where=_where(manifest, annotation),
        object=str(manifest.key),
        why="the fleet sets allowPlacementAnnotations: false",
    )


def _wrong(manifest: Manifest, annotation: str, why: str) -> Problem:
    return Problem(
        what=f"annotation {annotation} cannot be read, so the policy decides",
        severity="warning",
        where=_where(manifest, annotation),
        object=str(manifest.key),
        why=why,
    )


def _where(manifest: Manifest, annotation: str) -> Location:
    return manifest.locate((*_ANNOTATIONS, annotation))
