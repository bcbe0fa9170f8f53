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
    """Names of members."""
    cluster_selector: dict[str, str] = {}
    """Labels that a member must have, all of them."""
    cluster_affinity: tuple[SelectorTerm, ...] = ()
    """Terms of which a member must match one."""


class ImageOperation(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One change of one part of an image reference."""

    image_component: Literal["Registry", "Repository", "Tag", "Digest"]
    """The part of the image's name that changes."""
    operator: Literal["addIfAbsent", "overwrite", "delete"] = "overwrite"
    """overwrite sets the part, addIfAbsent fails where it is there, delete takes it away."""
    value: str = ""
    """What the part becomes."""


class ImageOverrider(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Changes of images: of named containers, of all (empty ``container_names``), or at ``image_path``."""

    container_names: tuple[str, ...] = ()
    """Only these containers; empty: all of them."""
    image_path: str = ""
    """Path of another field that holds an image, e.g. /spec/image."""
    operations: tuple[ImageOperation, ...] = ()
    """Changes of parts of the name, in order."""


class EntrypointOverrider(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Changes of a container's command or args; ``operator`` defaults to overwrite (design, section 12, row 13)."""

    container_name: str
    """The container."""
    operator: Literal["append", "overwrite", "delete"] = "overwrite"
    """append adds words, overwrite replaces all, delete takes these words away."""
    value: tuple[str, ...] = ()
    """Words."""


class EnvOverrider(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Changes of a container's environment; ``value`` holds core/v1 EnvVar objects."""

    container_name: str
    """The container."""
    operator: Operator = "overwrite"
    """overwrite changes what is there, addIfAbsent fails where it is, upsert does either, delete takes away."""
    value: tuple[dict[str, Any], ...] = ()
    """Variables, as a container has them."""


class StringMapOverrider(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of the object's own labels or annotations."""

    operator: Operator = "overwrite"
    """overwrite changes what is there, addIfAbsent fails where it is, upsert does either, delete takes away."""
    value: dict[str, str] = {}
    """Keys and values."""


class JSONPatchOverrider(Struct, frozen=True, forbid_unknown_fields=True):
    """One RFC 6902 operation; an absent ``value`` means null (1.8)."""

    path: str
    """JSON pointer of the field, e.g. /spec/replicas."""
    operator: Literal["add", "remove", "replace", "test"] = "replace"
    """The operation."""
    value: Any | UnsetType = UNSET
    """What the field becomes; absent for remove."""


class Overriders(Struct, frozen=True, forbid_unknown_fields=True):
    """The changes of a rule, applied in the order of these fields whatever order they are written in (1.3)."""

    image: tuple[ImageOverrider, ...] = ()
    """Changes of images."""
    command: tuple[EntrypointOverrider, ...] = ()
    """Changes of containers' commands."""
    args: tuple[EntrypointOverrider, ...] = ()
    """Changes of containers' arguments."""
    envs: tuple[EnvOverrider, ...] = ()
    """Changes of containers' environments."""
    annotations: tuple[StringMapOverrider, ...] = ()
    """Changes of the object's annotations."""
    labels: tuple[StringMapOverrider, ...] = ()
    """Changes of the object's labels."""
    jsonpatch: tuple[JSONPatchOverrider, ...] = ()
    """Operations on any field; they come last."""


class OverrideRule(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Members, and what changes there. None of ``target_clusters`` means all members."""

    target_clusters: TargetClusters | None = None
    """In which members; absent: in all of them."""
    overriders: Overriders | None = None
    """What changes there."""


class OverridePolicySpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Rules, in the order in which they apply."""

    override_rules: tuple[OverrideRule, ...] = ()
    """Rules; each sees what the one before it made."""


class OverridePolicy(Struct, frozen=True, kw_only=True):
    """An OverridePolicy or ClusterOverridePolicy of the repository.

    ``rule_locations`` has one entry per rule of ``spec.override_rules``, in order.
    """

    key: PolicyKey
    spec: OverridePolicySpec
    location: Location
    rule_locations: tuple[Location, ...] = ()
