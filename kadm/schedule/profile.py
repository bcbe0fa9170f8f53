"""Which plugins run, with which arguments and weights (scheduling spec 3.3; design, section 12, row 10)."""

# mypy: disable-error-code="type-abstract"
# The extension points are protocols, and what a plugin is gets checked against them at run time.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Struct

from kadm.errors import KadmError, Location
from kadm.model.policy import NamedPlugin, PluginSet, ReplicasStrategy, SchedulingProfile, SchedulingProfileSpec
from kadm.schedule.framework import FilterPlugin, Plugin, ReadsPodRequests, ReplicaPlugin, ScorePlugin, SelectPlugin
from kadm.schedule.registry import DEFAULT_FILTERS, DEFAULT_SCORES, DEFAULT_SELECTS, KATALYST_FILTERS, PLUGINS, REPLICAS
from kadm.schedule.webhook import WebhookPlugin

P_co = TypeVar("P_co", covariant=True)

_ALL = "*"
_CONFIG = "pluginConfig"
_POINTS: Mapping[str, type] = {"filter": FilterPlugin, "score": ScorePlugin, "select": SelectPlugin}


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
    places = profile.places if profile else {}
    source = _Source(plugins, {config.name: config.args for config in spec.plugin_config}, places)
    try:
        for config in spec.plugin_config:
            source.configured(config.name)
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
        what, where = f"profile {profile.name}: {error.problem.what}", error.problem.where or profile.location
        raise ProfileError(what, where=where, hint=error.problem.hint) from error
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
    places: Mapping[tuple[str, str], Location] = field(default_factory=dict)

    def at(
        self, point: str, kind: type[P_co], defaults: Sequence[str], changes: PluginSet
    ) -> tuple[Enabled[P_co], ...]:
        """The plugins of one extension point."""
        disabled = {plugin.name for plugin in changes.disabled}
        kept = [NamedPlugin(name) for name in defaults if name not in disabled and _ALL not in disabled]
        found: dict[str, Enabled[P_co]] = {}
        for named in (*kept, *changes.enabled):
            if named.name in found:
                what = f"{point} plugin {named.name} is enabled twice; disable the default one first"
                raise ProfileError(what, where=self.places.get((point, named.name)))
            outside = named.type == "Webhook" or named.name not in self.plugins.types
            plugin = self.outside(named.name, point) if outside else self.own(named.name)
            if not isinstance(plugin, kind):
                raise self._fault(f"plugin {named.name} is no {point} plugin", point, named.name)
            found[named.name] = Enabled(named.name, plugin, _weight(named), outside)
        return tuple(found.values())

    def configured(self, name: str) -> None:
        """Raise ProfileError where no plugin takes the arguments of this name."""
        if name not in self.plugins.types:
            hint = f"known here: {', '.join(self.plugins.types)}"
            where = self.places.get((_CONFIG, name))
            raise ProfileError(f"there is no plugin {name} that takes arguments", where=where, hint=hint)
        self.own(name)

    def own(self, name: str) -> object:
        """kadm's own plugin of this name, with its arguments."""
        try:
            return msgspec.convert(self.args.get(name) or {}, self.plugins.types[name])
        except msgspec.ValidationError as error:
            where = self.places.get((_CONFIG, name))
            raise ProfileError(f"arguments of plugin {name}: {error}", where=where) from error

    def outside(self, name: str, point: str) -> object:
        """The plugin of this name that comes from elsewhere."""
        if name in self.plugins.unusable:
            what = f"webhook plugin {name} cannot be used: {self.plugins.unusable[name]}"
            raise ProfileError(what, where=self.places.get((point, name)))
        if name not in self.plugins.outside:
            raise self._fault(f"there is no plugin {name}", point, name)
        plugin = self.plugins.outside[name]
        if isinstance(plugin, WebhookPlugin) and not plugin.serves(point):
            what = f"webhook plugin {name} is no {point} plugin: its {point}Path is empty"
            raise ProfileError(what, where=self.places.get((point, name)))
        return plugin

    def _fault(self, what: str, point: str, name: str) -> ProfileError:
        """An error that says which plugins there are."""
        kind = _POINTS[point]
        known = [plugin for plugin, own in self.plugins.types.items() if issubclass(own, kind)]
        hint = f"known here: {', '.join([*known, *sorted(self.plugins.outside)])}"
        return ProfileError(what, where=self.places.get((point, name)), hint=hint)


def _weight(named: NamedPlugin) -> int:
    """``weight``, or ``wait`` as upstream spells it; 1 where neither is set."""
    if named.weight is not UNSET:
        return named.weight
    return named.wait if named.wait is not UNSET else 1
