"""Controllers do what the recorded conversations with a real control plane say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.sandbox.conversations import CONTROLLERS, Conversation, data_directory, load, play_all

AT_ONCE = 10


def _conversations() -> Sequence[Conversation]:
    directory = data_directory()
    return [] if directory is None else [item for item in load(directory) if CONTROLLERS in item.tags]


CONVERSATIONS = _conversations()
NONE = pytest.param("", id="all", marks=pytest.mark.skip(reason="KADM_TEST_DATA is not set"))


@pytest.fixture(scope="module")
def played() -> dict[str, list[str]]:
    """Id → differences; they are played at the same time, as they mostly wait for pods."""
    return asyncio.run(play_all(CONVERSATIONS, at_once=AT_ONCE))


@pytest.mark.parametrize("name", [item.id for item in CONVERSATIONS] or [NONE])
def test_conversation(name: str, played: dict[str, list[str]]) -> None:
    assert played[name] == []
