"""A request as the API reads it: what it asks of which resource, with which options.

``parse_target`` reads a path as Kubernetes' request info does; it knows no kinds, so it also reads paths of kinds that
are not served: authorization comes before the 404.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from kadm.sandbox.responses import ApiError, Cause, bad_request, invalid_options

FieldValidation = Literal["Strict", "Warn", "Ignore"]


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a path names. ``resource`` is empty for paths that name none (``/version``, ``/apis/apps``).

    ``depth`` counts the parts behind ``/api/V`` or ``/apis/G/V`` where the path has no resource; see ``parse_target``.
    """

    path: str
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False

    def verb(self, method: str, query: Mapping[str, str]) -> str:
        """The verb that authorization knows: ``list``, ``deletecollection``; the method itself off resources."""
        if not self.resource:
            return method.lower()
        match method:
            case "GET" | "HEAD":
                if self.watch or (not self.name and is_true(query.get("watch"))):
                    return "watch"
                return "get" if self.name else "list"
            case "POST":
                return "create"
            case "PUT":
                return "update"
            case "PATCH":
                return "patch"
            case "DELETE":
                return "delete" if self.name else "deletecollection"
            case _:
                return method.lower()


_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


def parse_target(path: str) -> Target:
    """What ``path`` names; a path outside ``/api`` and ``/apis`` has no resource."""
    parts = [part for part in path.split("/") if part]
    if len(parts) >= 3 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return Target(path=path)
    watch = rest[0] == "watch"
    if watch:
        rest = rest[1:]
    namespace = ""
    if len(rest) >= 2 and rest[0] == "namespaces":
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    if not rest:
        return Target(path=path)
    return Target(
        path=path,
        group=group,
        version=version,
        resource=rest[0],
        namespace=namespace,
        name=rest[1] if len(rest) > 1 else "",
        subresource="/".join(rest[2:]),
        watch=watch,
    )


class WriteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a write is meant. ``force`` is for apply only; ``username`` is who asks."""

    manager: str
    username: str = "kubernetes-admin"
    dry_run: bool = False
    field_validation: FieldValidation = "Warn"
    force: bool = False


class DeleteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a deletion is meant. None stands for "not said"."""

    dry_run: bool = False
    grace_period_s: int | None = None
    propagation: Literal["Foreground", "Background", "Orphan"] | None = None
    uid: str | None = None
    resource_version: str | None = None


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a list or a watch is meant. ``limit`` 0 is no limit, ``resource_version`` "" is "the latest"."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    match: str = ""
    watch: bool = False
    timeout_s: int | None = None
    bookmarks: bool = False
    send_initial_events: bool = False


def is_true(text: str | None) -> bool:
    """Whether a query's boolean is set: any value but ``0`` and ``false``, also the empty one."""
    return text is not None and text.lower() not in ("0", "false")


def _dry_run(kind: str, values: list[str]) -> tuple[bool, list[Cause]]:
    if values and values != ["All"] * len(values):
        shown = "[" + ",".join(f'"{value}"' for value in values) + "]"
        return False, [
            Cause("FieldValueNotSupported", f'Unsupported value: {shown}: supported values: "All"', "dryRun")
        ]
    return bool(values), []


def default_manager(user_agent: str) -> str:
    """The field manager of a request that names none: the User-Agent up to its first slash."""
    return user_agent.split("/", 1)[0][:128]


OptionsKind = Literal["CreateOptions", "UpdateOptions", "PatchOptions"]


def write_options(
    kind: OptionsKind,
    query: Mapping[str, str],
    *,
    user_agent: str,
    username: str,
    dry_run: list[str],
    applies: bool = False,
) -> WriteOptions:
    """The options of a POST, PUT or PATCH. Raises ApiError 422 with all faults."""
    dry, causes = _dry_run(kind, dry_run)
    manager = query.get("fieldManager", "")
    force = query.get("force")
    if kind == "PatchOptions":
        if applies:
            if not manager:
                causes.append(
                    Cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager")
                )
        elif force is not None:
            causes.append(Cause("FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force"))
    if len(manager.encode()) > 128:
        causes.append(Cause("FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"))
    elif not manager.isprintable():
        causes.append(
            Cause(
                "FieldValueInvalid",
                f'Invalid value: "{manager}": should only contain printable characters',
                "fieldManager",
            )
        )
    validation = query.get("fieldValidation", "")
    if validation not in ("", "Ignore", "Strict", "Warn"):
        causes.append(
            Cause(
                "FieldValueNotSupported",
                f'Unsupported value: "{validation}": supported values: "", "Ignore", "Strict", "Warn"',
                "fieldValidation",
            )
        )
    if causes:
        raise invalid_options(kind, causes)
    checked: FieldValidation = "Strict" if validation == "Strict" else "Ignore" if validation == "Ignore" else "Warn"
    return WriteOptions(
        manager=manager or default_manager(user_agent),
        username=username,
        dry_run=dry,
        field_validation=checked,
        force=is_true(force),
    )


