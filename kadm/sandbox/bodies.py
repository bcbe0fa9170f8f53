"""Request bodies: from bytes to an object of the kind that the path names, with the warnings that go with it."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec
import yaml

from kadm.model.objects import GroupVersionKind
from kadm.sandbox import protobuf_bodies
from kadm.sandbox.decoding import DecodeError, decode
from kadm.sandbox.field_validation import parse_json, strict_errors, strict_message, warning_header
from kadm.sandbox.kinds.custom_objects import unknown_fields
from kadm.sandbox.kinds.registry import ResourceKind, builtin_kind
from kadm.sandbox.patching import Patched
from kadm.sandbox.requests import FieldValidation
from kadm.sandbox.responses import ApiError, Cause, bad_request, invalid, unsupported_media_type
from kadm.sandbox.schema import Schema
from kadm.sandbox.store import Object
from kadm.sandbox.typed import go_plain
from kadm.sandbox.yaml_bodies import read_yaml

ACCEPTED = f"application/json, application/yaml, {protobuf_bodies.MEDIA_TYPE}"

_SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"

# Versions that are no longer served, but that the server still knows as versions of these kinds.
_REMEMBERED_VERSIONS = frozenset(
    {("apps", "v1beta1"), ("apps", "v1beta2"), ("batch", "v1beta1"), ("policy", "v1beta1"), ("extensions", "v1beta1")}
)


class Body(msgspec.Struct, frozen=True):
    """A body as it was read: its value, and the members that stand twice in it."""

    value: Any
    duplicates: tuple[str, ...] = ()


def parse_body(raw: bytes, content_type: str, kind: ResourceKind | None) -> Body:
    """The value of a POST, PUT or DELETE body; ``kind`` is what it must be, None for options.

    Raises ApiError 400 or 415.
    """
    media_type = content_type.partition(";")[0].strip()
    if media_type in ("", "application/json"):
        try:
            parsed = parse_json(raw)
        except (json.JSONDecodeError, UnicodeDecodeError) as fault:
            _unrecognized(kind, f"json parse error: {fault}")
        body = Body(parsed.value, parsed.duplicates)
    elif media_type == "application/yaml":
        try:
            body = Body(read_yaml(raw))
        except (yaml.YAMLError, ValueError) as fault:
            _unrecognized(kind, f"yaml: {fault}")
    elif media_type == protobuf_bodies.MEDIA_TYPE:
        try:
            body = Body(protobuf_bodies.read_protobuf(raw))
        except protobuf_bodies.ProtobufError as fault:
            _unrecognized(kind, str(fault))
    else:
        raise unsupported_media_type(
            f"the body of the request was in an unknown format - accepted media types include: {ACCEPTED}"
        )
    if not isinstance(body.value, dict):
        _unrecognized(kind, "json parse error: json: cannot unmarshal into Go value of type struct")
    return body


def _unrecognized(kind: ResourceKind | None, why: str) -> NoReturn:
    text = f"couldn't get version/kind; {why}"
    if kind is None:
        raise bad_request(text)
    raise bad_request(f"the object provided is unrecognized (must be of type {kind.kind}): {text}")


def parse_apply(raw: bytes, gvk: GroupVersionKind) -> Object:
    """The object of a server-side apply of this kind, YAML or JSON, its values of any type. Raises ApiError 400."""
    try:
        value = read_yaml(raw)
    except (yaml.YAMLError, ValueError) as fault:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: yaml: {fault}") from fault
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise bad_request("error decoding YAML: json: cannot unmarshal into Go value of type map[string]interface {}")
    group, _, version = str(value.get("apiVersion") or "").rpartition("/")
    kind = value.get("kind") or ""
    if (group, version, kind) != (gvk.group, gvk.version, gvk.kind):
        said = f"{group}/{version}"
        raise bad_request(f"invalid object type: {said}, Kind={kind}")
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    return value


def decoded_body(
    body: Body, kind: ResourceKind, schema: Schema, validation: FieldValidation
) -> tuple[Object, tuple[str, ...]]:
    """The object of a POST or PUT body as the server decodes it, but for the defaults, and the warnings about it.

    Raises ApiError 400: another kind or version, wrong types, or with ``Strict`` unknown or duplicate fields.
    """
    obj = _as_kind(body.value, kind)
    where = f'{obj["kind"]} in version "{kind.version}" cannot be handled as a {kind.kind}'
    try:
        decoded, unknown = _decode(obj, kind, schema)
    except DecodeError as fault:
        raise bad_request(f"{where}: {fault}") from fault
    errors = strict_errors(body.duplicates, unknown)
    if errors and validation == "Strict":
        raise bad_request(f"{where}: {strict_message(errors)}")
    return decoded, _warnings(errors, validation)


def decoded_patched(
    found: Patched, live: Object, kind: ResourceKind, schema: Schema, validation: FieldValidation
) -> tuple[Object, tuple[str, ...]]:
    """A patched object as the server decodes it, but for the defaults, and the warnings about it.

    Raises ApiError 422 for what it cannot be, as about the field ``patch``.
    """
    patched, shown = found.object, go_plain(found.shown)
    api_version, name = patched.get("apiVersion"), patched.get("kind")
    if (api_version, name) != (live["apiVersion"], live["kind"]):
        raise _bad_patch(shown, f'no kind "{name}" is registered for version "{api_version}" in scheme "{_SCHEME}"')
    try:
        decoded, unknown = _decode(patched, kind, schema)
    except DecodeError as fault:
        raise _bad_patch(shown, str(fault)) from fault
    errors = strict_errors((), unknown)
    if errors and validation == "Strict":
        raise _bad_patch(shown, strict_message(errors))
    return decoded, _warnings(errors, validation)


def _bad_patch(shown: str, why: str) -> ApiError:
    return invalid("", "", "", [Cause("FieldValueInvalid", f'Invalid value: "{shown}": {why}', "patch")])


def _warnings(errors: tuple[str, ...], validation: FieldValidation) -> tuple[str, ...]:
    return tuple(warning_header(error) for error in errors) if validation == "Warn" else ()


def _decode(obj: Object, kind: ResourceKind, schema: Schema) -> tuple[Object, tuple[str, ...]]:
    found = decode(obj, schema)
    unknown = found.unknown
    if kind.custom is not None and not kind.custom.preserve_unknown_fields:
        unknown = tuple(sorted((*unknown, *unknown_fields(kind.custom.schema, obj))))
    return found.object, unknown


def _as_kind(value: Object, kind: ResourceKind) -> Object:
    """The object with the kind and version that the path stands for; it may leave them out."""
    said = value.get("apiVersion") or kind.api_version
    name = value.get("kind") or kind.kind
    if not isinstance(said, str) or not isinstance(name, str):
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind.kind}): couldn't get version/kind; "
            "json parse error: json: cannot unmarshal into Go struct field of type string"
        )
    group, _, version = said.rpartition("/")
    if (said, name) == (kind.api_version, kind.kind):
        return {**value, "apiVersion": said, "kind": name}
    where = f'{name} in version "{version}" cannot be handled as a {kind.kind}'
    if kind.custom is not None or (
        name == kind.kind and group == kind.group and (group, version) in _REMEMBERED_VERSIONS
    ):
        raise bad_request(
            f"the API version in the data ({said}) does not match the expected API version ({kind.api_version})"
        )
    if builtin_kind(group, version, name) is not None:
        if name == kind.kind:
            raise bad_request(
                f"the API version in the data ({said}) does not match the expected API version ({kind.api_version})"
            )
        internal = kind.group.partition(".")[0] or "core"
        why = f"converting ({version}.{name}) to ({internal}.{kind.kind}): unknown conversion"
        raise bad_request(f"{where}: {why}")
    raise bad_request(f'{where}: no kind "{name}" is registered for version "{said}" in scheme "{_SCHEME}"')
