"""What is recorded of members, and how it is read back. Whether changes count is tested with the whole stage."""

from __future__ import annotations

import pytest

from kadm.model.cluster import Taint
from kadm.model.objects import GroupVersionKind
from kadm.schedule.member import Member
from kadm.schedule.triggers import digest, facts_of, facts_text, read_facts

DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def a_member(name: str, *, taints: tuple[Taint, ...] = (), served: frozenset[GroupVersionKind] | None) -> Member:
    return Member(name=name, labels={"b": "1", "a": "2"}, taints=taints, served=served)


def test_facts_read_back() -> None:
    facts = facts_of(
        [
            a_member("eu.example", served=frozenset({DEPLOYMENT})),
            a_member("us", served=None),
            a_member("ap", served=frozenset(), taints=(Taint("k", "NoSchedule"),)),
        ],
        DEPLOYMENT,
    )
    assert read_facts(facts_text(facts, frozenset())) == facts
    assert list(read_facts(facts_text(facts, frozenset({"us", "elsewhere"}))) or ()) == ["us"]


def test_order_of_labels_and_taints_does_not_count() -> None:
    one, other = Taint("a", "NoSchedule"), Taint("a", "NoExecute")
    first = Member(name="eu", labels={"a": "1", "b": "2"}, taints=(one, other))
    second = Member(name="eu", labels={"b": "2", "a": "1"}, taints=(other, one))
    assert facts_of([first], DEPLOYMENT) == facts_of([second], DEPLOYMENT)


@pytest.mark.parametrize("text", ["eu", "eu=1.2", "eu=1.2.x", "=1.2.+", "eu=1.2.+.4"])
def test_what_is_none_of_ours_is_not_guessed(text: str) -> None:
    assert read_facts(text) is None


def test_digest_does_not_depend_on_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
