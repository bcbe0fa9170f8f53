"""Members that are ill: the others are done, each is named with the reason, nothing is deleted or moved because of it,
and once it is well the next apply catches up.

Two members are ill at a time, each in its own way; the first one is always well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.faults import Fault
from tests.e2e.running import Said, Tools
from tests.e2e.situations import undiscovered
from tests.e2e.small_fleet import Member, Obj, Shared, SmallFleet, config, deployment, small_fleet

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(600)]

MEMBERS = ("member1", "member2", "member3")
PATIENCE = ("--request-timeout", "3")
LATE = "no answer within 3 s"

Ill = Mapping[str, tuple[Fault, str]]
"""Member → what it has, and how kadm tells of it."""


class Spread:
    """A fleet of three members with a ConfigMap and a divided Deployment everywhere, and two more ConfigMaps, of which
    ``old`` is to leave, in a namespace of their own."""

    def __init__(self, fleet: SmallFleet, tools: Tools) -> None:
        self.small = fleet
        self.name = fleet.name
        self._tools = tools
        tools.env["KUBECONFIG"] = str(fleet.shared.audit.kubeconfig)
        self.weigh(dict.fromkeys(MEMBERS, 1))

    def weigh(self, weights: Mapping[str, int]) -> None:
        """Have the Deployment's replicas divided so."""
        policy = {
            "apiVersion": "core.kubeadmiral.io/v1alpha1",
            "kind": "ClusterPropagationPolicy",
            "metadata": {"name": "spread"},
            "spec": {
                "schedulingMode": "Divide",
                "placement": [{"cluster": name, "preferences": {"weight": one}} for name, one in weights.items()],
                "reschedulePolicy": {
                    "rescheduleWhen": {"policyContentChanged": True},
                    "replicaRescheduling": {"avoidDisruption": False},
                },
            },
        }
        self.small.write(policy, path="policies/spread.yaml")

    def want(self, value: str, replicas: int, *, old: bool) -> None:
        """Have the repository say so."""
        web = deployment(self.name, replicas=replicas)
        web["metadata"]["labels"] = {"kubeadmiral.io/cluster-propagation-policy-name": "spread"}
        elsewhere = [config(f"{self.name}-old", name) for name in ("stays", "old") if old or name != "old"]
        self.small.write(config(self.name, data={"v": value}), web, *elsewhere)

    def kadm(self, *arguments: str, code: int = 0) -> Said:
        self.small.shared.audit.clear()
        return self.small.kadm(*arguments, code=code)

    def process(self, *arguments: str, code: int = 0) -> Said:
        """kadm as a process of its own, whose end anybody can see: it may not be able to give its locks back."""
        self.small.shared.audit.clear()
        return self._tools.kadm("-C", self.small.root, *arguments, code=code)

    def get(self, obj: Obj) -> dict[str, Obj]:
        """Member → the object, where it is there."""
        found = {name: self.small.shared.members[name].get(obj) for name in MEMBERS}
        return {name: one for name, one in found.items() if one is not None}

    def values(self) -> dict[str, str]:
        return {name: one["data"]["v"] for name, one in self.get(config(self.name)).items()}

    def replicas(self) -> dict[str, int]:
        return {name: one["spec"]["replicas"] for name, one in self.get(deployment(self.name)).items()}

    def old(self) -> set[str]:
        """The members that hold what left the repository."""
        return set(self.get(config(f"{self.name}-old", "old")))

    def cannot_read(self, member: str, faults: Faults) -> None:
        shared = self.small.shared
        shared.fault(member, *faults(shared.members[member]))

    def recover(self) -> None:
        for member in MEMBERS:
            self.small.shared.fault(member)

    def catches_up(self) -> None:
        """Everything is as the repository says after one more apply, and what was gone is not deleted once more."""
        self.recover()
        held = self.old()
        self.kadm("apply", "--yes")
        deleted = self.small.deleted_in_members()
        assert deleted == [(member, "configmaps/old") for member in sorted(held)]
        assert (self.values(), self.replicas()) == (dict.fromkeys(MEMBERS, "new"), dict.fromkeys(MEMBERS, 2))
        assert self.old() == set()
        self.kadm("plan", "--detailed-exitcode")


@pytest.fixture
def spread(shared: Shared, tmp_path: Path, tools: Tools) -> Iterator[Spread]:
    """The fleet, applied; then the repository changes the ConfigMap, doubles the Deployment, and lets ``old`` go."""
    found = Spread(small_fleet(shared, tmp_path / "fleet", members=MEMBERS), tools)
    found.want("as before", 3, old=True)
    found.small.apply()
    found.want("new", 6, old=False)
    yield found
    found.recover()


