"""Whose entries become kadm's, and what that removes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kadm.compare import Permissions
from kadm.compare.adoption import foldable, folded, lost
from kadm.compare.desired_object import folds
from kadm.compare.field_set import shown
from kadm.compare.findings import Terms
from kadm.model.objects import JsonObject, ObjectKey, path_text
from kadm.model.record import RecordedObject
from tests.compare.builders import MANAGER, a_config, desired, entry, live, recorded

KEY = ObjectKey("", "ConfigMap", "shop", "a")
KUBECTL = "kubectl-client-side-apply"


@pytest.mark.parametrize(
    ("manager", "adopting", "take_over", "want"),
    [
        pytest.param(KUBECTL, True, set(), True, id="kubectl apply"),
        pytest.param("kubectl-edit", True, set(), True, id="kubectl edit"),
        pytest.param("before-first-apply", True, set(), True, id="from before managedFields"),
        pytest.param("helm", True, set(), True, id="helm"),
        pytest.param("kadm-repair", False, set(), True, id="kadm's own repairs, always"),
        pytest.param(KUBECTL, False, set(), False, id="what a person did later is drift"),
        pytest.param("flux", True, set(), False, id="another applier"),
        pytest.param("flux", False, {"flux"}, True, id="--take-over"),
        pytest.param(MANAGER, True, {MANAGER}, False, id="kadm itself"),
    ],
)
def test_whose_entries(manager: str, adopting: bool, take_over: set[str], want: bool) -> None:
    there = live(a_config(), managers=(entry(manager, {"f:data": {}}),))
    found = foldable(there, manager=MANAGER, adopting=adopting, take_over=take_over)
    assert found == ((manager,) if want else ())


ADOPTED = recorded(KEY, origin="adopted")


@pytest.mark.parametrize(
    ("known", "want"),
    [
        pytest.param(None, (KUBECTL,), id="not ours yet"),
        pytest.param(ADOPTED, (), id="adopted"),
        pytest.param(replace(ADOPTED, adopting=True), (KUBECTL,), id="its adoption was not confirmed"),
        pytest.param(recorded(KEY), (), id="made by kadm"),
    ],
)
def test_when_entries_are_folded(known: RecordedObject | None, want: tuple[str, ...]) -> None:
    there = live(a_config(), managers=(entry(KUBECTL, {"f:data": {}}),))
    terms = Terms(member="eu", manager=MANAGER, set_id="set", permissions=Permissions())
    assert folds(desired(a_config()), there, known, terms) == want


def test_status_stays_with_its_controllers() -> None:
    there = live(a_config(), managers=({**entry("kubectl", {}), "subresource": "status"},))
    assert foldable(there, manager=MANAGER, adopting=True, take_over=()) == ()


def removed(fields: JsonObject, wants: JsonObject, *others: JsonObject, data: dict[str, str]) -> list[str]:
    there = live(a_config(data=data), managers=(entry(KUBECTL, fields, operation="Update"), *others))
    return [path_text(shown(one.elements)) for one in lost(there, [KUBECTL], manager=MANAGER, wants=wants)]


DATA: dict[str, Any] = {"f:data": {".": {}, "f:k": {}, "f:old": {}}}


@pytest.mark.parametrize(
    ("wants", "others", "want"),
    [
        pytest.param({"f:data": {"f:k": {}}}, (), ["data.old"], id="what git lacks"),
        pytest.param({"f:data": {"f:k": {}, "f:old": {}}}, (), [], id="git has it all"),
        pytest.param(
            {"f:data": {"f:k": {}}},
            (entry("operator", {"f:data": {"f:old": {}}}),),
            [],
            id="somebody else holds it too",
        ),
        pytest.param({}, (), ["data.k", "data.old"], id="a map is listed by what is in it"),
    ],
)
def test_what_is_removed(wants: JsonObject, others: tuple[JsonObject, ...], want: list[str]) -> None:
    assert removed(DATA, wants, *others, data={"k": "v", "old": "x"}) == want


def test_what_is_not_there_is_not_removed() -> None:
    assert removed(DATA, {"f:data": {"f:k": {}}}, data={"k": "v"}) == []


def entries(there: JsonObject, *, prune: bool = False, key: ObjectKey = KEY, wants: Any = None) -> list[Any]:
    found = folded(there, [KUBECTL], manager=MANAGER, wants=wants or {}, key=key, prune=prune)
    return [(one["manager"], one["operation"], one["fieldsV1"]) for one in found]


def test_entries_are_joined() -> None:
    annotation: JsonObject = {
        "f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}
    }
    there = live(
        a_config(),
        managers=(
            entry(MANAGER, {"f:data": {"f:k": {}}}),
            entry(KUBECTL, {"f:data": {"f:old": {}}, **annotation}, operation="Update"),
            entry("operator", {"f:data": {"f:o": {}}}, operation="Update"),
        ),
    )
    assert entries(there) == [
        (MANAGER, "Apply", {"f:data": {"f:k": {}, "f:old": {}}}),
        ("operator", "Update", {"f:data": {"f:o": {}}}),
    ]


def test_entries_of_another_version_are_not_joined() -> None:
    old = {**entry(KUBECTL, {"f:data": {"f:old": {}}}, operation="Update"), "apiVersion": "v1beta1"}
    there = live(a_config(), managers=(entry(MANAGER, {"f:data": {}}), old))
    assert entries(there)[1] == (KUBECTL, "Update", {"f:data": {"f:old": {}}})


@pytest.mark.parametrize("prune", [True, False])
def test_fields_of_a_template_stay_unless_asked(prune: bool) -> None:
    template: JsonObject = {"f:template": {"f:spec": {"f:image": {}, "f:old": {}}}}
    there = live(a_config(), managers=(entry(KUBECTL, {"f:spec": {**template, "f:x": {}}}, operation="Update"),))
    wants: JsonObject = {"f:spec": {"f:template": {"f:spec": {"f:image": {}}}}}
    found = entries(there, prune=prune, key=ObjectKey("apps", "Deployment", "shop", "web"), wants=wants)
    stays: JsonObject = {"f:spec": {"f:template": {"f:spec": {"f:old": {}}}}}
    assert found[1:] == ([] if prune else [(KUBECTL, "Update", stays)])
