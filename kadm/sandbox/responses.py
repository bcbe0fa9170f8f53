"""What a refused request is answered with: ``ApiError`` and the Status objects behind it.

Texts and codes are those of a Kubernetes API server (k8s.io/apimachinery, package api/errors), as programs read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

Object = dict[str, Any]


class Cause(msgspec.Struct, frozen=True):
    """One entry of ``details.causes``."""

    reason: str
    message: str
    field: str

    def as_object(self) -> Object:
        return {"reason": self.reason, "message": self.message, "field": self.field}


class ApiError(Exception):
    """A refused request. ``details`` None means that the Status has none; {} shows as an empty object."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers = headers or {}

    @property
    def status(self) -> Object:
        """The Status object that is the answer's body."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


class NothingServed(Exception):  # it is an answer, not a fault
    """Nothing at all is served under a path: 404 in plain text, as the server's router answers."""


def success(details: Object | None = None, *, code: int | None = None) -> Object:
    """The Status that answers what has no object to give back."""
    status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = details
    if code:
        status["code"] = code
    return status


def qualified(resource: str, group: str) -> str:
    """``deployments.apps``, or ``pods`` of the core group."""
    return f"{resource}.{group}" if group else resource


def about(name: str, group: str, kind: str) -> Object:
    """The ``details`` that name an object; empty parts are left out."""
    details: Object = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    return details


def not_found(resource: str, group: str, name: str) -> ApiError:
    """404: there is no such object."""
    message = f'{qualified(resource, group)} "{name}" not found'
    return ApiError(404, "NotFound", message, about(name, group, resource))


def already_exists(resource: str, group: str, name: str, *, terminating: bool) -> ApiError:
    """409: the name is taken; ``terminating`` if by an object that is being deleted."""
    message = f'{qualified(resource, group)} "{name}" already exists'
    if terminating:
        message = f"object is being deleted: {message}"
    return ApiError(409, "AlreadyExists", message, about(name, group, resource))


def conflict(resource: str, group: str, name: str, why: str) -> ApiError:
    """409: the object is not what the request believes it to be."""
    message = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return ApiError(409, "Conflict", message, about(name, group, resource))


def stale(resource: str, group: str, name: str) -> ApiError:
    """409: the resourceVersion that the request carries is not the live one."""
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, group, name, why)


def bad_request(message: str) -> ApiError:
    """400: the request cannot be understood."""
    return ApiError(400, "BadRequest", message)


def forbidden(resource: str, group: str, name: str, why: str, causes: Sequence[Cause] = ()) -> ApiError:
    """403: understood, and refused."""
    details = about(name, group, resource)
    if causes:
        details["causes"] = [cause.as_object() for cause in causes]
    named = f' "{name}"' if name else ""
    return ApiError(403, "Forbidden", f"{qualified(resource, group)}{named} is forbidden: {why}", details)


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """422: the faults of an object, in order. ``kind`` may be a resource, where the server says it so."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = about(name, group, kind)
    details["causes"] = [cause.as_object() for cause in causes]
    return ApiError(422, "Invalid", f'{qualified(kind, group)} "{name}" is invalid: {text}', details)


def invalid_options(kind: str, causes: Sequence[Cause]) -> ApiError:
    """422: the faults of a request's options (``kind`` ``CreateOptions``, ``ListOptions``, …)."""
    return invalid(kind, "meta.k8s.io", "", causes)


def method_not_allowed() -> ApiError:
    """405: the path has no such method."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def unknown_resource() -> ApiError:
    """404: the group version serves no such resource."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def unauthorized() -> ApiError:
    """401: the credentials are not known."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def unsupported_media_type(message: str = "415: Unsupported Media Type", details: Object | None = None) -> ApiError:
    """415: the body's media type is not understood."""
    return ApiError(415, "UnsupportedMediaType", message, details)


def too_large(limit: int) -> ApiError:
    """413: the body is larger than the server takes."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def not_acceptable() -> ApiError:
    """406: no representation that the client accepts."""
    message = (
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )
    return ApiError(406, "NotAcceptable", message, {})


def version_too_large(asked: str, current: int) -> ApiError:
    """504: a resourceVersion that the store has not reached."""
    details: Object = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return ApiError(504, "Timeout", message, details, headers={"Retry-After": "1"})


def expired(message: str) -> ApiError:
    """410: the version asked for is no longer known."""
    return ApiError(410, "Expired", message)
