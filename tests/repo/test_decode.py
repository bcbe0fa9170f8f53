"""Typed decoding: all faults at once, each with its place, and what nulls and absent values become."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType

from kadm.errors import RepoError
from kadm.model.objects import Path
from kadm.repo.decode import decode
from tests.repo.reading import document


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    weight: float = 1.0


class Open(Struct, frozen=True):
    name: str = ""


class Thing(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    mode: Literal["Divide", "Duplicate"]
    max_clusters: Annotated[int, Meta(ge=0, le=100)] | None = None
    colour: Colour = Colour.RED
    labels: dict[str, str] = {}
    parts: tuple[Part, ...] = ()
    mixed: tuple[str | Part, ...] = ()
    names: Annotated[tuple[str, ...], Meta(min_length=1)] = ("x",)
    code: Annotated[str, Meta(pattern="^[a-z]+$", max_length=3)] = "a"
    suspend: bool = False
    anything: Any = None
    open: Open = Open()
    later: int | UnsetType = UNSET


FULL = """\
mode: Divide
maxClusters: 3
colour: blue
labels: {a: b}
parts: [{name: p, weight: 2}]
mixed: [a, {name: b}]
names: [a, b]
code: abc
suspend: true
anything: {x: [1, null]}
open: {name: o, other: 1}
later: 7
"""


def test_a_full_value() -> None:
    assert decode(document(FULL), Thing) == Thing(
        mode="Divide",
        max_clusters=3,
        colour=Colour.BLUE,
        labels={"a": "b"},
        parts=(Part("p", 2.0),),
        mixed=("a", Part("b")),
        names=("a", "b"),
        code="abc",
        suspend=True,
        anything={"x": [1, None]},
        open=Open("o"),
        later=7,
    )


def test_nulls_count_as_absent() -> None:
    text = "mode: Divide\nmaxClusters: null\nlabels:\nparts:\nsuspend: null\nanything: null\nlater: null\n"
    assert decode(document(text), Thing) == Thing(mode="Divide")


@pytest.mark.parametrize(
    ("text", "path", "want"),
    [
        pytest.param("spec: {mode: Divide}\n", ("spec",), Thing(mode="Divide"), id="a part of the document"),
        pytest.param("a: 1\n", ("open",), Open(), id="an absent part is an empty one"),
    ],
)
def test_parts(text: str, path: Path, want: object) -> None:
    assert decode(document(text), type(want), path=path) == want


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param(
            "mode: divide\n",
            ['f.yaml:1:7: `mode` must be one of `Divide`, `Duplicate`, and is "divide"'],
            id="value of a closed set",
        ),
        pytest.param("{}\n", ["f.yaml:1:1: `mode` is missing; it must be one of `Divide`, `Duplicate`"], id="missing"),
        pytest.param(
            "mode: Divide\nmaxCluster: 1\n",
            ["f.yaml:2:1: `maxCluster` is no field that kadm knows (did you mean `maxClusters`?)"],
            id="unknown field, near to a known one",
        ),
        pytest.param(
            "mod: Divide\n",
            ["f.yaml:1:1: `mod` is no field that kadm knows (did you mean `mode`?)"],
            id="a misspelt field that is required is one fault",
        ),
        pytest.param(
            "mode: Divide\nparts:\n- name: a\n  zzz: 1\n",
            ["f.yaml:4:3: `parts[0].zzz` is no field that kadm knows (known here: name, weight)"],
            id="unknown field of an item",
        ),
        pytest.param(
            "mode: Divide\nmaxClusters: 101\n",
            ["f.yaml:2:14: `maxClusters` must be a whole number from 0 to 100, and is 101"],
            id="bounds",
        ),
        pytest.param(
            "mode: Divide\nmaxClusters: 1.5\n",
            ["f.yaml:2:14: `maxClusters` must be a whole number from 0 to 100, and is 1.5"],
            id="fraction",
        ),
        pytest.param(
            "mode: Divide\nlabels: {a: 1, b: true, c: d, e: null}\n",
            [
                "f.yaml:2:13: `labels.a` must be text, and is 1 (put it in quotes)",
                "f.yaml:2:19: `labels.b` must be text, and is true (put it in quotes)",
                "f.yaml:2:34: `labels.e` must be text, and is null",
            ],
            id="values that are no text, all of them",
        ),
        pytest.param(
            'mode: Divide\ncolour: green\nsuspend: "true"\ncode: ABCD\nparts: {name: a}\nlabels: []\n',
            [
                'f.yaml:2:9: `colour` must be one of `red`, `blue`, and is "green"',
                'f.yaml:3:10: `suspend` must be true or false, and is "true"',
                'f.yaml:4:7: `code` must be text that matches ^[a-z]+$ and of at most 3 characters, and is "ABCD"',
                "f.yaml:5:8: `parts` must be a list, and is an object",
                "f.yaml:6:9: `labels` must be an object, and is a list of 0",
            ],
            id="a fault in every field",
        ),
        pytest.param(
            "mode: Divide\nmixed: [1, {weight: x}]\nnames: []\n",
            [
                "f.yaml:2:9: `mixed[0]` must be text or an object, and is 1 (put it in quotes)",
                'f.yaml:2:21: `mixed[1].weight` must be a number, and is "x"',
                "f.yaml:2:12: `mixed[1].name` is missing; it must be text",
                "f.yaml:3:8: `names` must be a list of at least 1 items, and is a list of 0",
            ],
            id="either text or an object",
        ),
        pytest.param(
            f"mode: {'x' * 100}\n",
            [f'f.yaml:1:7: `mode` must be one of `Divide`, `Duplicate`, and is "{"x" * 58}…'],
            id="a long value is cut",
        ),
    ],
)
def test_faults(text: str, problems: list[str]) -> None:
    with pytest.raises(RepoError) as raised:
        decode(document(text), Thing)
    assert [str(problem) for problem in raised.value.problems] == problems
