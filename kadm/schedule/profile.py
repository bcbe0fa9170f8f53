"""Which plugins run, with which arguments and weights (scheduling spec 3.3; design, section 12, row 10)."""

# mypy: disable-error-code="type-abstract"
# The extension points are protocols, and what a plugin is gets checked against them at run time.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Struct

from kadm.errors import KadmError
from kadm.model.policy import NamedPlugin, PluginSet, ReplicasStrategy, SchedulingProfile, SchedulingProfileSpec
from kadm.schedule.framework import FilterPlugin, Plugin, ReplicaPlugin, ScorePlugin, SelectPlugin
from kadm.schedule.registry import DEFAULT_FILTERS, DEFAULT_SCORES, DEFAULT_SELECTS, PLUGINS, REPLICAS

P_co = TypeVar("P_co", covariant=True)

_ALL = "*"


class ProfileError(KadmError):
    """A profile names what cannot run: nothing that uses it is scheduled."""


@dataclass(frozen=True, slots=True)
class Enabled(Generic[P_co]):
    """A plugin in use: its name, and the factor of its scores."""

    name: str
    plugin: P_co
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """The plugins of each extension point, in order.

    ``per_unit``: some plugin comes from outside, and may answer differently for two units with the same rules.
    """

    filters: tuple[Enabled[FilterPlugin], ...]
    scores: tuple[Enabled[ScorePlugin], ...]
    selects: tuple[Enabled[SelectPlugin], ...]
    replicas: Mapping[ReplicasStrategy, Enabled[ReplicaPlugin]]
    per_unit: bool = False


@dataclass(frozen=True, slots=True)
class Plugins:
    """Where plugins come from: ``types`` are kadm's own, ``outside`` are instances from elsewhere (webhooks), by name.

    An own plugin wins over one of the same name from outside.
    """

    types: Mapping[str, type[Struct]] = field(default_factory=lambda: PLUGINS)
    outside: Mapping[str, Plugin] = field(default_factory=dict)


def profile_of(profile: SchedulingProfile | None, plugins: Plugins) -> Profile:
    """The plugins that ``profile`` asks for; None asks for the defaults.

    Per extension point: the defaults less the disabled ones (``*``: all), then the enabled ones. Raises ProfileError.
    """
    spec = profile.spec if profile else SchedulingProfileSpec()
    where = profile.location if profile else None
    source = _Source(plugins, {config.name: config.args for config in spec.plugin_config})
    try:
        for config in spec.plugin_config:
            source.make(config.name)
        filters = source.at("filter", FilterPlugin, DEFAULT_FILTERS, spec.plugins.filter)
        scores = source.at("score", ScorePlugin, DEFAULT_SCORES, spec.plugins.score)
        selects = source.at("select", SelectPlugin, DEFAULT_SELECTS, spec.plugins.select)
        replicas = {
            strategy: source.at("replicas", ReplicaPlugin, (name,), PluginSet())[0]
            for strategy, name in REPLICAS.items()
        }
    except ProfileError as error:
        if profile is None:
            raise
        raise ProfileError(f"profile {profile.name}: {error.problem.what}", where=where) from error
    used = {entry.name for entry in (*filters, *scores, *selects)}
    return Profile(
        filters=filters,
        scores=scores,
        selects=selects,
        replicas=replicas,
        per_unit=not used <= plugins.types.keys(),
    )


@dataclass(frozen=True, slots=True)
class _Source:
    plugins: Plugins
    args: Mapping[str, Any]

    def at(
        self, point: str, kind: type[P_co], defaults: Sequence[str], changes: PluginSet
    ) -> tuple[Enabled[P_co], ...]:
        """The plugins of one extension point."""
        disabled = {plugin.name for plugin in changes.disabled}
        kept = [NamedPlugin(name) for name in defaults if name not in disabled and _ALL not in disabled]
        found: dict[str, Enabled[P_co]] = {}
        for named in (*kept, *changes.enabled):
            if named.name in found:
                raise ProfileError(f"{point} plugin {named.name} is enabled twice; disable the default one first")
            plugin = self.make(named.name)
            if not isinstance(plugin, kind):
                raise ProfileError(f"plugin {named.name} is no {point} plugin")
            found[named.name] = Enabled(named.name, plugin, _weight(named))
        return tuple(found.values())

    def make(self, name: str) -> object:
        """The plugin of this name, with its arguments."""
        known = self.plugins.types.get(name)
        if known is None:
            if name in self.plugins.outside:
                return self.plugins.outside[name]
            raise ProfileError(f"there is no plugin {name}")
        try:
            return msgspec.convert(self.args.get(name) or {}, known)
        except msgspec.ValidationError as error:
            raise ProfileError(f"arguments of plugin {name}: {error}") from error


def _weight(named: NamedPlugin) -> int:
    """``weight``, or ``wait`` as upstream spells it; 1 where neither is set."""
    if named.weight is not UNSET:
        return named.weight
    return named.wait if named.wait is not UNSET else 1
