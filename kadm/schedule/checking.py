"""What can be said of scheduling without asking any member or webhook: of profiles, and of what objects ask for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from kadm.errors import Problem
from kadm.model.observation import Observation
from kadm.model.repository import Repo
from kadm.model.webhook import WebhookCall, WebhookReply
from kadm.schedule.profile import ProfileError, profile_of
from kadm.schedule.registry import PLUGINS
from kadm.schedule.unit_reader import UnitError, UnitReader, told_of
from kadm.schedule.webhooks import plugins_of


class _NobodyThere:
    """Stands for the transport where nothing is called."""

    def call_many(self, calls: Sequence[WebhookCall]) -> Sequence[WebhookReply]:
        return [WebhookReply(failure="nothing is called") for _ in calls]

    def fault(self, hook: str) -> str:
        return ""


def profile_problems(repo: Repo) -> tuple[Problem, ...]:
    """Profiles that cannot run, and webhooks that no profile reaches by their names alone; sorted by name."""
    plugins = plugins_of(repo, Observation({}), _NobodyThere())
    found = []
    for _, profile in sorted(repo.profiles.items()):
        try:
            profile_of(profile, plugins, katalyst=repo.fleet.spec.katalyst)
        except ProfileError as error:
            found.append(error.problem)
    for name, webhook in sorted(repo.webhooks.items()):
        if name in PLUGINS:
            what = f"webhook plugin {name} has the name of one of kadm's own plugins"
            hint = "rename it; until then a profile reaches it only with `type: Webhook`"
            found.append(Problem(what=what, severity="warning", where=webhook.location, hint=hint))
    return tuple(found)


def unit_problems(repo: Repo) -> tuple[Problem, ...]:
    """What a plan would say of each object that its policy cannot place as it is written, by object."""
    any_time = datetime.min.replace(tzinfo=UTC)  # when evictions end is no problem
    reader = UnitReader(repo, now=any_time, learned={})
    found: list[Problem] = []
    for manifest in repo.manifests:
        ref = manifest.propagation
        policy = repo.propagation_policies.get(ref.policy) if ref is not None else None
        if policy is None:
            continue
        try:
            found += reader.read(manifest, policy, {}).problems
        except UnitError as error:
            found.append(told_of(manifest, error.problem))
    return tuple(found)
