"""The pod spec that image, command, args and env overriders work on."""

from __future__ import annotations

from collections.abc import Iterator

from kadm.model.objects import JsonObject, Path, at, gvk_of
from kadm.model.workload import workload_kind
from kadm.overrides.error import OverrideError

CONTAINER_LISTS = ("initContainers", "containers")
"""In the order in which a container's name is looked up; ephemeral containers are never touched."""


def containers(obj: JsonObject) -> Iterator[tuple[Path, JsonObject]]:
    """Path and object of every container, init containers first.

    Raises OverrideError for a kind without pod spec, and where an earlier rule left what is no list of containers.
    """
    gvk = gvk_of(obj)
    kind = workload_kind(gvk.group, gvk.kind)
    if kind is None or not kind.leads:  # the kinds that lead are those that KubeAdmiral knows a pod spec of (2.2)
        raise OverrideError(f"{gvk.kind} has no pod spec that overrides know")
    for name in CONTAINER_LISTS:
        path = (*kind.pod_spec_path, name)
        found = at(obj, path)
        if found is not None and not (isinstance(found, list) and all(isinstance(one, dict) for one in found)):
            raise OverrideError(f"{'.'.join(map(str, path))} is no list of containers")
        for index, container in enumerate(found or ()):
            yield (*path, index), container


def container_named(obj: JsonObject, name: str) -> tuple[Path, JsonObject] | None:
    """The first container of this name, or None."""
    return next(((path, container) for path, container in containers(obj) if container.get("name") == name), None)