def _integer(query: Mapping[str, str], key: str) -> int | None:
    text = query.get(key)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def list_options(query: Mapping[str, str], *, watch: bool = False) -> ListOptions:
    """The options of a list or watch. Raises ApiError 400 or 422."""
    options = ListOptions(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        limit=max(_integer(query, "limit") or 0, 0),
        continue_token=query.get("continue", ""),
        resource_version=query.get("resourceVersion", ""),
        match=query.get("resourceVersionMatch", ""),
        watch=watch or is_true(query.get("watch")),
        timeout_s=_integer(query, "timeoutSeconds"),
        bookmarks=is_true(query.get("allowWatchBookmarks")),
        send_initial_events=is_true(query.get("sendInitialEvents")),
    )
    causes = _watch_faults(options, query) if options.watch else _list_faults(options, query)
    if causes:
        raise invalid_options("ListOptions", causes)
    return options


def _forbidden_match(why: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {why}", "resourceVersionMatch")


def _watch_faults(options: ListOptions, query: Mapping[str, str]) -> list[Cause]:
    if "sendInitialEvents" not in query:
        if options.match:
            return [
                _forbidden_match("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
            ]
        return []
    causes = []
    if options.match != "NotOlderThan":
        causes.append(_forbidden_match("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
        if options.match:
            text = f'Unsupported value: "{options.match}": supported values: "NotOlderThan"'
            causes.append(Cause("FieldValueNotSupported", text, "resourceVersionMatch"))
    return causes


def _list_faults(options: ListOptions, query: Mapping[str, str]) -> list[Cause]:
    if "sendInitialEvents" in query:
        return [Cause("FieldValueForbidden", "Forbidden: sendInitialEvents is forbidden for list", "sendInitialEvents")]
    if not options.match:
        return []
    if not options.resource_version:
        return [_forbidden_match("resourceVersionMatch is forbidden unless resourceVersion is provided")]
    if options.continue_token:
        return [_forbidden_match("resourceVersionMatch is forbidden when continue is provided")]
    if options.match not in ("Exact", "NotOlderThan"):
        text = f'Unsupported value: "{options.match}": supported values: "Exact", "NotOlderThan", ""'
        return [Cause("FieldValueNotSupported", text, "resourceVersionMatch")]
    if options.match == "Exact" and options.resource_version == "0":
        return [_forbidden_match('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]
    return []


def delete_options(query: Mapping[str, str], *, dry_run: list[str], body: object) -> DeleteOptions:
    """The options of a DELETE, from its body or, where there is none, its query. Raises ApiError 400 or 422."""
    if isinstance(body, dict) and body:
        kind = body.get("kind", "DeleteOptions")
        if kind != "DeleteOptions":
            version = body.get("apiVersion", "v1")
            raise bad_request(
                f'no kind "{kind}" is registered for version "{version}" in scheme '
                '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'
            )
        dry_values = [str(value) for value in body.get("dryRun") or ()] or dry_run
        preconditions = body.get("preconditions") or {}
        grace = body.get("gracePeriodSeconds")
        propagation = body.get("propagationPolicy")
        orphan = body.get("orphanDependents")
    else:
        dry_values, preconditions = dry_run, {}
        grace = _integer(query, "gracePeriodSeconds")
        propagation = query.get("propagationPolicy")
        orphan = is_true(query["orphanDependents"]) if "orphanDependents" in query else None
    dry, causes = _dry_run("DeleteOptions", dry_values)
    if propagation is None and orphan is not None:
        propagation = "Orphan" if orphan else "Background"
    if propagation not in (None, "Foreground", "Background", "Orphan"):
        text = f'Unsupported value: "{propagation}": supported values: "Foreground", "Background", "Orphan", "nil"'
        causes.append(Cause("FieldValueNotSupported", text, "propagationPolicy"))
    if causes:
        raise invalid_options("DeleteOptions", causes)
    if grace is not None and (not isinstance(grace, int) or isinstance(grace, bool)):
        raise ApiError(400, "BadRequest", "json: cannot unmarshal into DeleteOptions.gracePeriodSeconds of type int64")
    return DeleteOptions(
        dry_run=dry,
        grace_period_s=grace,
        propagation=propagation,
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
    )
