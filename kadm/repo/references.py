"""Names in kadm.yaml and in policies that have to mean something else in the repository."""

from __future__ import annotations

from collections.abc import Iterator, Set

from kadm.errors import Problem
from kadm.model.fleet import Entry, Fleet
from kadm.model.objects import Path
from kadm.repo.decode import suggestion
from kadm.repo.documents import Document
from kadm.repo.headers import namespace_fault
from kadm.repo.policies import Policies


def namespace_problems(fleet: Fleet, document: Document) -> Iterator[Problem]:
    """Namespaces in kadm.yaml that no API server would take."""
    named: list[tuple[Path, str]] = [(("spec", "namespace"), fleet.spec.namespace)]
    for index, entry in enumerate(fleet.spec.manifests):
        if isinstance(entry, Entry) and entry.namespace:
            named.append((("spec", "manifests", index, "namespace"), entry.namespace))
    for path, name in named:
        if fault := namespace_fault(name):
            yield Problem(what=f'"{name}" cannot name a namespace', where=document.locate(path), hint=fault)


def reference_problems(fleet: Fleet, document: Document, members: Set[str], policies: Policies) -> Iterator[Problem]:
    """What names a member, profile or webhook that the repository does not hold.

    A member may be gone on purpose while policies still name it, so that is a warning; a missing profile or webhook
    would leave objects unscheduled.
    """
    if not members:
        what = "the fleet has no members"
        yield Problem(what=what, where=document.location, hint="kadm join NAME adds one", severity="warning")
        return
    for index, wave in enumerate(fleet.spec.rollout.waves):
        for number, name in enumerate(wave.clusters):
            yield from _member(name, document, ("spec", "rollout", "waves", index, "clusters", number), members)
    for key, propagation in sorted(policies.propagation.items()):
        where = policies.documents[key.kind, key.namespace, key.name]
        for index, placement in enumerate(propagation.spec.placement):
            yield from _member(placement.cluster, where, ("spec", "placement", index, "cluster"), members)
    for key, override in sorted(policies.override.items()):
        where = policies.documents[key.kind, key.namespace, key.name]
        for index, rule in enumerate(override.spec.override_rules):
            for number, name in enumerate(rule.target_clusters.clusters if rule.target_clusters else ()):
                path: Path = ("spec", "overrideRules", index, "targetClusters", "clusters", number)
                yield from _member(name, where, path, members)


def profile_problems(policies: Policies) -> Iterator[Problem]:
    """Scheduling profiles and webhooks that are named and do not exist."""
    for key, propagation in sorted(policies.propagation.items()):
        name = propagation.spec.scheduling_profile
        if name and name not in policies.profiles:
            where = policies.documents[key.kind, key.namespace, key.name].locate(("spec", "schedulingProfile"))
            hint = suggestion(name, sorted(policies.profiles))
            yield Problem(what=f"there is no SchedulingProfile {name}", where=where, hint=hint)
    for name, profile in sorted(policies.profiles.items()):
        document = policies.documents["SchedulingProfile", "", name]
        for point in ("filter", "score", "select"):
            for index, plugin in enumerate(getattr(profile.spec.plugins, point).enabled):
                if plugin.type == "Webhook" and plugin.name not in policies.webhooks:
                    where = document.locate(("spec", "plugins", point, "enabled", index, "name"))
                    what = f"there is no SchedulerPluginWebhookConfiguration {plugin.name}"
                    yield Problem(what=what, where=where, hint=suggestion(plugin.name, sorted(policies.webhooks)))


def _member(name: str, document: Document, path: Path, members: Set[str]) -> Iterator[Problem]:
    if name not in members:
        hint = suggestion(name, sorted(members))
        where = document.locate(path)
        yield Problem(what=f"no member is called {name}", where=where, hint=hint, severity="warning")
