"""The fleet's status as a table: a line per workload, and what is not well says why."""

from __future__ import annotations

import io

import pytest

from kadm.cli.console import Console
from kadm.cli.show_status import show_table
from kadm.errors import Problem
from kadm.model.status import FleetStatus, Health, WorkloadInMember, WorkloadStatus
from tests.cli.builders import a_key

HEALTHY = Health("Healthy")


def _in(member: str, ready: int | None, desired: int | None, health: Health = HEALTHY) -> WorkloadInMember:
    return WorkloadInMember(
        member=member, health=health, desired=desired, current=ready, updated=ready, ready=ready, available=ready
    )


def _workload(name: str, *members: WorkloadInMember, health: Health = HEALTHY) -> WorkloadStatus:
    counted = [member for member in members if member.desired is not None]
    return WorkloadStatus(
        key=a_key(name),
        version="v1",
        health=health,
        desired=sum(member.desired or 0 for member in counted) if counted else None,
        ready=sum(member.ready or 0 for member in counted) if counted else None,
        members=members,
    )


def _table(found: FleetStatus, *, wide: bool = False) -> str:
    out = io.StringIO()
    show_table(Console(out=out, err=io.StringIO()), found, wide=wide)
    return out.getvalue()


STUCK = Health("Failed", "us: 1 pod ImagePullBackOff in container app")
FLEET = FleetStatus(
    fleet="shop",
    workloads=(
        _workload("cart", _in("eu", 2, 2), _in("us", 1, 1)),
        _workload("web", _in("eu", 2, 2), _in("us", 0, 4, Health("Failed", "1 pod ImagePullBackOff")), health=STUCK),
        _workload("job", _in("eu", None, None, Health("Healthy", "complete"))),
        _workload("nowhere", health=Health("Missing", "it is in no member")),
    ),
)


def test_a_line_per_workload_and_below_it_why_it_is_not_well() -> None:
    assert _table(FLEET) == (
        "NAMESPACE  WORKLOAD            READY  HEALTH   MEMBERS\n"
        "shop       Deployment/cart       3/3  Healthy  eu 2/2, us 1/1\n"
        "shop       Deployment/web        2/6  Failed   eu 2/2, us 0/4\n"
        "  us: 1 pod ImagePullBackOff in container app\n"
        "shop       Deployment/job          -  Healthy  eu\n"
        "shop       Deployment/nowhere      -  Missing  -\n"
        "  it is in no member\n"
    )


def test_wide_is_a_line_per_workload_and_member() -> None:
    assert _table(FLEET, wide=True) == (
        "NAMESPACE  WORKLOAD            MEMBER  READY  UPDATED  AVAILABLE  HEALTH   REASON\n"
        "shop       Deployment/cart     eu        2/2        2          2  Healthy\n"
        "shop       Deployment/cart     us        1/1        1          1  Healthy\n"
        "shop       Deployment/web      eu        2/2        2          2  Healthy\n"
        "shop       Deployment/web      us        0/4        0          0  Failed   1 pod ImagePullBackOff\n"
        "shop       Deployment/job      eu          -        -          -  Healthy  complete\n"
        "shop       Deployment/nowhere  -           -        -          -  Missing  it is in no member\n"
    )


@pytest.mark.parametrize(
    ("ill", "want"),
    [
        pytest.param(0, "9 members", id="all well"),
        pytest.param(2, "9 members: m0 0/1, m1 0/1", id="those that are not well"),
        pytest.param(5, "9 members: m0 0/1, m1 0/1, m2 0/1, …", id="the first of them"),
    ],
)
def test_many_members_are_counted(ill: int, want: str) -> None:
    members = [_in(f"m{number}", int(number >= ill), 1, HEALTHY if number >= ill else STUCK) for number in range(9)]
    text = _table(FleetStatus(fleet="shop", workloads=(_workload("web", *members),)))
    assert text.splitlines()[1].partition("Healthy  ")[2] == want


def test_an_unread_member_is_told_of_once_and_not_below_each_workload() -> None:
    unknown = Health("Unknown", "us: no connection")
    workload = _workload("web", _in("eu", 2, 2), _in("us", None, 1, Health("Unknown", "no connection")), health=unknown)
    found = FleetStatus(fleet="shop", workloads=(workload,), unread={"us": Problem(what="no connection")})
    assert _table(found) == (
        "NAMESPACE  WORKLOAD        READY  HEALTH   MEMBERS\n"
        "shop       Deployment/web    2/3  Unknown  eu 2/2, us ?/1\n"
    )


def test_what_was_known_last_is_marked() -> None:
    old = Health("Unknown", "nothing was heard of us since noon: no connection")
    workload = _workload("web", _in("eu", 2, 2), _in("us", 1, 1, old), health=old)
    found = FleetStatus(fleet="shop", workloads=(workload,), unread={"us": Problem(what="no connection")})
    assert _table(found) == (
        "NAMESPACE  WORKLOAD        READY  HEALTH   MEMBERS\n"
        "shop       Deployment/web    3/3  Unknown  eu 2/2, us 1/1 (stale)\n"
    )


def test_an_empty_fleet_is_no_table() -> None:
    assert _table(FleetStatus(fleet="shop")) == ""
