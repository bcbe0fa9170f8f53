"""Answers requests to one member: who asks, what for, and in which representation the answer goes out.

Everything here is synchronous: a request is answered in one step of the event loop. A watch is answered by a
``Stream``, which the HTTP server then feeds.
"""

from __future__ import annotations

import dataclasses

from kadm.sandbox.api import ApiServer
from kadm.sandbox.auth import Action, Authenticator, Authorizer, User, impersonated
from kadm.sandbox.documents import document
from kadm.sandbox.exchange import Answer, Request, Stream
from kadm.sandbox.field_validation import warning_header
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.media import accepted
from kadm.sandbox.presentation import Presenter
from kadm.sandbox.requests import Target, parse_target
from kadm.sandbox.resource_call import ResourceCall
from kadm.sandbox.responses import ApiError, NothingServed, unknown_resource
from kadm.sandbox.subresource_call import answer_subresource

DEPRECATED = {
    ("v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
"""What every answer about a built-in kind warns of: (apiVersion, kind) → text."""


class Endpoint:
    """The HTTP side of one member."""

    def __init__(self, api: ApiServer, authenticator: Authenticator) -> None:
        self._api = api
        self._authenticator = authenticator
        self._authorizer = Authorizer(api.store)

    def answer(self, request: Request) -> Answer | Stream:
        """The answer to a request, refusals included."""
        try:
            return self._answer(request)
        except ApiError as refused:
            return Answer(status=refused.code, body=refused.status, headers=refused.headers)
        except NothingServed:
            return Answer(status=404, body="404 page not found\n")

    def _answer(self, request: Request) -> Answer | Stream:
        user = self._user(request)
        target = parse_target(request.path)
        verb = target.verb(request.method, request.query)
        self._authorizer.check(user, _action(target, verb, request.path))
        if not target.resource:
            return document(self._api.kinds, request)
        kind = self._kind(target)
        presenter = Presenter(
            kind=kind,
            representation=accepted(request.accept),
            include=request.query.get("includeObject", "Metadata"),
            clock=self._api.clock,
        )
        call = ResourceCall(
            api=self._api,
            authenticator=self._authenticator,
            authorizer=self._authorizer,
            request=request,
            target=target,
            verb=verb,
            kind=kind,
            user=user,
            presenter=presenter,
        )
        answer = answer_subresource(call) if target.subresource else call.answer()
        if kind.custom is not None:
            deprecation = kind.custom.deprecation_warning
        else:
            deprecation = DEPRECATED.get((kind.api_version, kind.kind), "")
        if deprecation:
            return dataclasses.replace(answer, warnings=(warning_header(deprecation), *answer.warnings))
        return answer

    def _user(self, request: Request) -> User:
        """Who asks, or whom the asker says to be, if they may. Raises ApiError 401 or 403."""
        user = self._authenticator.user(request.authorization)
        if not request.impersonated:
            return user
        other = impersonated(request.impersonated, request.impersonated_groups)
        self._authorizer.check(user, Action(verb="impersonate", resource="users", name=other.name))
        for group in request.impersonated_groups:
            self._authorizer.check(user, Action(verb="impersonate", resource="groups", name=group))
        return other

    def _kind(self, target: Target) -> ResourceKind:
        kinds = self._api.kinds
        kind = kinds.at(target.group, target.version, target.resource)
        if kind is None:
            if target.group and (not kinds.versions(target.group) or kinds.is_custom(target.group)):
                raise NothingServed
            raise unknown_resource()
        if target.namespace and not kind.namespaced and target.resource != "namespaces":
            raise unknown_resource()
        if target.name and kind.namespaced and not target.namespace:
            raise unknown_resource()
        return kind


def _action(target: Target, verb: str, path: str) -> Action:
    if not target.resource:
        return Action(verb="get" if verb == "head" else verb, path=path)
    return Action(
        verb=verb,
        group=target.group,
        resource=target.resource,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
    )
