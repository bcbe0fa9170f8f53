"""What a member is believed to run of a workload, from what is seen of its pods (propagation spec, section 7). Pure.

The idea: an estimate is learned fast and trusted away slowly. What did not find a place within the threshold is counted
once, and the estimate falls to what did: never below what is ready, so that no more replicas move than did not fit. It
rises again only after a cool-down, and only by evidence: pods that had waited and now run, or a look at what is free
in the member. A member that is full again soon after it was trusted waits twice as long each time. So one cycle never
undoes what another did within the cool-down, and a member that is full every other minute makes no replicas travel.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from kadm.model.migration import Estimate

LONGEST_FACTOR = 16
"""A cool-down grows to at most so many times its first length."""


class Rules(Struct, frozen=True, kw_only=True):
    """What the policy says, and the total to divide.

    ``waits``: pods that did not fit stay where they are, beside those that replace them (keepUnschedulableReplicas, or
    avoidDisruption false, which implies it: spec 7.4).
    """

    threshold_s: float
    cool_down_s: float
    total: int
    waits: bool = False


class Sight(Struct, frozen=True, kw_only=True):
    """What is seen of one workload in one member at one moment; times are seconds since the epoch.

    ``desired`` is the live number of replicas. ``pods`` are those of its newest template that are not terminating.
    ``least`` is how many replicas it must keep so that none goes that is ready: a StatefulSet gives up its last
    ordinals first, ready or not, whatever waits before them. Any other kind gives up first what is not ready: 0.
    ``stuck`` has, for each of them that found no node, or whose node is lost, since when. ``uncreated_since``: pods are
    missing that cannot be created (a quota, a webhook), since then. ``why`` says in words what is wrong.
    """

    desired: int
    ready: int
    pods: int
    least: int = 0
    stuck: tuple[float, ...] = ()
    uncreated_since: float | None = None
    why: str = ""


class Judgement(Struct, frozen=True, kw_only=True):
    """What is believed now; ``event`` says in words what changed, empty: nothing did.

    ``look_again`` is when time alone may change it, in seconds since the epoch; None: it cannot. ``probe``: it depends
    on what is free in the member, which has to be looked at.
    """

    estimate: Estimate | None
    event: str = ""
    look_again: float | None = None
    probe: bool = False


def judge(
    known: Estimate | None,
    sight: Sight | None,
    rules: Rules,
    *,
    now: float,
    moving: bool = False,
    room: int | None = None,
) -> Judgement:
    """What one member is believed to run of one workload.

    ``sight`` None: it cannot be seen, and what is known stays. ``moving``: a move of the workload goes on, so nothing
    is trusted anew. ``room`` is how many more replicas would find a place by a fresh look; None: nobody looked.
    """
    if sight is None:
        return Judgement(estimate=known)
    not_fitting, crossing = _not_fitting(sight, rules, now)
    capacity = max(max(sight.pods, sight.desired) - not_fitting, sight.ready, sight.least, 0)
    if not_fitting and capacity < sight.desired:
        return _full(known, capacity, sight, rules, now, moving=moving, crossing=crossing)
    if known is None:
        return Judgement(estimate=None, look_again=crossing)
    until = seconds(known.until)
    if known.capacity is None:
        if now >= until:
            return Judgement(estimate=None, look_again=crossing)
        return Judgement(estimate=known, look_again=_earlier(until, crossing))
    if moving:
        return Judgement(estimate=known, look_again=crossing)
    if now < until:
        return Judgement(estimate=known, look_again=_earlier(until, crossing))
    if sight.desired > known.capacity:
        if sight.stuck or sight.uncreated_since is not None or sight.ready < sight.desired:
            return Judgement(estimate=known, look_again=crossing)
        return _released(known, rules, now, f"all {sight.desired} replicas run: it is trusted again")
    return _probed(known, known.capacity, sight, rules, now, room)


def _not_fitting(sight: Sight, rules: Rules, now: float) -> tuple[int, float | None]:
    """How many replicas did not fit for the threshold's time, and when the next one will have."""
    ends = [since + rules.threshold_s for since in sight.stuck]
    count = sum(end <= now for end in ends)
    later = [end for end in ends if end > now]
    if sight.uncreated_since is not None:
        end = sight.uncreated_since + rules.threshold_s
        if end <= now:
            count += max(sight.desired - sight.pods, 0)
        else:
            later.append(end)
    return count, min(later, default=None)


def _full(
    known: Estimate | None,
    capacity: int,
    sight: Sight,
    rules: Rules,
    now: float,
    *,
    moving: bool,
    crossing: float | None,
) -> Judgement:
    """Some replicas do not fit. Less is believed at once, more only after the cool-down."""
    text = f"{sight.desired - capacity} of {sight.desired} replicas do not run: {sight.why}"
    if known is None or known.capacity is None:
        strikes = known.strikes + 1 if known is not None else 0
    elif capacity < known.capacity:
        strikes = known.strikes + known.raised
    elif capacity > known.capacity and now >= seconds(known.until) and not moving:
        raised = replace(known, capacity=capacity, until=_after(now, rules, known.strikes), raised=True)
        return Judgement(estimate=raised, event=f"{capacity} of {sight.desired} replicas run", look_again=crossing)
    else:
        waits_for = seconds(known.until) if capacity > known.capacity and now < seconds(known.until) else None
        return Judgement(estimate=known, look_again=_earlier(waits_for, crossing))
    estimate = Estimate(
        capacity=capacity, since=text_of(now), until=_after(now, rules, strikes), strikes=strikes, why=sight.why
    )
    return Judgement(estimate=estimate, event=text, look_again=crossing)


def _probed(known: Estimate, capacity: int, sight: Sight, rules: Rules, now: float, room: int | None) -> Judgement:
    """It was given no more than it can run, so nothing waits there that could tell: what is free has to tell."""
    if room is None:
        return Judgement(estimate=known, probe=True)
    whole = sight.desired + room
    if whole >= rules.total:
        return _released(known, rules, now, f"there is room for {room} more: it is trusted again")
    if whole <= capacity:
        looks = known.looks + 1
        waits = replace(known, until=_after(now, rules, known.strikes + looks), looks=looks)
        return Judgement(estimate=waits, look_again=seconds(waits.until))
    raised = replace(known, capacity=whole, until=_after(now, rules, known.strikes), looks=0, raised=True)
    return Judgement(estimate=raised, event=f"there is room for {room} more replicas", look_again=seconds(raised.until))


def _released(known: Estimate, rules: Rules, now: float, text: str) -> Judgement:
    """It is trusted again; that it was full is remembered for as long as it has just been distrusted."""
    remembered = replace(known, capacity=None, until=_after(now, rules, known.strikes + 1), looks=0, raised=False)
    return Judgement(estimate=remembered, event=text, look_again=seconds(remembered.until))


def _after(now: float, rules: Rules, strikes: int) -> str:
    """The end of a cool-down that begins now."""
    return text_of(now + rules.cool_down_s * min(2**strikes, LONGEST_FACTOR))


def _earlier(one: float | None, other: float | None) -> float | None:
    return min((time for time in (one, other) if time is not None), default=None)


def text_of(time: float) -> str:
    """Seconds since the epoch as RFC 3339; a part of a second counts as a whole one, so that no wait gets shorter."""
    return datetime.fromtimestamp(-(-time // 1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text: str) -> float:
    """RFC 3339 as seconds since the epoch. Raises ValueError."""
    return datetime.fromisoformat(text).timestamp()
