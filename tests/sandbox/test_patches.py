"""JSON patch, JSON merge patch and strategic merge patch."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.patches import PatchRefused, json_patch, merge_patch
from kadm.sandbox.schema import builtin
from kadm.sandbox.strategic_merge import StrategicMergeRefused, strategic_merge_patch

Object = dict[str, Any]


def op(name: str, path: str, *value: Any, **more: Any) -> Object:
    return {"op": name, "path": path, **({"value": value[0]} if value else {}), **more}


JSON_PATCHES = [
    pytest.param({"a": {}}, [op("add", "/a/b", 1)], {"a": {"b": 1}}, id="add a member"),
    pytest.param({"a": [1, 2]}, [op("add", "/a/1", 9)], {"a": [1, 9, 2]}, id="insert"),
    pytest.param({"a": [1, 2]}, [op("add", "/a/-", 9)], {"a": [1, 2, 9]}, id="append"),
    pytest.param({"a": [1, 2]}, [op("add", "/a/-1", 9)], {"a": [1, 2, 9]}, id="insert from the end"),
    pytest.param({"a": 1}, [op("replace", "/b", 2)], {"a": 1, "b": 2}, id="replace adds an absent member"),
    pytest.param({"a": [1, 2]}, [op("replace", "/a/-1", 9)], {"a": [1, 9]}, id="replace from the end"),
    pytest.param({"a": {"x/y": 1, "~": 2}}, [op("remove", "/a/x~1y"), op("remove", "/a/~0")], {"a": {}}, id="escapes"),
    pytest.param({"a": 1}, [op("move", "/b", **{"from": "/a"})], {"b": 1}, id="move"),
    pytest.param({"a": {"x": 1}}, [op("copy", "/b", **{"from": "/a"}), op("add", "/b/y", 2)],
                 {"a": {"x": 1}, "b": {"x": 1, "y": 2}}, id="copy shares nothing"),
    pytest.param({"a": 1}, [op("test", "/a", 1), op("test", "/b", None)], {"a": 1}, id="tests hold"),
    pytest.param({"a": 1}, [], {"a": 1}, id="no operation"),
]  # fmt: skip


@pytest.mark.parametrize(("obj", "operations", "want"), JSON_PATCHES)
def test_json_patch(obj: Object, operations: list[Object], want: Object) -> None:
    assert json_patch(obj, operations) == want


REFUSED = [
    pytest.param([op("test", "/a", 2)], id="test fails"),
    pytest.param([op("test", "/a", True)], id="true is not 1"),
    pytest.param([op("add", "/none/x", 1)], id="no container"),
    pytest.param([op("remove", "/none")], id="nothing to remove"),
    pytest.param([op("replace", "/l/7", 1)], id="index out of range"),
    pytest.param([op("add", "/l/x", 1)], id="no index"),
    pytest.param([op("frob", "/a", 1)], id="unknown operation"),
    pytest.param([op("move", "/a")], id="no source"),
    pytest.param([op("add", "", {})], id="the whole document"),
]


@pytest.mark.parametrize("operations", REFUSED)
def test_refused_json_patches(operations: list[Object]) -> None:
    with pytest.raises(PatchRefused):
        json_patch({"a": 1, "l": [1]}, operations)


def test_a_json_patch_leaves_the_object_alone() -> None:
    obj = {"a": {"b": [1]}}
    json_patch(obj, [op("add", "/a/b/-", 2), op("remove", "/a")])
    assert obj == {"a": {"b": [1]}}


# The examples of RFC 7386, appendix A.
MERGE_PATCHES = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("obj", "patch", "want"), MERGE_PATCHES)
def test_merge_patch(obj: Any, patch: Any, want: Any) -> None:
    assert merge_patch(obj, patch) == want


def pod(*containers: Object, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": list(containers), **spec},
    }


A, B = {"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}
STRATEGIC = [
    pytest.param(pod(A, B), {"spec": {"containers": [{"name": "b", "image": "b:2"}]}}, pod(A, {**B, "image": "b:2"}),
                 id="an item is merged in its place"),
    pytest.param(pod(A), {"spec": {"containers": [B]}}, pod(B, A), id="a new item leads"),
    pytest.param(pod(A, B), {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}, pod(B), id="delete"),
    pytest.param(pod(A, B), {"spec": {"containers": [B, {"$patch": "replace"}]}}, pod(B), id="replace a list"),
    pytest.param(pod(A, B), {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}, pod(B, A),
                 id="order alone"),
    pytest.param(
        pod(A, nodeSelector={"x": "1"}), {"spec": {"nodeSelector": {"$patch": "replace", "y": "2"}}},
        pod(A, nodeSelector={"y": "2"}), id="replace a map"),
    pytest.param(
        pod({**A, "args": ["1"]}), {"spec": {"containers": [{"name": "a", "args": ["2"]}]}}, pod({**A, "args": ["2"]}),
        id="a list without a key is replaced"),
    pytest.param(
        pod(A, volumes=[{"name": "v", "emptyDir": {}}]),
        {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]}},
        pod(A, volumes=[{"name": "v", "secret": {"secretName": "s"}}]), id="retain keys"),
    pytest.param(
        {**pod(A), "metadata": {"name": "p", "finalizers": ["a", "b"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
        {**pod(A), "metadata": {"name": "p", "finalizers": ["b"]}}, id="delete from a list of scalars"),
    pytest.param(
        {**pod(A), "metadata": {"name": "p", "finalizers": ["a"]}}, {"metadata": {"finalizers": ["b", "a"]}},
        {**pod(A), "metadata": {"name": "p", "finalizers": ["b", "a"]}}, id="scalars merge"),
]  # fmt: skip


@pytest.mark.parametrize(("obj", "patch", "want"), STRATEGIC)
def test_strategic_merge(obj: Object, patch: Object, want: Object) -> None:
    schema = builtin("", "v1", "Pod")
    assert schema is not None
    assert strategic_merge_patch(obj, patch, schema) == want


BAD_STRATEGIC = [
    pytest.param({"spec": {"containers": [{"image": "x"}]}},
                 "map: map[image:x] does not contain declared merge key: name", id="no merge key"),
    pytest.param({"spec": {"$patch": "frob"}}, "unknown patch type found: frob", id="unknown directive"),
]  # fmt: skip


@pytest.mark.parametrize(("patch", "want"), BAD_STRATEGIC)
def test_refused_strategic_merges(patch: Object, want: str) -> None:
    schema = builtin("", "v1", "Pod")
    assert schema is not None
    with pytest.raises(StrategicMergeRefused) as raised:
        strategic_merge_patch(pod(A), patch, schema)
    assert str(raised.value) == want
