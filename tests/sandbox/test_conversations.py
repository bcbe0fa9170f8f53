"""The API answers as recorded conversations with a real server say (those with controllers: see ``controllers``)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from tests.sandbox.conversations import CONTROLLERS, Conversation, data_directory, load, play_all

AT_ONCE = 64

LATER: Mapping[str, str] = {}
"""Conversations that are not followed yet: id → why."""


def _conversations() -> tuple[Conversation, ...]:
    directory = data_directory()
    return () if directory is None else load(directory)


CONVERSATIONS = {item.id: item for item in _conversations() if CONTROLLERS not in item.tags}


def _parameters() -> Sequence[object]:
    if not CONVERSATIONS:
        return [pytest.param("", id="all", marks=pytest.mark.skip(reason="KADM_TEST_DATA is not set"))]
    return [
        pytest.param(name, id=name, marks=[pytest.mark.skip(reason=LATER[name])] if name in LATER else [])
        for name in CONVERSATIONS
    ]


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> dict[str, list[str]]:
    """Id → differences of the selected conversations; they are played at the same time, as most of them mostly wait."""
    wanted = [
        CONVERSATIONS[name]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module and hasattr(item, "callspec")
        if (name := item.callspec.params.get("name")) in CONVERSATIONS and name not in LATER
    ]
    return asyncio.run(play_all(wanted, at_once=AT_ONCE))


@pytest.mark.parametrize("name", _parameters())
def test_conversation(name: str, played: dict[str, list[str]]) -> None:
    assert played[name] == []


def test_what_is_left_for_later_exists() -> None:
    if not CONVERSATIONS:
        pytest.skip("KADM_TEST_DATA is not set")
    assert set(LATER) <= set(CONVERSATIONS)
