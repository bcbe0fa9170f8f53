"""What moves between members, by what the records and the decisions say."""

from __future__ import annotations

import pytest

from kadm.compare.moves import moves
from kadm.model.decision import Decision, Decisions
from kadm.model.objects import ObjectKey
from kadm.model.plan import Move
from kadm.model.record import Record, RecordedWorkload

WEB = ObjectKey("apps", "Deployment", "shop", "web")
Numbers = dict[str, int | None]


def records(had: Numbers, *, key: ObjectKey = WEB, moving: dict[str, int] | None = None) -> dict[str, Record | None]:
    """A record in each member that holds the workload."""
    return {
        member: Record(
            fleet="shop",
            member_uid=member,
            workloads=(
                RecordedWorkload(
                    group=key.group,
                    kind=key.kind,
                    namespace=key.namespace,
                    name=key.name,
                    replicas=replicas,
                    moving=moving or {},
                ),
            ),
        )
        for member, replicas in had.items()
    }


def decided(placement: Numbers, key: ObjectKey = WEB) -> Decisions:
    return Decisions({key: Decision(key=key, outcome="scheduled", placement=placement)})


@pytest.mark.parametrize(
    ("had", "now", "want"),
    [
        pytest.param({"eu": 3}, {"eu": 1, "us": 2}, Move(key=WEB, leaves={"eu": 2}, arrives={"us": 2}), id="divided"),
        pytest.param({"eu": 3}, {"eu": 5}, None, id="scaled up"),
        pytest.param({"eu": 3, "us": 3}, {"eu": 2, "us": 2}, None, id="scaled down"),
        pytest.param(
            {"eu": None}, {"us": None}, Move(key=WEB, leaves={"eu": 1}, arrives={"us": 1}, whole=True), id="whole"
        ),
        pytest.param({"eu": None}, {"eu": None, "us": None}, None, id="one copy more"),
        pytest.param({"eu": None, "us": None}, {"us": None}, None, id="one copy less"),
        pytest.param(
            {"eu": 3, "us": 0},
            {"us": None},
            Move(key=WEB, leaves={"eu": 1}, arrives={"us": 1}, whole=True),
            id="no longer divided: of 0 replicas there was no copy",
        ),
        pytest.param({"eu": None}, {}, None, id="removed everywhere is no move"),
    ],
)
def test_moves(had: Numbers, now: Numbers, want: Move | None) -> None:
    assert moves(decided(now), records(had)) == ((want,) if want else ())


def test_an_unfinished_move_goes_on() -> None:
    begun = records({"eu": None, "us": None}, moving={"eu": 1})
    assert moves(decided({"us": None}), begun) == (Move(key=WEB, leaves={"eu": 1}, arrives={"us": 1}, whole=True),)


def test_nothing_of_a_config_map_runs() -> None:
    key = ObjectKey("", "ConfigMap", "shop", "c")
    assert moves(decided({"us": None}, key), records({"eu": None}, key=key)) == ()
