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
from kadm.schedule.framework import FilterPlugin, Plugin, ReadsPodRequests, ReplicaPlugin, ScorePlugin, SelectPlugin
from kadm.schedule.registry import DEFAULT_FILTERS, DEFAULT_SCORES, DEFAULT_SELECTS, KATALYST_FILTERS, PLUGINS, REPLICAS
from kadm.schedule.webhook import WebhookPlugin

P_co = TypeVar("P_co", covariant=True)

_ALL = "*"


class ProfileError(KadmError):
    """A profile names what cannot run: nothing that uses it is scheduled."""


@dataclass(frozen=True, slots=True)
class Enabled(Generic[P_co]):
    """A plugin in use: its name, and the factor of its scores. ``outside``: it is not one of kadm's own."""

    name: str
    plugin: P_co
    weight: int = 1
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """The plugins of each extension point, in order.

    ``per_unit``: some plugin comes from outside, and may answer differently for two units with the same rules.
    ``per_pod_request``: some filter or score tells units apart by all that their pods ask for.
    """

    filters: tuple[Enabled[FilterPlugin], ...]
    scores: tuple[Enabled[ScorePlugin], ...]
    selects: tuple[Enabled[SelectPlugin], ...]
    replicas: Mapping[ReplicasStrategy, Enabled[ReplicaPlugin]]
    per_unit: bool = False
    per_pod_request: bool = False


@dataclass(frozen=True, slots=True)
class Plugins:
    """Where plugins come from: ``types`` are kadm's own, ``outside`` are instances from elsewhere (webhooks), by name.

    ``unusable`` are those from elsewhere that cannot be called, with why. An own plugin wins over one of the same name
    from outside, unless the profile says ``type: Webhook``.
    """

    types: Mapping[str, type[Struct]] = field(default_factory=lambda: PLUGINS)
    outside: Mapping[str, Plugin] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)


def profile_of(profile: SchedulingProfile | None, plugins: Plugins, *, katalyst: bool = False) -> Profile:
    """The plugins that ``profile`` asks for; None asks for the defaults. ``katalyst`` adds its filter to them.

    Per extension point: the defaults less the disabled ones (``*``: all), then the enabled ones. Raises ProfileError.
    """
    spec = profile.spec if profile else SchedulingProfileSpec()
    where = profile.location if profile else None
    source = _Source(plugins, {config.name: config.args for config in spec.plugin_config})
    try:
        for config in spec.plugin_config:
            if config.name not in plugins.types:
                raise ProfileError(f"there is no plugin {config.name} that takes arguments")
            source.own(config.name)
        default_filters = KATALYST_FILTERS if katalyst else DEFAULT_FILTERS
        filters = source.at("filter", FilterPlugin, default_filters, spec.plugins.filter)
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
    judging = [entry.plugin for entry in (*filters, *scores)]
    return Profile(
        filters=filters,
        scores=scores,
        selects=selects,
        replicas=replicas,
        per_unit=any(entry.outside for entry in (*filters, *scores, *selects)),
        per_pod_request=any(isinstance(plugin, ReadsPodRequests) and plugin.pod_requests for plugin in judging),
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
            outside = named.type == "Webhook" or named.name not in self.plugins.types
            plugin = self.outside(named.name, point) if outside else self.own(named.name)
            if not isinstance(plugin, kind):
                raise ProfileError(f"plugin {named.name} is no {point} plugin")
            found[named.name] = Enabled(named.name, plugin, _weight(named), outside)
        return tuple(found.values())

    def own(self, name: str) -> object:
        """kadm's own plugin of this name, with its arguments."""
        try:
            return msgspec.convert(self.args.get(name) or {}, self.plugins.types[name])
        except msgspec.ValidationError as error:
            raise ProfileError(f"arguments of plugin {name}: {error}") from error

    def outside(self, name: str, point: str) -> object:
        """The plugin of this name that comes from elsewhere."""
        if name in self.plugins.unusable:
            raise ProfileError(f"webhook plugin {name} cannot be used: {self.plugins.unusable[name]}")
        if name not in self.plugins.outside:
            raise ProfileError(f"there is no plugin {name}")
        plugin = self.plugins.outside[name]
        if isinstance(plugin, WebhookPlugin) and not plugin.serves(point):
            raise ProfileError(f"webhook plugin {name} is no {point} plugin: its {point}Path is empty")
        return plugin


def _weight(named: NamedPlugin) -> int:
    """``weight``, or ``wait`` as upstream spells it; 1 where neither is set."""
    if named.weight is not UNSET:
        return named.weight
    return named.wait if named.wait is not UNSET else 1
