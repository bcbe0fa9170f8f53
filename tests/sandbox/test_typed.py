"""Laws that comparing, merging and removing keep on any value of a type, and the corners of comparing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadm.sandbox.crd_schema import from_crd
from kadm.sandbox.field_sets import contains, difference, intersection, union
from kadm.sandbox.typed import compare, faults, field_set, merge, remove, same

Object = dict[str, Any]
ITEM = {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}
ROOT = from_crd(
    "example.com",
    "v1",
    "Widget",
    {
        "type": "object",
        "properties": {
            "keyed": {
                "type": "array",
                "items": ITEM,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
            },
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "list": {"type": "array", "items": {"type": "integer"}},
            "atom": {"type": "object", "additionalProperties": {"type": "integer"}, "x-kubernetes-map-type": "atomic"},
            "text": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": {"x-kubernetes-preserve-unknown-fields": True},
            "n": {"type": "integer"},
        },
    },
).root

names = st.sampled_from("abcd")
numbers = st.integers(0, 3)
anything = st.recursive(
    st.none() | st.booleans() | numbers | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
items = st.builds(lambda k, v: {"k": k} if v is None else {"k": k, "v": v}, names, st.none() | numbers)
values = st.fixed_dictionaries(
    {},
    optional={
        "keyed": st.lists(items, max_size=4, unique_by=lambda item: item["k"]),
        "set": st.lists(names, max_size=4, unique=True),
        "list": st.lists(numbers, max_size=3),
        "atom": st.dictionaries(names, numbers, max_size=3),
        "text": st.dictionaries(names, names, max_size=3),
        "any": anything,
        "n": numbers,
    },
)
few = settings(max_examples=80, deadline=None)


@few
@given(values)
def test_a_value_fits_and_equals_itself(value: Object) -> None:
    difference_to_itself = compare(value, value, ROOT)
    assert (faults(value, ROOT), difference_to_itself.removed, difference_to_itself.changed) == ([], {}, {})


@few
@given(values, values)
def test_a_merge_removes_nothing_and_holds_when_repeated(left: Object, right: Object) -> None:
    left, right = {**left, "any": {}}, {**right, "any": {}}  # a value that changes its shape does lose what was below
    merged = merge(left, right, ROOT)
    lost = {key: below for key, below in compare(left, merged, ROOT).removed.items() if key not in ("f:list", "f:atom")}
    assert (lost, same(merge(merged, right, ROOT), merged)) == ({}, True)


@few
@given(values, values)
def test_a_merge_has_all_that_was_put_over(left: Object, right: Object) -> None:
    merged = merge(left, right, ROOT)
    wanted = {**right, "keyed": [], "text": {}}
    assert intersection(field_set(wanted, ROOT), compare(right, merged, ROOT).removed) == {}


@few
@given(values, values)
def test_what_changed_is_in_the_new_value_and_what_went_in_the_old(left: Object, right: Object) -> None:
    found = compare(left, right, ROOT)
    assert intersection(found.removed, found.changed) == {}


@few
@given(values)
def test_removing_all_fields_leaves_none_that_has_a_value(value: Object) -> None:
    left = remove(value, field_set(value, ROOT), ROOT)
    assert [item for item in left.values() if item not in ({}, [], None)] == []


sets: st.SearchStrategy[Object] = st.dictionaries(
    st.sampled_from(["f:a", "f:b", 'k:{"n":"x"}']),
    st.dictionaries(st.sampled_from([".", "f:c", "f:d"]), st.just({}), max_size=3).filter(
        lambda node: list(node) != ["."]
    ),
    max_size=3,
)


@few
@given(sets, sets)
def test_sets_are_a_sum_of_their_parts(left: Object, right: Object) -> None:
    assert (
        union(difference(left, right), intersection(left, right)) == left,
        contains(union(left, right), left),
        intersection(difference(left, right), right),
    ) == (True, True, {})


COMPARED = [
    pytest.param({"any": {"x": 1}}, {"any": 1}, {"f:any": {"f:x": {}}}, {"f:any": {}}, id="a map becomes a scalar"),
    pytest.param({"any": [1]}, {"any": {"x": 1}}, {}, {"f:any": {".": {}, "f:x": {}}}, id="a list becomes a map"),
    pytest.param({"any": True}, {"any": 1}, {}, {"f:any": {}}, id="true is not 1"),
    pytest.param({}, {"text": {}}, {}, {"f:text": {}}, id="an empty map appears"),
    pytest.param({"set": ["a"]}, {"set": ["b"]}, {"f:set": {'v:"a"': {}}}, {"f:set": {'v:"b"': {}}}, id="a set"),
    pytest.param(
        {"keyed": [{"k": "a"}, {"k": "a"}]}, {"keyed": [{"k": "a"}]}, {"f:keyed": {'k:{"k":"a"}': {}}},
        {"f:keyed": {'k:{"k":"a"}': {".": {}, "f:k": {}}}}, id="duplicates end"),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "removed", "changed"), COMPARED)
def test_compare(left: Object, right: Object, removed: Object, changed: Object) -> None:
    found = compare(left, right, ROOT)
    assert (found.removed, found.changed) == (removed, changed)
