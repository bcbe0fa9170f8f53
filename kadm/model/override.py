"""KubeAdmiral's override policies (propagation spec, section 1): which fields differ in which member."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from kadm.errors import Location
from kadm.model.policy import PolicyKey, SelectorTerm

Operator = Literal["addIfAbsent", "overwrite", "delete", "upsert"]


class TargetClusters(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Which members a rule hits: all three criteria must hold, an empty one always does (1.2)."""

    clusters: tuple[str, ...] = ()
    cluster_selector: dict[str, str] = {}
    cluster_affinity: tuple[SelectorTerm, ...] = ()


class ImageOperation(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One change of one part of an image reference."""

    image_component: Literal["Registry", "Repository", "Tag", "Digest"]
    operator: Literal["addIfAbsent", "overwrite", "delete"] = "overwrite"
    value: str = ""


class ImageOverrider(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Changes of images: of named containers, of all (empty ``container_names``), or at ``image_path``."""

    container_names: tuple[str, ...] = ()
    image_path: str = ""
    operations: tuple[ImageOperation, ...] = ()


class EntrypointOverrider(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Changes of a container's command or args; ``operator`` defaults to overwrite (design, section 12, row 13)."""

    container_name: str
    operator: Literal["append", "overwrite", "delete"] = "overwrite"
    value: tuple[str, ...] = ()


class EnvOverrider(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Changes of a container's environment; ``value`` holds core/v1 EnvVar objects."""

    container_name: str
    operator: Operator = "overwrite"
    value: tuple[dict[str, Any], ...] = ()


class StringMapOverrider(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of the object's own labels or annotations."""

    operator: Operator = "overwrite"
    value: dict[str, str] = {}


class JSONPatchOverrider(Struct, frozen=True, forbid_unknown_fields=True):
    """One RFC 6902 operation; an absent ``value`` means null (1.8)."""

    path: str
    operator: Literal["add", "remove", "replace", "test"] = "replace"
    value: Any | UnsetType = UNSET


class Overriders(Struct, frozen=True, forbid_unknown_fields=True):
    """The changes of a rule, applied in the order of these fields whatever order they are written in (1.3)."""

    image: tuple[ImageOverrider, ...] = ()
    command: tuple[EntrypointOverrider, ...] = ()
    args: tuple[EntrypointOverrider, ...] = ()
    envs: tuple[EnvOverrider, ...] = ()
    annotations: tuple[StringMapOverrider, ...] = ()
    labels: tuple[StringMapOverrider, ...] = ()
    jsonpatch: tuple[JSONPatchOverrider, ...] = ()


class OverrideRule(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Members, and what changes there. None of ``target_clusters`` means all members."""

    target_clusters: TargetClusters | None = None
    overriders: Overriders | None = None


class OverridePolicySpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Rules, in the order in which they apply."""

    override_rules: tuple[OverrideRule, ...] = ()


class OverridePolicy(Struct, frozen=True, kw_only=True):
    """An OverridePolicy or ClusterOverridePolicy of the repository.

    ``rule_locations`` has one entry per rule of ``spec.override_rules``, in order.
    """

    key: PolicyKey
    spec: OverridePolicySpec
    location: Location
    rule_locations: tuple[Location, ...] = ()
