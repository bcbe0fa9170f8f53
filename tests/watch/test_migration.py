"""What a member is believed to run: the spec's vectors, the way down and up, and cycles without flapping."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kadm.model.migration import Estimate
from kadm.schedule.planner import Bounds, Preference, divide
from kadm.watch.migration import Judgement, Rules, Sight, judge, seconds, text_of

NOW = 1_700_000_000.0


def rules(*, total: int = 9, waits: bool = False) -> Rules:
    return Rules(threshold_s=60, cool_down_s=600, total=total, waits=waits)


def believed(judgement: Judgement) -> int | None:
    return judgement.estimate.capacity if judgement.estimate else None


@pytest.mark.parametrize(
    ("sight", "capacity", "look_again"),
    [
        pytest.param(Sight(desired=3, ready=3, pods=3), None, None, id="all run"),
        pytest.param(
            Sight(desired=3, ready=1, pods=3, stuck=(NOW - 90, NOW - 90)), 1, None, id="two found no node in time"
        ),
        pytest.param(
            Sight(desired=3, ready=1, pods=3, stuck=(NOW - 40, NOW - 40)),
            None,
            NOW + 20,
            id="not yet past the threshold",
        ),
        pytest.param(Sight(desired=5, ready=2, pods=3, stuck=(NOW - 90,)), 4, None, id="two are not created yet"),
        pytest.param(Sight(desired=3, ready=0, pods=2, stuck=(NOW - 90, NOW - 90)), 1, None, id="one is terminating"),
        pytest.param(Sight(desired=3, ready=3, pods=4, stuck=(NOW - 90,)), None, None, id="a surge does not fit"),
        pytest.param(
            Sight(desired=5, ready=2, pods=2, uncreated_since=NOW - 90), 2, None, id="a quota lets only two be created"
        ),
        pytest.param(
            Sight(desired=5, ready=2, pods=2, uncreated_since=NOW - 10), None, NOW + 50, id="a quota, not long enough"
        ),
        pytest.param(Sight(desired=3, ready=3, pods=3, stuck=(NOW - 90,)), None, None, id="never below what is ready"),
        pytest.param(
            Sight(desired=4, ready=2, pods=4, least=3, stuck=(NOW - 90, NOW - 90)),
            3,
            None,
            id="a ready pod comes after one that waits, and would go first",
        ),
    ],
)
def test_what_is_learned_of_a_member_that_was_trusted(
    sight: Sight, capacity: int | None, look_again: float | None
) -> None:
    found = judge(None, sight, rules(), now=NOW)
    assert (believed(found), found.look_again) == (capacity, look_again)


def an_estimate(capacity: int | None = 1, *, ends_in: float = 600, strikes: int = 0, raised: bool = False) -> Estimate:
    return Estimate(
        capacity=capacity, since=text_of(NOW - 600), until=text_of(NOW + ends_in), strikes=strikes, raised=raised
    )


FITS = Sight(desired=1, ready=1, pods=1)
ALL_RUN = Sight(desired=3, ready=3, pods=3)
FULL = Sight(desired=3, ready=0, pods=3, stuck=(NOW - 90,) * 3)


@pytest.mark.parametrize(
    ("known", "sight", "given", "want"),
    [
        pytest.param(an_estimate(), FITS, {}, (1, False), id="within the cool-down nothing is trusted"),
        pytest.param(an_estimate(), ALL_RUN, {}, (1, False), id="not even by what runs"),
        pytest.param(an_estimate(ends_in=-1), ALL_RUN, {}, (None, False), id="after it what runs is trusted"),
        pytest.param(an_estimate(ends_in=-1), ALL_RUN, {"moving": True}, (1, False), id="but not during a move"),
        pytest.param(an_estimate(ends_in=-1), FITS, {}, (1, True), id="where nothing waits it has to be looked at"),
        pytest.param(an_estimate(ends_in=-1), FITS, {"room": 0}, (1, False), id="there is no room"),
        pytest.param(an_estimate(ends_in=-1), FITS, {"room": 3}, (4, False), id="there is some room"),
        pytest.param(an_estimate(ends_in=-1), FITS, {"room": 8}, (None, False), id="there is room for all"),
        pytest.param(an_estimate(), FULL, {}, (0, False), id="less is believed at once"),
        pytest.param(an_estimate(), None, {}, (1, False), id="what cannot be seen changes nothing"),
        pytest.param(an_estimate(None, ends_in=-1), FITS, {}, (None, False), id="forgotten in the end"),
    ],
)
def test_what_becomes_of_an_estimate(
    known: Estimate, sight: Sight | None, given: dict[str, int], want: tuple[int | None, bool]
) -> None:
    found = judge(known, sight, rules(), now=NOW, **given)  # type: ignore[arg-type]  # a table of keywords
    assert (believed(found), found.probe) == want


@pytest.mark.parametrize(
    ("known", "strikes", "cool_down"),
    [
        pytest.param(None, 0, 600, id="the first time"),
        pytest.param(an_estimate(None), 1, 1200, id="full again while that is remembered"),
        pytest.param(an_estimate(None, strikes=3), 4, 9600, id="and again"),
        pytest.param(an_estimate(None, strikes=9), 10, 9600, id="with an end"),
        pytest.param(an_estimate(2, raised=True), 1, 1200, id="full again after a look"),
        pytest.param(an_estimate(2), 0, 600, id="fuller still"),
    ],
)
def test_a_member_that_is_full_again_waits_longer(known: Estimate | None, strikes: int, cool_down: float) -> None:
    estimate = judge(known, FULL, rules(), now=NOW).estimate
    assert estimate is not None
    assert (estimate.strikes, seconds(estimate.until) - NOW) == (strikes, cool_down)


@dataclass
class Fleet:
    """Members of some room each, that run what fits of what they are given; one cycle is ten seconds."""

    room: dict[str, int]
    total: int
    rules: Rules
    now: float = NOW
    given: dict[str, int] = field(default_factory=dict)
    known: dict[str, Estimate | None] = field(default_factory=dict)
    waiting: dict[str, list[float]] = field(default_factory=dict)
    moved: list[tuple[float, dict[str, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.given = self._divided()
        self.waiting = {name: [] for name in self.room}
        self.known = dict.fromkeys(self.room)

    def _divided(self) -> dict[str, int]:
        estimated = {name: one.capacity for name, one in self.known.items() if one and one.capacity is not None}
        division = divide(
            {name: Preference(weight=1) for name in self.room},
            total=self.total,
            key="default/web",
            current=self.given,
            bounds=Bounds(estimated=estimated),
            keep_unschedulable=self.rules.waits,
        )
        return {name: division.total(name) for name in self.room}

    def cycle(self) -> None:
        self.now += 10
        changed = False
        for name, given in self.given.items():
            runs = min(given, self.room[name])
            waiting = self.waiting[name][: given - runs]
            self.waiting[name] = [*waiting, *[self.now] * (given - runs - len(waiting))]
            sight = Sight(desired=given, ready=runs, pods=given, stuck=tuple(self.waiting[name]))
            found = judge(self.known[name], sight, self.rules, now=self.now)
            if found.probe:
                room = max(self.room[name] - given, 0)
                found = judge(self.known[name], sight, self.rules, now=self.now, room=room)
            before = believed(Judgement(estimate=self.known[name]))
            self.known[name] = found.estimate
            changed = changed or believed(found) != before
        if changed:
            after = self._divided()
            if after != self.given:
                self.moved.append((self.now, {name: after[name] - self.given[name] for name in after}))
                self.given = after

    @property
    def running(self) -> int:
        return sum(min(given, self.room[name]) for name, given in self.given.items())


@pytest.mark.parametrize("waits", [pytest.param(False, id="move"), pytest.param(True, id="keep what waits")])
@pytest.mark.parametrize(
    "room",
    [
        pytest.param({"a": 1, "b": 20, "c": 20}, id="one is full"),
        pytest.param({"a": 1, "b": 3, "c": 20}, id="two are full"),
        pytest.param({"a": 0, "b": 4, "c": 20}, id="one is full, the next is full with the rest"),
        pytest.param({"a": 2, "b": 2, "c": 2}, id="all are full"),
    ],
)
def test_a_hundred_cycles_settle_and_stay(room: dict[str, int], waits: bool) -> None:
    fleet = Fleet(room=room, total=9, rules=rules(waits=waits))
    for _ in range(100):
        fleet.cycle()
    assert fleet.running == min(9, sum(room.values()))
    assert len(fleet.moved) <= len(room), fleet.moved
    late = [when for when, _ in fleet.moved if when > NOW + 30 * 10]
    assert late == [], "it had settled"


@pytest.mark.parametrize("waits", [pytest.param(False, id="move"), pytest.param(True, id="keep what waits")])
def test_no_more_replicas_move_than_did_not_fit(waits: bool) -> None:
    fleet = Fleet(room={"a": 1, "b": 20, "c": 20}, total=9, rules=rules(waits=waits))
    for _ in range(100):
        fleet.cycle()
    assert [sum(more for more in change.values() if more > 0) for _, change in fleet.moved] == [2]
    assert fleet.given == ({"a": 3, "b": 4, "c": 4} if waits else {"a": 1, "b": 4, "c": 4})


def test_capacity_that_comes_and_goes_makes_nothing_travel_often() -> None:
    fleet = Fleet(room={"a": 1, "b": 20, "c": 20}, total=9, rules=rules(waits=True))
    for number in range(1000):
        fleet.room["a"] = 1 if number // 12 % 2 == 0 else 9  # two minutes full, two minutes empty
        fleet.cycle()
    assert len(fleet.moved) <= 10
    between = [later - earlier for (earlier, _), (later, _) in zip(fleet.moved, fleet.moved[1:], strict=False)]
    assert all(pause >= 60 for pause in between), between


def test_when_capacity_returns_what_waited_replaces_its_replacements() -> None:
    fleet = Fleet(room={"a": 1, "b": 20, "c": 20}, total=9, rules=rules(waits=True))
    for _ in range(20):
        fleet.cycle()
    assert fleet.given == {"a": 3, "b": 4, "c": 4}
    fleet.room["a"] = 9
    for _ in range(100):
        fleet.cycle()
    assert fleet.given == {"a": 3, "b": 3, "c": 3}
    assert fleet.moved[-1][0] - fleet.moved[0][0] >= 600, "not within the cool-down"


def test_a_scale_up_does_not_go_where_it_is_full() -> None:
    fleet = Fleet(room={"a": 1, "b": 20, "c": 20}, total=9, rules=rules())
    for _ in range(20):
        fleet.cycle()
    fleet.total = 12
    fleet.given = fleet._divided()
    assert fleet.given["a"] == 1
