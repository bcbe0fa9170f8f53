"""Lists: selection, pages, and lists of an earlier resourceVersion.

A page's continue token holds the version of the first page and the key that the next one starts after, so that all
pages are of one version. It is opaque to clients.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import msgspec

from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.requests import ListOptions
from kadm.sandbox.responses import ApiError, bad_request, expired, version_too_large
from kadm.sandbox.selectors import EVERYTHING, Selector, parse_fields, parse_labels
from kadm.sandbox.served import resource_name
from kadm.sandbox.store import Expired, Object, Store, object_key

CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter."
)

LIST_EXPIRED = "The resourceVersion for the provided list is too old."


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Part of a list. ``items`` are stored objects; ``remaining`` None means "not counted"."""

    items: list[Object]
    revision: int
    continue_token: str = ""
    remaining: int | None = None


def selector_of(kind: ResourceKind, options: ListOptions) -> Selector:
    """The selector that a list's options ask for. Raises ApiError 400."""
    if not options.label_selector and not options.field_selector:
        return EVERYTHING
    custom = kind.custom
    fields = parse_fields(
        options.field_selector,
        kind.group_resource,
        custom=custom is not None,
        selectable=custom.selectable_fields if custom else (),
    )
    return Selector(parse_labels(options.label_selector), fields)


def parse_version(text: str) -> int:
    """A resourceVersion as a number; "" is 0. Raises ValueError."""
    if not text:
        return 0
    if not text.isdigit():
        raise ValueError(text)
    return int(text)


def page(
    store: Store, kind: ResourceKind, namespace: str, options: ListOptions, convert: Callable[[Object], Object]
) -> Page:
    """The part of a list that ``options`` ask for; selectors see objects as ``convert`` gives them.

    Raises ApiError 400, 410 or 504.
    """
    resource = resource_name(kind)
    selector = selector_of(kind, options)
    after = ""
    try:
        version = parse_version(options.resource_version)
    except ValueError:
        raise _bad_version(options.resource_version) from None
    if options.continue_token:
        if options.resource_version and options.resource_version != "0":
            raise bad_request("specifying resource version is not allowed when using continue")
        version, after = _decode_continue(options.continue_token)
        exact = version > 0
    else:
        exact = options.match == "Exact" or (options.match == "" and options.limit > 0 and version > 0)
    if version > store.revision:
        raise version_too_large(str(version), store.revision)
    revision = version if exact else store.revision
    try:
        items = store.list_at(resource, revision, namespace) if exact else store.list(resource, namespace)
    except Expired:
        raise expired(CONTINUE_EXPIRED if options.continue_token else LIST_EXPIRED) from None
    if after:
        items = [item for item in items if object_key(item) > after]
    limit = options.limit or len(items)
    kept: list[Object] = []
    looked_at = 0
    for item in items:
        if len(kept) == limit:
            break
        looked_at += 1
        if selector.selects_everything or selector.matches(convert(item)):
            kept.append(item)
    left = len(items) - looked_at
    if not left:
        return Page(items=kept, revision=revision)
    # What is left may hold nothing that is selected: like a real server, the page does not look ahead, nor count it.
    return Page(
        items=kept,
        revision=revision,
        continue_token=_encode_continue(revision, object_key(kept[-1])),
        remaining=left if selector.selects_everything else None,
    )


def _encode_continue(revision: int, after: str) -> str:
    token = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": after}, separators=(",", ":"))
    return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def _decode_continue(token: str) -> tuple[int, str]:
    try:
        decoded = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        if decoded["v"] == "meta.k8s.io/v1":
            return int(decoded["rv"]), str(decoded["start"])
    except (ValueError, KeyError, TypeError) as fault:
        raise _bad_continue(str(fault)) from fault
    raise _bad_continue(f"server does not recognize this encoded version {decoded['v']}")


def _bad_continue(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


def check_reached(store: Store, asked: str) -> None:
    """Raise ApiError 504 if the store has not reached the resourceVersion that is asked for, 400 if it is none."""
    try:
        version = parse_version(asked)
    except ValueError:
        raise _bad_version(asked) from None
    if version > store.revision:
        raise version_too_large(asked, store.revision)


def _bad_version(asked: str) -> ApiError:
    why = f'strconv.ParseUint: parsing "{asked}": invalid syntax'
    return bad_request(f'invalid resource version: resourceVersion: Invalid value: "{asked}": {why}')


def list_metadata(kind: ResourceKind, found: Page) -> Object:
    """The metadata of a list."""
    metadata: Object = {}
    if kind.custom or found.continue_token:  # a list of custom objects always has the field
        metadata["continue"] = found.continue_token
    if found.remaining is not None:
        metadata["remainingItemCount"] = found.remaining
    metadata["resourceVersion"] = str(found.revision)
    return metadata


def list_object(kind: ResourceKind, found: Page, convert: Callable[[Object], Object]) -> Object:
    """The List that answers. Items of a built-in kind do not repeat apiVersion and kind."""
    items = [convert(item) for item in found.items]
    if not kind.custom:
        items = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in items]
    return {
        "kind": kind.list_kind or f"{kind.kind}List",
        "apiVersion": kind.api_version,
        "metadata": list_metadata(kind, found),
        "items": items,
    }
