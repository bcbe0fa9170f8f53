"""How a record is written down: what is the same for many workloads stands in it once."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadm.members.record_form import decode_record, encode_record
from kadm.model.record import Record, RecordedObject, RecordedWorkload

CLUSTERS = " ".join(f"member{number}=1a2b3c4d.5e6f7a8b.+" for number in range(500))
PLACEMENT: dict[str, int | None] = {f"member{number}": None for number in range(500)}


def a_record(*workloads: RecordedWorkload) -> Record:
    return Record(fleet="shop", member_uid="u", member="eu", commit="c", workloads=workloads)


def a_workload(name: str, **fields: object) -> RecordedWorkload:
    return RecordedWorkload(group="apps", kind="Deployment", namespace="default", name=name, **fields)  # type: ignore[arg-type]  # any of its fields


def test_what_workloads_have_in_common_is_written_once_and_shared_when_read() -> None:
    record = a_record(
        *(
            a_workload(f"w{number:05}", triggers={"clusters": CLUSTERS, "replicas": str(number)}, placement=PLACEMENT)
            for number in range(1000)
        )
    )
    written = encode_record(record)
    assert len(written) < len(CLUSTERS) + 1000 * 150 + 500 * 20
    read = decode_record(written)
    assert read == record
    assert len({id(entry.triggers["clusters"]) for entry in read.workloads}) == 1
    assert len({id(entry.placement) for entry in read.workloads}) == 1


def test_a_record_of_plain_json_is_read_too() -> None:
    record = a_record(a_workload("a", triggers={"clusters": CLUSTERS}, placement={"eu": 3}, replicas=3))
    assert decode_record(msgspec.json.encode(record)) == record


def test_order_does_not_count_and_the_resource_version_is_not_written() -> None:
    one, other = a_workload("a", placement={"us": 1, "eu": 2}), a_workload("b", placement={"us": 3})
    turned = a_workload("a", placement={"eu": 2, "us": 1})
    first = msgspec.structs.replace(a_record(one, other), resource_version="7")
    assert encode_record(first) == encode_record(a_record(other, turned))


@pytest.mark.parametrize("damage", [{"placed": 1}, {"texts": {"clusters": 0}}])
def test_a_pointer_to_nothing_is_an_error(damage: dict[str, object]) -> None:
    written = json.loads(encode_record(a_record(a_workload("a", placement={"eu": 1}))))
    written["workloads"][0] |= damage
    with pytest.raises(msgspec.DecodeError):
        decode_record(json.dumps(written).encode())


TEXTS = st.text(max_size=60)
NUMBERS = st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=3)


@given(
    st.lists(
        st.builds(
            RecordedWorkload,
            kind=st.just("Deployment"),
            name=TEXTS,
            replicas=st.none() | st.integers(0, 9),
            policy=TEXTS,
            triggers=st.dictionaries(st.sampled_from(("clusters", "request", "replicas")), TEXTS),
            placement=st.dictionaries(st.text(max_size=3), st.none() | st.integers(0, 9), max_size=3),
            blocks=NUMBERS,
            moving=NUMBERS,
        ),
        max_size=4,
        unique_by=lambda entry: entry.key,
    )
)
def test_what_is_read_is_what_was_written(workloads: list[RecordedWorkload]) -> None:
    objects = (RecordedObject(version="v1", kind="ConfigMap", name="c", uid="u", digest="d"),)
    record = Record(
        fleet="shop",
        member_uid="u",
        objects=objects,
        workloads=tuple(sorted(workloads, key=lambda entry: entry.key)),
    )
    assert decode_record(encode_record(record)) == record
