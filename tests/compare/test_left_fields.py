"""Which fields are left to others."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.compare.left_fields import Leaving, contest_digest, leave, sent_for
from kadm.model.fleet import IgnoreRule
from kadm.model.objects import JsonObject, key_of
from kadm.model.stamps import Taken
from tests.compare.builders import MANAGER, a_config, desired, entry, live


def a_deployment(replicas: int = 3, **annotations: str) -> JsonObject:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
        "spec": {"replicas": replicas, "paused": False},
    }


KEY = key_of(a_deployment())
SCALED = Leaving(autoscaled={KEY: "HorizontalPodAutoscaler web"})


@pytest.mark.parametrize(
    ("leaving", "obj", "there", "want"),
    [
        pytest.param(Leaving(), a_deployment(), None, {"replicas": 3, "paused": False}, id="nothing"),
        pytest.param(SCALED, a_deployment(), None, {"paused": False}, id="an autoscaler's replicas"),
        pytest.param(SCALED, a_deployment(), a_deployment(5), {"paused": False}, id="whatever they are"),
        pytest.param(
            SCALED, a_deployment(), a_deployment(0), {"replicas": 3, "paused": False}, id="but 0: it does nothing then"
        ),
        pytest.param(Leaving(retained=frozenset({KEY})), a_deployment(), None, {"paused": False}, id="retained"),
        pytest.param(
            Leaving(),
            a_deployment(3, **{"kadm.io/ignore": "spec.paused, spec.replicas"}),
            None,
            None,
            id="the annotation; an emptied map goes",
        ),
        pytest.param(
            Leaving(rules=[IgnoreRule(kind="deployment", name="w*", path="spec.replicas")]),
            a_deployment(),
            None,
            {"paused": False},
            id="a rule",
        ),
        pytest.param(
            Leaving(rules=[IgnoreRule(namespace="other", path="spec.replicas")]),
            a_deployment(),
            None,
            {"replicas": 3, "paused": False},
            id="a rule about another namespace",
        ),
    ],
)
def test_left(leaving: Leaving, obj: JsonObject, there: JsonObject | None, want: JsonObject | None) -> None:
    one = desired(obj)
    found = leave(one, leaving.of(one), live(there) if there is not None else None)
    assert found.object.get("spec") == want


def test_a_create_sends_all_of_it_once() -> None:
    one = desired(a_deployment())
    found = leave(one, SCALED.of(one), None)
    assert sent_for(found, None, manager=MANAGER, set_id="s")["spec"] == {"replicas": 3, "paused": False}


def test_what_kadm_still_owns_is_asked_about_with_its_live_value() -> None:
    there = live(a_deployment(5), managers=(entry(MANAGER, {"f:spec": {"f:replicas": {}}}),))
    one = desired(a_deployment())
    found = leave(one, SCALED.of(one), there)
    assert sent_for(found, there, manager=MANAGER, set_id="s")["spec"] == {"replicas": 5, "paused": False}


@pytest.mark.parametrize(
    ("rule", "managers", "want"),
    [
        pytest.param({"manager": "op"}, [("op", {"f:k": {}})], {"l": "v"}, id="what it holds"),
        pytest.param({"manager": "op"}, [("other", {"f:k": {}})], {"k": "v", "l": "v"}, id="somebody else does"),
        pytest.param(
            {"manager": "op", "path": "data.l"}, [("op", {"f:k": {}})], {"k": "v", "l": "v"}, id="other field"
        ),
    ],
)
def test_rules_with_a_manager(rule: dict[str, str], managers: Any, want: dict[str, str]) -> None:
    obj = a_config(data={"k": "v", "l": "v"})
    there = live(obj, managers=tuple(entry(name, {"f:data": fields}, operation="Update") for name, fields in managers))
    one = desired(obj)
    assert leave(one, Leaving(rules=[IgnoreRule(**rule)]).of(one), there).object["data"] == want


@pytest.mark.parametrize(("times", "left"), [(1, False), (2, True)])
def test_a_contest(times: int, left: bool) -> None:
    obj = a_config()
    one = desired(obj)
    taken = Taken(path="data.k", manager="op", times=times, digest=contest_digest(one))
    there = live(a_config(data={"k": "x"}), managers=(entry("op", {"f:data": {"f:k": {}}}, operation="Update"),))
    rules = Leaving(taken={one.key: [taken]}).of(one)
    assert ("data" not in leave(one, rules, there).object, any(rule.contested for rule in rules)) == (left, left)
