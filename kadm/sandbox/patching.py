"""A patch as a request carries it, by its media type, and what it makes of an object."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from kadm.sandbox.field_validation import parse_json
from kadm.sandbox.patches import PatchRefused, json_patch, merge_patch
from kadm.sandbox.responses import ApiError, bad_request, unsupported_media_type
from kadm.sandbox.schema import Schema
from kadm.sandbox.store import Object
from kadm.sandbox.strategic_merge import StrategicMergeRefused, strategic_merge_patch

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

CUSTOM_PATCHES = f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY}"


class Patched(msgspec.Struct, frozen=True):
    """A patched object, and the value that messages about it show: the patch itself if it is a strategic merge."""

    object: Object
    shown: Object


class Patch:
    """A JSON, merge or strategic merge patch. Raises ApiError 415 for another media type, or a strategic custom one."""

    def __init__(self, media_type: str, body: bytes, schema: Schema, *, custom: bool) -> None:
        known = (JSON_PATCH, MERGE_PATCH) if custom else (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH)
        if media_type not in known:
            if custom:
                text = "the body of the request was in an unknown format - accepted media types include: "
                raise unsupported_media_type(text + CUSTOM_PATCHES)
            raise unsupported_media_type(details={})
        self._media_type = media_type
        self._body = body
        self._schema = schema

    def applied(self, live: Object) -> Patched:
        """What the patch makes of an object. Raises ApiError 400 if it is no patch, 422 or 500 if it does not fit."""
        match self._media_type:
            case "application/json-patch+json":
                try:
                    patched = json_patch(live, _decoded(self._body, list))
                except PatchRefused as refused:
                    message = "the server rejected our request due to an error in our request"
                    raise ApiError(422, "Invalid", message, {}) from refused
                return Patched(patched, patched)
            case "application/merge-patch+json":
                patched = merge_patch(live, _decoded(self._body, dict))
                return Patched(patched, patched)
            case _:
                patch = _decoded(self._body, dict)
                try:
                    return Patched(strategic_merge_patch(live, patch, self._schema), patch)
                except StrategicMergeRefused as refused:
                    raise ApiError(500, "", str(refused)) from refused


def _decoded(raw: bytes, expected: type[list[Any]] | type[dict[str, Any]]) -> Any:
    try:
        value = parse_json(raw).value
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        raise bad_request(f"error decoding patch: {fault}") from fault
    if not isinstance(value, expected):
        raise bad_request(f"error decoding patch: json: cannot unmarshal into Go value of type {expected.__name__}")
    return value