def fall_ill(spread: Spread, ill: Ill) -> None:
    for member, (fault, _) in ill.items():
        spread.small.shared.fault(member, fault)


def status(code: int) -> Fault:
    return Fault(mode="status", status=code)


@pytest.mark.parametrize(
    "ill",
    [
        pytest.param(
            {"member2": (Fault(mode="refuse"), "no connection"), "member3": (Fault(mode="hang"), LATE)},
            id="one is dead, one never answers",
        ),
        pytest.param(
            {
                "member2": (status(401), "not authenticated (401 Unauthorized)"),
                "member3": (status(403), "read forbidden (403 Forbidden)"),
            },
            id="one lets nobody in, one forbids all",
        ),
        pytest.param(
            {
                "member2": (status(429), "too many requests (429 TooManyRequests)"),
                "member3": (status(500), "the member failed to read (500 InternalError)"),
            },
            id="one is overloaded, one fails",
        ),
        pytest.param(
            {"member2": (Fault(mode="stall"), LATE), "member3": (Fault(mode="slow", delay_s=6), LATE)},
            id="one stops half-way, one is slow",
        ),
        pytest.param(
            {
                "member2": (Fault(mode="reset"), "the connection broke off"),
                "member3": (Fault(mode="garble"), "the answer is not what an API server sends"),
            },
            id="one drops connections, one answers half",
        ),
    ],
)
def test_members_that_cannot_be_read(spread: Spread, ill: Ill) -> None:
    fall_ill(spread, ill)
    plan = spread.kadm("plan", "-o", "json", "--detailed-exitcode", *PATIENCE, code=4).json
    assert [(one["cluster"], one["action"], one["name"]) for one in plan["changes"]] == [
        ("member1", "update", "c"),
        ("member1", "delete", "old"),
    ]
    assert {one["member"]: one["what"] for one in plan["unread"]} == {name: told for name, (_, told) in ill.items()}
    assert [(one["cluster"], one["name"]) for one in plan["frozen"]] == [("member1", "web")], "it depends on them"
    assert plan["moves"] == []
    said = spread.kadm("apply", "--yes", *PATIENCE, code=4)
    for member, (_, told) in ill.items():
        assert any(member in line and told in line for line in said.err.splitlines()), said.err
    assert f"Deployment.apps {spread.name}/web" in said.err, "what depends on them is named"
    assert spread.small.deleted_in_members() == [("member1", "configmaps/old")]
    spread.recover()
    assert spread.values() == {"member1": "new", "member2": "as before", "member3": "as before"}
    assert spread.replicas() == dict.fromkeys(MEMBERS, 1)
    spread.catches_up()


OBJECTS = "^(?!.*(/leases|/kadm-system/))"
"""Whatever is neither a lock nor a record."""


@pytest.mark.parametrize("path", [pytest.param("", id="at once"), pytest.param(OBJECTS, id="at the first object")])
@pytest.mark.parametrize(
    ("modes", "told"),
    [
        pytest.param(
            {"member2": ("reset", 0), "member3": ("status", 401)},
            {"member2": "the connection broke off", "member3": "not authenticated (401 Unauthorized)"},
            id="one drops connections, one lets nobody in",
        ),
        pytest.param(
            {"member2": ("status", 429), "member3": ("status", 500)},
            {"member2": "too many requests (429 TooManyRequests)", "member3": "the member failed to write (500"},
            id="one is overloaded, one fails",
        ),
        pytest.param(
            {"member2": ("stall", 0), "member3": ("hang", 0)},
            {"member2": "no answer within", "member3": "no answer within"},
            id="one stops half-way, one never answers",
        ),
    ],
)
def test_members_that_cannot_be_written(
    spread: Spread, path: str, modes: Mapping[str, tuple[str, int]], told: Mapping[str, str]
) -> None:
    for member, (mode, code) in modes.items():
        spread.small.shared.fault(member, Fault(mode=mode, status=code, path=path, writes=True))  # type: ignore[arg-type]
    said = spread.process("apply", "--yes", *PATIENCE, code=4)
    for member, why in told.items():
        assert any(member in line and why in line for line in said.err.splitlines()), said.err
    spread.recover()
    assert (spread.values()["member1"], spread.replicas()["member1"], "member1" in spread.old()) == ("new", 2, False)
    spread.catches_up()


