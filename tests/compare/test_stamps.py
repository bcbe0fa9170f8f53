"""The proof of nothing to do: what it sees, and what it overlooks on purpose."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kadm.compare import Prover
from kadm.model.applyset import PART_OF, applyset_id
from kadm.model.desired import DesiredObject
from kadm.model.live import RawObject
from kadm.model.objects import JsonObject, key_of
from kadm.model.stamps import Stamps, stamp_key
from kadm.render.digest import digest_of
from tests.compare.builders import MANAGER, entry

SET = applyset_id("kadm-shop")

GIT: JsonObject = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}, "annotations": {"note": "a"}},
    "spec": {
        "replicas": 3,
        "template": {
            "spec": {
                "containers": [
                    {"name": "app", "image": "a:1", "args": ["x", "y"], "env": [{"name": "A", "value": "1"}]},
                    {"name": "side", "image": "b:1"},
                ]
            }
        },
    },
}

OWNED: JsonObject = {
    "f:spec": {
        "f:replicas": {},
        "f:template": {
            "f:spec": {
                "f:containers": {
                    'k:{"name":"app"}': {"f:image": {}, "f:args": {}, "f:env": {'k:{"name":"A"}': {"f:value": {}}}},
                    'k:{"name":"side"}': {"f:image": {}},
                }
            }
        },
    }
}


def a_desired(obj: JsonObject = GIT) -> DesiredObject:
    return DesiredObject(key=key_of(obj), version="v1", object=obj, digest=digest_of(obj))


def a_live() -> JsonObject:
    obj = copy.deepcopy(GIT)
    obj["metadata"] |= {
        "uid": "u1",
        "resourceVersion": "7",
        "labels": {"app": "web", PART_OF: SET},
        "managedFields": [entry(MANAGER, OWNED)],
    }
    obj["spec"]["strategy"] = {"type": "RollingUpdate"}
    obj["status"] = {"replicas": 3}
    return obj


def raw(obj: JsonObject) -> RawObject:
    fields = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in obj.items()}
    return RawObject(fields, "apps/v1", "Deployment")


def a_prover(stamps: Stamps | None = None, *, secret_key: bytes | None = None) -> Prover:
    known = stamps or Stamps(fleet="shop", member_uid="m")
    return Prover(known, manager=MANAGER, set_id=SET, secret_key=secret_key)


def stamped(obj: JsonObject, wanted: DesiredObject, *, secret_key: bytes | None = None) -> Prover:
    """A prover with the stamp of one object."""
    stamp = a_prover(secret_key=secret_key).stamp(wanted, raw(obj))
    assert stamp is not None
    return a_prover(Stamps(fleet="shop", member_uid="m", objects={stamp_key(wanted.key): stamp}), secret_key=secret_key)


def containers(obj: JsonObject) -> list[Any]:
    found: list[Any] = obj["spec"]["template"]["spec"]["containers"]
    return found


def set_status(obj: JsonObject) -> None:
    obj["status"] = {"replicas": 5}
    obj["metadata"]["resourceVersion"] = "9"


def add_sidecar(obj: JsonObject) -> None:
    containers(obj).append({"name": "injected", "image": "mesh"})


def add_entry(obj: JsonObject) -> None:
    obj["metadata"]["managedFields"].append(entry("mesh", {"f:spec": {}}, operation="Update"))


def add_label(obj: JsonObject) -> None:
    obj["metadata"]["labels"]["theirs"] = "x"


def default_more(obj: JsonObject) -> None:
    obj["spec"]["minReadySeconds"] = 5


def nothing(obj: JsonObject) -> None:
    """As it was."""


@pytest.mark.parametrize("edit", [nothing, set_status, add_sidecar, add_entry, add_label, default_more])
def test_what_others_do_beside_it_is_overlooked(edit: Callable[[JsonObject], None]) -> None:
    prover, live = stamped(a_live(), a_desired()), a_live()
    edit(live)
    assert prover.unchanged(a_desired(), raw(live))


def scale(obj: JsonObject) -> None:
    obj["spec"]["replicas"] = 5


def swap_containers(obj: JsonObject) -> None:
    containers(obj).reverse()


def change_env(obj: JsonObject) -> None:
    containers(obj)[0]["env"][0]["value"] = "1000m"


def change_number_to_text(obj: JsonObject) -> None:
    obj["spec"]["replicas"] = "3"


def edit_atomic_list(obj: JsonObject) -> None:
    containers(obj)[0]["args"].append("z")


def take_label_off(obj: JsonObject) -> None:
    del obj["metadata"]["labels"][PART_OF]


def change_annotation(obj: JsonObject) -> None:
    obj["metadata"]["annotations"]["note"] = "b"


def recreate(obj: JsonObject) -> None:
    obj["metadata"]["uid"] = "u2"


def delete(obj: JsonObject) -> None:
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


def lose_entry(obj: JsonObject) -> None:
    obj["metadata"]["managedFields"] = []


def shrink_entry(obj: JsonObject) -> None:
    obj["metadata"]["managedFields"] = [entry(MANAGER, {"f:spec": {"f:replicas": {}}})]


def remove_container(obj: JsonObject) -> None:
    del containers(obj)[1]


@pytest.mark.parametrize(
    "edit",
    [
        scale,
        swap_containers,
        change_env,
        change_number_to_text,
        edit_atomic_list,
        take_label_off,
        change_annotation,
        recreate,
        delete,
        lose_entry,
        shrink_entry,
        remove_container,
    ],
)
def test_what_touches_kadms_fields_is_seen(edit: Callable[[JsonObject], None]) -> None:
    prover, live = stamped(a_live(), a_desired()), a_live()
    edit(live)
    assert not prover.unchanged(a_desired(), raw(live))


def test_a_change_in_git_is_seen() -> None:
    git = copy.deepcopy(GIT)
    git["spec"]["replicas"] = 4
    assert not stamped(a_live(), a_desired()).unchanged(a_desired(git), raw(a_live()))


def test_without_a_stamp_nothing_is_proved() -> None:
    assert not a_prover().unchanged(a_desired(), raw(a_live()))


SECRET: JsonObject = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "YQ=="}}


def a_live_secret() -> JsonObject:
    metadata = {"name": "s", "uid": "u1", "managedFields": [entry(MANAGER, {"f:data": {"f:p": {}}})]}
    return {**SECRET, "metadata": metadata}


def test_secrets_are_stamped_with_a_key_alone() -> None:
    assert a_prover().stamp(a_desired(SECRET), raw(a_live_secret())) is None


def test_without_the_key_a_secrets_stamp_tells_nothing() -> None:
    first = a_prover(secret_key=b"1" * 32).stamp(a_desired(SECRET), raw(a_live_secret()))
    other = a_prover(secret_key=b"2" * 32).stamp(a_desired(SECRET), raw(a_live_secret()))
    proved = stamped(a_live_secret(), a_desired(SECRET), secret_key=b"1" * 32)
    assert (first != other, proved.unchanged(a_desired(SECRET), raw(a_live_secret()))) == (True, True)
