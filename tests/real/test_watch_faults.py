"""The daemon while a real API server cannot be reached, or has forgotten where a watch stood."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.relay import Relay, relayed
from tests.e2e.running import Tools
from tests.e2e.watch_scene import ILL, black_hole, is_lost_and_back, refuse, scene
from tests.e2e.watched_fleet import MEMBERS, config, migrate, web
from tests.real.aging import aging
from tests.real.conftest import Get, MakeFleet
from tests.real.fleet import Fleet
from tests.real.members import Members

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(900)]


CARS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cars.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Car, plural: cars, singular: car, listKind: CarList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: GROUP/v1
kind: Car
metadata: {name: beetle}
spec: {size: small}
"""


@pytest.fixture(scope="module")
def members(members_of: Get) -> Members:
    """Real ones: what embedded ones do stands in the end-to-end tests."""
    return members_of("real")


@pytest.fixture
def shop(fleet: MakeFleet) -> Fleet:
    """A fleet whose Deployment is divided over three members and would migrate, and a ConfigMap in each of them."""
    made = fleet()
    made.join(*MEMBERS)
    made.write("manifests/web.yaml", web(6))
    made.write("manifests/c.yaml", config("first"))
    made.write("policies/migrate.yaml", migrate())
    return made


@pytest.mark.parametrize(
    ("vanishes", "code"),
    [pytest.param(black_hole, "timeout", id="black-holed"), pytest.param(refuse, "unreachable", id="refusing")],
)
def test_a_member_that_is_lost_and_back_costs_nothing(
    shop: Fleet, members: Members, tools: Tools, tmp_path: Path, vanishes: Callable[[Relay], None], code: str
) -> None:
    with (
        relayed(members.kubeconfig, tmp_path) as relays,
        scene(tools, shop.root, kubeconfig=relays.kubeconfig, namespace=shop.name) as it,
    ):
        is_lost_and_back(it, relays[ILL], vanishes, code)


def test_a_member_that_forgot_the_place_is_read_anew(
    shop: Fleet, members: Members, tools: Tools, tmp_path: Path
) -> None:
    """A type that came to the server later than its first versions: it never knew of them."""
    expired, lists = "kadm_member_watch_expired_total", "kadm_member_lists_total"
    group = f"{shop.name}.example.com"
    shop.write("manifests/car.yaml", CARS.replace("GROUP", group))
    car = (f"cars.{group}/beetle", "-n", shop.name)

    def size() -> str:
        found: str = tools.get(ILL, *car)["spec"]["size"]
        return found

    with (
        aging(members, ILL, tmp_path) as old,
        scene(tools, shop.root, kubeconfig=old.kubeconfig, namespace=shop.name) as it,
    ):
        before = it.settled()
        listed = it.count(lists, member=ILL)
        known = it.count(expired, member=ILL)  # a type that is new may be answered so by itself, once
        old.age()
        it.until(lambda: it.count(expired, member=ILL) > known, "410 is not noticed")
        tools.kubectl(ILL, "patch", *car, "--type=merge", "-p", '{"spec": {"size": "large"}}')
        it.daemon.wait_for("drift", "spec.size")  # full lists find it while there is no watch
        it.until(lambda: size() == "small", "it is not put back")
        it.until(lambda: it.count(lists, member=ILL) > listed, "it is not listed anew")
        old.heal()
        it.daemon.wait_until_settled()
        it.write("second")
        it.spreads_to(MEMBERS, "second")
        it.daemon.wait_until_settled()
        it.nothing_moved(before)
        assert ([it.up(name) for name in MEMBERS], it.daemon.of("lost")) == ([True] * 3, [])
