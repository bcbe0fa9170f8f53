"""What holds a deletion back."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.compare import Contents, MemberComparison, Permissions, Size, bounded, going, guard
from kadm.model.fleet import Deletions
from kadm.model.live import LiveMember
from kadm.model.objects import JsonObject, ObjectKey, key_of
from kadm.model.plan import Change
from tests.compare.builders import a_config, live, recorded

NAMESPACE: JsonObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
CRD: JsonObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
}
CLAIM: JsonObject = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
}


def guarded(
    *objects: JsonObject,
    recorded: int = 100,
    left: int = 50,
    contents: Contents | None = None,
    permissions: Permissions = Permissions(),
) -> tuple[int, list[str]]:
    """How many of the deletions pass, and the flags that would permit the others."""
    keys = {key_of(one): live(one) for one in objects}
    changes = tuple(Change(cluster="eu", key=key, version="v1", action="delete", uid="u1") for key in keys)
    found = guard(
        MemberComparison(member="eu", changes=changes),
        live=LiveMember(name="eu", objects=keys),
        contents={key: contents or Contents() for key in keys},
        permissions=permissions,
    )
    sizes = {"eu": Size(recorded=recorded, desired=left)}
    (found,) = bounded([found], sizes, deletions=Deletions(), permissions=permissions)
    return len(found.changes), sorted({held.flag for held in found.held})


def configs(count: int) -> list[JsonObject]:
    return [a_config(f"c{number}") for number in range(count)]


FOREIGN = Contents(foreign=("Pod/theirs",))
UNKNOWN = Contents(unknown="403")


@pytest.mark.parametrize(
    ("objects", "options", "want"),
    [
        pytest.param(configs(1), {}, (1, []), id="one deletion passes"),
        pytest.param(configs(10), {}, (10, []), id="as many as the Fleet allows"),
        pytest.param(configs(11), {}, (0, ["--allow-deletes 11"]), id="more than the Fleet allows"),
        pytest.param(
            configs(11), {"permissions": Permissions(allow_deletes=11)}, (11, []), id="--allow-deletes that many"
        ),
        pytest.param(
            configs(11),
            {"permissions": Permissions(allow_deletes=10)},
            (0, ["--allow-deletes 11"]),
            id="--allow-deletes fewer",
        ),
        pytest.param(configs(3), {"recorded": 10}, (0, ["--allow-deletes 3"]), id="more than 20 % of a small member"),
        pytest.param(configs(1), {"recorded": 3}, (1, []), id="one is always allowed"),
        pytest.param(configs(1), {"left": 0}, (0, ["--allow-empty"]), id="the member would drop to nothing"),
        pytest.param(
            configs(30), {"left": 0, "permissions": Permissions(allow_empty=True)}, (30, []), id="--allow-empty"
        ),
        pytest.param([NAMESPACE], {}, (1, []), id="an empty namespace"),
        pytest.param(
            [NAMESPACE],
            {"contents": FOREIGN},
            (0, ["--allow-namespace-deletes"]),
            id="a namespace with others' objects",
        ),
        pytest.param([NAMESPACE], {"contents": UNKNOWN}, (0, ["--allow-namespace-deletes"]), id="unread is not empty"),
        pytest.param(
            [{**NAMESPACE, "metadata": {"name": "kube-system"}}],
            {"permissions": Permissions(allow_namespaces=True, allow_empty=True)},
            (0, ["none"]),
            id="kube-system: never",
        ),
        pytest.param([CRD], {"contents": FOREIGN}, (0, ["--allow-crd-deletes"]), id="a CRD with instances"),
        pytest.param([CRD], {}, (1, []), id="a CRD without instances"),
        pytest.param([CLAIM], {}, (0, ["--delete-pvcs"]), id="a volume claim holds data"),
        pytest.param([CLAIM], {"permissions": Permissions(delete_pvcs=True)}, (1, []), id="--delete-pvcs"),
        pytest.param(
            [a_config(annotations={"kadm.io/protect": "true"})], {}, (0, ["--allow-protected"]), id="a protected object"
        ),
    ],
)
def test_guards(objects: list[JsonObject], options: dict[str, object], want: tuple[int, list[str]]) -> None:
    assert guarded(*objects, **options) == want  # type: ignore[arg-type]  # a table's options are of many types


@pytest.mark.parametrize(
    ("recorded", "options", "want"),
    [
        pytest.param(
            11, {}, "20 deletions in this member, 3 allowed, 20% of its 11 objects", id="the share is smaller"
        ),
        pytest.param(1000, {}, "20 deletions in this member, 10 allowed", id="the number is smaller"),
        pytest.param(
            11,
            {"permissions": Permissions(allow_deletes=2)},
            "20 deletions in this member, 2 allowed",
            id="as the command line says",
        ),
    ],
)
def test_how_many_deletions_are_allowed_and_by_which_limit(recorded: int, options: dict[str, Any], want: str) -> None:
    (found,) = bounded(
        [a_member("eu", 20)],
        {"eu": Size(recorded=recorded, desired=5)},
        deletions=Deletions(),
        **{"permissions": Permissions(), **options},
    )
    assert {one.why for one in found.held} == {want}


def a_member(name: str, deletions: int) -> MemberComparison:
    """One that would delete so many objects, and update one."""
    changes = [
        Change(cluster=name, key=key_of(one), version="v1", action="delete", uid="u1") for one in configs(deletions)
    ]
    kept = Change(cluster=name, key=key_of(a_config("kept")), version="v1", action="update", uid="u2")
    return MemberComparison(member=name, changes=(*changes, kept))


MANY = {f"m{number:03}": (1, 2) for number in range(500)}
"""Members that each lose one object of two."""


@pytest.mark.parametrize(
    ("members", "limits", "permissions", "want"),
    [
        pytest.param({"a": (1, 100), "b": (2, 100)}, {}, {}, {}, id="a few"),
        pytest.param(MANY, {}, {}, {}, id="one object in 500 members"),
        pytest.param(
            {"a": (50, 60), "b": (1, 10), "c": (0, 10)},
            {},
            {},
            {
                "a": "50 deletions in this member, 10 allowed; --allow-deletes 50",
                "b": "51 deletions in all members, 16 allowed, 20% of what each holds; --allow-deletes 1",
            },
            id="what one member holds back counts in all",
        ),
        pytest.param(
            {"a": (11, 1000), "b": (1, 10)},
            {},
            {},
            {"a": "11 deletions in this member, 10 allowed; --allow-deletes 11"},
            id="too many for one member, not for the fleet",
        ),
        pytest.param(
            {"a": (2, 10), "b": (1, 10)},
            {"total": 2},
            {},
            {
                "a": "3 deletions in all members, 2 allowed; --allow-deletes 2",
                "b": "3 deletions in all members, 2 allowed; --allow-deletes 2",
            },
            id="more than the total",
        ),
        pytest.param({"a": (2, 10), "b": (1, 10)}, {"total": 3}, {}, {}, id="as many as the total"),
        pytest.param(
            {"a": (1, 10)},
            {"total": 0},
            {},
            {"a": "1 deletion in all members, 0 allowed; --allow-deletes 1"},
            id="a total of 0",
        ),
        pytest.param({"a": (2, 10), "b": (1, 10)}, {"total": 2}, {"allow_deletes": 2}, {}, id="--allow-deletes"),
        pytest.param(
            {"a": (50, 60), "b": (1, 10)},
            {},
            {"allow_deletes": 1},
            {"a": "50 deletions in this member, 1 allowed; --allow-deletes 50"},
            id="--allow-deletes for the small ones alone",
        ),
        pytest.param(
            {"a": (60, 0), "b": (1, 10)},
            {},
            {},
            {"a": "the member would drop to nothing; --allow-empty"},
            id="what drops to nothing does not count",
        ),
        pytest.param({"a": (60, 0), "b": (1, 10)}, {}, {"allow_empty": True}, {}, id="nor where it is permitted"),
    ],
)
def test_too_many_in_all_members(
    members: dict[str, tuple[int, int]], limits: dict[str, int], permissions: dict[str, Any], want: dict[str, str]
) -> None:
    """Members are name → how many deletions, of how many objects; 0 objects: nothing is to be there any more."""
    found = bounded(
        [a_member(name, count) for name, (count, _) in members.items()],
        {name: Size(recorded=size or 60, desired=size) for name, (_, size) in members.items()},
        deletions=Deletions(**limits),
        permissions=Permissions(**permissions),
    )
    assert {one.member: f"{held.why}; {held.flag}" for one in found for held in one.held} == want
    passing = {one.member: sum(change.action == "delete" for change in one.changes) for one in found}
    assert passing == {name: 0 if name in want else count for name, (count, _) in members.items()}
    assert all(any(change.action == "update" for change in one.changes) for one in found), "nothing else is held"


JOINED_LATER = (
    ": it joined later, and clusterJoined is false; "
    "kadm apply --reschedule KIND/NAME, or --reschedule-all, places it there"
)


def test_a_member_that_joined_later_can_be_filled_rather_than_emptied() -> None:
    """Only where it would drop to nothing: elsewhere what is deleted may well be what left git."""
    found = bounded(
        [a_member("empty", 5), a_member("full", 50)],
        {"empty": Size(recorded=5, desired=0), "full": Size(recorded=60, desired=10)},
        deletions=Deletions(),
        permissions=Permissions(),
        joined={"empty", "full"},
    )
    assert {one.member: {(held.why, held.flag) for held in one.held} for one in found} == {
        "empty": {
            (
                "the member would drop to nothing" + JOINED_LATER,
                "--allow-empty",
            )
        },
        "full": {("50 deletions in this member, 10 allowed", "--allow-deletes 50")},
    }


def test_only_deletions_are_guarded() -> None:
    key = ObjectKey("", "ConfigMap", "shop", "a")
    changes = (Change(cluster="eu", key=key, version="v1", action="release", uid="u1"),)
    found = guard(
        MemberComparison(member="eu", changes=changes),
        live=LiveMember(name="eu", objects={key: live(a_config())}),
        contents={},
        permissions=Permissions(),
    )
    sizes = {"eu": Size(recorded=1, desired=0)}
    (found,) = bounded([found], sizes, deletions=Deletions(), permissions=Permissions())
    assert (found.changes, found.held) == (changes, ())


def test_a_namespace_with_something_that_is_held_stays() -> None:
    protected = a_config(annotations={"kadm.io/protect": "true"})
    permitted = Permissions(allow_namespaces=True)
    assert guarded(NAMESPACE, protected, contents=FOREIGN, permissions=permitted) == (0, ["--allow-protected"])


def test_what_goes_with_a_plan() -> None:
    """Deleted and gone objects do not keep a namespace; released, protected and proved ones do."""
    names = ("deleted", "released", "protected", "gone", "settled")
    keys = {name: ObjectKey("", "ConfigMap", "shop", name) for name in names}
    there = {
        keys[name]: live(
            a_config(name, annotations={"kadm.io/protect": "true"} if name == "protected" else {}), uid=name
        )
        for name in ("deleted", "released", "protected")
    }
    changes = tuple(
        Change(
            cluster="eu", key=keys[name], version="v1", action="release" if name == "released" else "delete", uid=name
        )
        for name in ("deleted", "released", "protected")
    )
    found = going(
        MemberComparison(member="eu", changes=changes),
        LiveMember(name="eu", objects=there, settled=frozenset({keys["settled"]})),
        [recorded(keys[name], uid=name) for name in names],
        Permissions(),
    )
    assert found == {"deleted", "gone"}
