"""managedFields after updates: what moves, goes and is folded, and what a request may do to the entries itself."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.decoding import decode
from kadm.sandbox.managed_fields import reset_fields, settle_times, track_update
from kadm.sandbox.schema import builtin

CONFIG_MAP = builtin("", "v1", "ConfigMap")
DEPLOYMENT = builtin("apps", "v1", "Deployment")
assert CONFIG_MAP is not None
assert DEPLOYMENT is not None
Object = dict[str, Any]


def at(second: int) -> str:
    return f"2026-03-01T10:00:{second:02}Z"


T0, T1 = at(0), at(1)


def config_map(data: Object | None = None, **metadata: Any) -> Object:
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", **metadata}}
    return obj if data is None else {**obj, "data": data}


def entry(manager: str, fields: Object, *, operation: str = "Update", time: str = T0) -> Object:
    row = {"manager": manager, "operation": operation, "apiVersion": "v1", "time": time}
    return {**{key: value for key, value in row.items() if value}, "fieldsType": "FieldsV1", "fieldsV1": fields}


def update(old: Object | None, new: Object, manager: str, now: str = T1) -> Object:
    assert CONFIG_MAP is not None
    return track_update(old, decode(new, CONFIG_MAP).object, schema=CONFIG_MAP, manager=manager, now=now)


CASES = [
    pytest.param(
        None,
        config_map({"a": "1"}, labels={"x": "y"}),
        [entry("m", {"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:labels": {".": {}, "f:x": {}}}}, time=T1)],
        id="a new object belongs to its creator",
    ),
    pytest.param(None, config_map(), None, id="nothing but a name belongs to nobody"),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {".": {}, "f:a": {}}})]),
        config_map({"a": "2"}),
        [entry("one", {"f:data": {}}), entry("m", {"f:data": {"f:a": {}}}, time=T1)],
        id="a changed value moves",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {".": {}, "f:a": {}}})]),
        config_map({"a": "1"}),
        [entry("one", {"f:data": {".": {}, "f:a": {}}})],
        id="no change leaves entries and times",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {".": {}, "f:a": {}}})]),
        config_map(),
        None,
        id="what is removed belongs to nobody, and nothing is left",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("m", {"f:data": {".": {}, "f:a": {}}})]),
        config_map({"a": "1", "b": "1"}),
        [entry("m", {"f:data": {".": {}, "f:a": {}, "f:b": {}}}, time=T1)],
        id="one's own entry grows",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("m", {"f:data": {"f:a": {}}}, operation="Apply")]),
        config_map({"a": "2"}),
        [entry("m", {"f:data": {"f:a": {}}}, time=T1)],
        id="apply and update are two entries of one manager",
    ),
    pytest.param(config_map({"a": "1"}), config_map({"a": "2"}), None, id="an object without entries gets none"),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {"f:a": {}}})]),
        config_map({"a": "1"}, managedFields=[]),
        None,
        id="an empty list clears them",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {"f:a": {}}})]),
        config_map({"a": "1"}, managedFields=[{}]),
        None,
        id="a blank entry clears them",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {".": {}, "f:a": {}}})]),
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {}})]),
        [entry("one", {"f:data": {}})],
        id="entries in the request replace those of the object",
    ),
    pytest.param(
        config_map({"a": "1"}, managedFields=[entry("one", {"f:data": {"f:a": {}}})]),
        config_map({"a": "1"}, managedFields=[{"manager": "x", "operation": "Replace"}]),
        [entry("one", {"f:data": {"f:a": {}}})],
        id="entries that cannot be read are ignored",
    ),
]


@pytest.mark.parametrize(("old", "new", "want"), CASES)
def test_update(old: Object | None, new: Object, want: list[Object] | None) -> None:
    assert update(old, new, "m")["metadata"].get("managedFields") == want


def test_status_is_not_written_by_the_main_endpoint() -> None:
    assert DEPLOYMENT is not None
    new = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 1},
        "status": {"replicas": 7},
    }
    decoded = decode(new, DEPLOYMENT).object
    reset = reset_fields(DEPLOYMENT, "")
    out = track_update(None, decoded, schema=DEPLOYMENT, manager="m", now=T1, reset=reset)
    assert [item["fieldsV1"] for item in out["metadata"]["managedFields"]] == [{"f:spec": {"f:replicas": {}}}]


def test_more_than_ten_updaters_are_folded() -> None:
    obj = update(None, config_map({"k00": "x"}), "m00", at(0))
    for number in range(1, 13):
        data = {**obj["data"], f"k{number:02}": "x"}
        obj = update(obj, {**obj, "data": data}, f"m{number:02}", at(number))
    rows = [(item["manager"], item["time"]) for item in obj["metadata"]["managedFields"]]
    assert rows == [("ancient-changes", at(3)), *((f"m{number:02}", at(number)) for number in range(4, 13))]


SETTLED = [
    pytest.param(config_map({"a": "1"}, managedFields=[entry("m", {"f:data": {}}, time=T1)]), True, id="times only"),
    pytest.param(config_map({"a": "2"}, managedFields=[entry("m", {"f:data": {}})]), False, id="a value"),
    pytest.param(config_map({"a": "1"}, managedFields=[entry("m", {"f:data": {"f:a": {}}})]), False, id="an owner"),
]


@pytest.mark.parametrize(("new", "unchanged"), SETTLED)
def test_a_write_that_changes_nothing_is_none(new: Object, unchanged: bool) -> None:
    old = config_map({"a": "1"}, managedFields=[entry("m", {"f:data": {}})])
    assert settle_times(old, new) is (old if unchanged else new)