def test_what_a_member_refuses_to_be_written_is_an_error(spread: Spread) -> None:
    spread.small.shared.fault("member2", Fault(mode="status", status=403, path="/configmaps/c", writes=True))
    said = spread.kadm("apply", "--yes", code=1)
    assert any("in member2: write forbidden (403 Forbidden)" in line for line in said.err.splitlines()), said.err
    spread.recover()
    assert spread.values() == {"member1": "new", "member2": "as before", "member3": "new"}
    assert spread.replicas() == dict.fromkeys(MEMBERS, 2), "the rest of that member is done, too"
    spread.catches_up()


DEPLOYMENTS = r"/deployments(/|\?|$)"

Faults = Callable[[Member], tuple[Fault, ...]]


def forbidden(_member: Member) -> tuple[Fault, ...]:
    return (Fault(mode="status", status=403, methods=("GET",), path=DEPLOYMENTS),)


def failing(_member: Member) -> tuple[Fault, ...]:
    return (Fault(mode="status", status=500, methods=("GET",), path=DEPLOYMENTS),)


def broken_off(_member: Member) -> tuple[Fault, ...]:
    return (Fault(mode="garble", methods=("GET",), path=DEPLOYMENTS),)


def not_discovered(member: Member) -> tuple[Fault, ...]:
    return undiscovered(member, "apps/v1")


ONE_KIND = [
    pytest.param(forbidden, "read forbidden (403 Forbidden)", id="it may not be read"),
    pytest.param(failing, "the member failed to read (500 InternalError)", id="reading it fails"),
    pytest.param(broken_off, "the answer is not what an API server sends", id="half of it comes"),
    pytest.param(not_discovered, "it could not be read: discovery of apps/v1 failed", id="it is not discovered"),
]


@pytest.mark.parametrize(("faults", "why"), ONE_KIND)
def test_a_kind_that_cannot_be_read_in_a_member(spread: Spread, faults: Faults, why: str) -> None:
    spread.cannot_read("member2", faults)
    plan = spread.kadm("plan", "-o", "json", "--detailed-exitcode", code=4).json
    assert [(one["cluster"], one["name"], one["reason"]) for one in plan["frozen"]] == [
        ("member2", "web", "it could not be read")
    ]
    assert [(one["cluster"], one["name"]) for one in plan["changes"] if one["cluster"] == "member2"] == [
        ("member2", "c"),
        ("member2", "old"),
    ]
    (web,) = spread.kadm("status", "-o", "json", code=4).json["workloads"]
    assert {one["cluster"] for one in web["members"] if one["health"]["code"] == "Unknown"} == {"member2"}
    said = spread.kadm("apply", "--yes", code=4)
    assert any("member2" in line and why in line for line in said.err.splitlines()), said.err
    assert spread.small.deleted_in_members() == [(member, "configmaps/old") for member in MEMBERS]
    spread.recover()
    assert spread.values() == dict.fromkeys(MEMBERS, "new")
    assert spread.replicas() == {"member1": 2, "member2": 1, "member3": 2}
    spread.catches_up()


@pytest.mark.parametrize(("faults", "why"), ONE_KIND)
def test_nothing_moves_to_where_its_kind_cannot_be_read(spread: Spread, faults: Faults, why: str) -> None:
    spread.want("as before", 3, old=True)
    spread.weigh({"member1": 1, "member2": 2, "member3": 0})
    spread.cannot_read("member2", faults)
    said = spread.kadm("apply", "--yes", code=4)
    assert any("member2" in line and why in line for line in said.err.splitlines()), said.err
    assert spread.small.deleted_in_members() == []
    spread.recover()
    assert spread.replicas() == dict.fromkeys(MEMBERS, 1)
    spread.kadm("apply", "--yes", "--allow-empty")
    assert spread.replicas() == {"member1": 1, "member2": 2}


def test_a_member_that_was_ill_from_the_start(shared: Shared, tmp_path: Path, tools: Tools) -> None:
    found = Spread(small_fleet(shared, tmp_path / "fleet", members=MEMBERS), tools)
    found.small.write(config(found.name, data={"v": "new"}))
    shared.fault("member2", Fault(mode="refuse"))
    found.kadm("apply", "--yes", code=4)
    assert found.values() == {"member1": "new", "member3": "new"}
    shared.fault("member2")
    found.kadm("apply", "--yes")
    assert found.values() == dict.fromkeys(MEMBERS, "new")
    found.kadm("plan", "--detailed-exitcode")
