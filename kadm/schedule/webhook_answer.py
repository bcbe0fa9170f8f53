"""What a webhook plugin answered (scheduling spec 7.2, 7.3).

Read as KubeAdmiral reads it: the status must be exactly 200, the first JSON value of the body counts, unknown fields do
not, null and absent are empty, and types are strict.
"""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from kadm.model.webhook import WebhookReply

_OK = 200
_SHOWN = 200
"""How many characters of an answer that is none are shown."""


class AnswerFault(ValueError):
    """There is no answer, or it is none; the text says why."""


class _Filter(Struct):
    selected: bool | None = None
    error: str | None = None


class _Score(Struct):
    score: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    error: str | None = None


class _Select(Struct, rename="camel"):
    selected_cluster_names: list[str] | None = None
    error: str | None = None


_AnswerT = TypeVar("_AnswerT", _Filter, _Score, _Select)


def filter_answer(reply: WebhookReply) -> bool:
    """Whether the member is selected. Raises AnswerFault."""
    return bool(_read(reply, _Filter).selected)


def score_answer(reply: WebhookReply) -> int:
    """The member's score. Raises AnswerFault."""
    return _read(reply, _Score).score or 0


def select_answer(reply: WebhookReply, *, offered: Container[str]) -> tuple[str, ...]:
    """The selected members in order, each once. Raises AnswerFault, also for a name that was not ``offered``."""
    names = tuple(dict.fromkeys(_read(reply, _Select).selected_cluster_names or ()))
    strange = [name for name in names if name not in offered]
    if strange:
        raise AnswerFault(f"it selects {strange[0]!r}, which was not offered")
    return names


def _read(reply: WebhookReply, kind: type[_AnswerT]) -> _AnswerT:
    if reply.failure:
        raise AnswerFault(reply.failure)
    if reply.status != _OK:
        raise AnswerFault(f"status {reply.status}: {_shown(reply.body)}")
    try:
        answer = msgspec.convert(_first_value(reply.body), kind)
    except msgspec.ValidationError as error:
        raise AnswerFault(f"the answer is wrong: {error}") from error
    if answer.error:
        raise AnswerFault(f"it says: {answer.error}")
    return answer


def _first_value(body: bytes) -> Any:
    """The first JSON value; what follows it is not read. Numbers that are no integers stay so (``5.0`` is no score)."""
    try:
        value, _ = _DECODER.raw_decode(body.decode("utf-8").lstrip(" \t\r\n"))
    except (ValueError, RecursionError) as error:
        raise AnswerFault(f"the answer is no JSON: {_shown(body)}") from error
    return value


class _NoInteger:
    """A number with a fraction or exponent: no field of an answer takes one."""


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_float=lambda _: _NoInteger(), parse_constant=_no_constant)


def _shown(body: bytes) -> str:
    text = body[: 4 * _SHOWN].decode("utf-8", "replace").strip()
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text or "(an empty body)"
