"""What a refused request is answered with: ``ApiError`` and the Status objects behind it.

Texts and codes are those of a Kubernetes API server (k8s.io/apimachinery, package api/errors), as programs read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Object = dict[str, Any]


class ApiError(Exception):
    """A refused request. ``status`` is the Status object of the answer; ``headers`` go with it."""

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
        if self.details:
            status["details"] = self.details
        status["code"] = self.code
        return status


def success(details: Object | None = None) -> Object:
    """The Status that answers what has no object to give back."""
    status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = details
    return status


def qualified(resource: str, group: str) -> str:
    """``deployments.apps``, or ``pods`` of the core group."""
    return f"{resource}.{group}" if group else resource


def _about(name: str, group: str, kind: str) -> Object:
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
    return ApiError(
        404, "NotFound", f'{qualified(resource, group)} "{name}" not found', _about(name, group, resource)
    )


def already_exists(resource: str, group: str, name: str) -> ApiError:
    """409: the name is taken."""
    message = f'{qualified(resource, group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _about(name, group, resource))


def conflict(resource: str, group: str, name: str, why: str) -> ApiError:
    """409: the object is not what the request believes it to be."""
    message = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return ApiError(409, "Conflict", message, _about(name, group, resource))


def bad_request(message: str) -> ApiError:
    """400: the request cannot be understood."""
    return ApiError(400, "BadRequest", message)


def forbidden(resource: str, group: str, name: str, why: str, causes: Sequence[Object] = ()) -> ApiError:
    """403: understood, and refused."""
    details = _about(name, group, resource)
    if causes:
        details["causes"] = list(causes)
    named = f' "{name}"' if name else ""
    return ApiError(403, "Forbidden", f"{qualified(resource, group)}{named} is forbidden: {why}", details)


def method_not_allowed() -> ApiError:
    """405: the path has no such method."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def unknown_path() -> ApiError:
    """404: nothing is served there."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})
