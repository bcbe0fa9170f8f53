"""What would change in one member."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from kadm.compare import MemberComparison, Permissions, Terms, compare_member
from kadm.compare.standing import standing
from kadm.errors import Problem
from kadm.model.applyset import PART_OF, applyset_id
from kadm.model.desired import DesiredMember, DesiredObject
from kadm.model.live import DryRun, Fault, LiveMember
from kadm.model.objects import JsonObject, ObjectKey, key_of
from kadm.model.record import Record, RecordedObject
from tests.compare.builders import MANAGER, a_config, a_record, desired, entry, live, recorded

SET = applyset_id("kadm-shop")
CONFIG = a_config(labels={PART_OF: SET})
KEY = key_of(CONFIG)
OWN = entry(MANAGER, {"f:data": {"f:k": {}}})


def compare(
    *,
    wanted: tuple[DesiredObject, ...] = (),
    there: tuple[JsonObject, ...] = (),
    answer: JsonObject | None = None,
    refused: Problem | None = None,
    record: Record | None = None,
    frozen: Mapping[ObjectKey, str] | None = None,
    unread: Mapping[ObjectKey, Problem] | None = None,
    permissions: Permissions = Permissions(),
) -> MemberComparison:
    answers = {}
    if answer is not None:
        answers[KEY] = DryRun(outcome="answered", object=answer)
    if refused is not None:
        answers[KEY] = DryRun(outcome="refused", problem=refused)
    return compare_member(
        DesiredMember(name="eu", objects=wanted, frozen=frozen or {}),
        LiveMember(name="eu", objects={key_of(one): one for one in there}, unread=unread or {}),
        answers,
        record=record,
        terms=Terms(member="eu", manager=MANAGER, set_id=SET, permissions=permissions),
    )


def actions(found: MemberComparison) -> list[tuple[str, str]]:
    return [(change.action, change.key.name) for change in found.changes]


OURS = live(CONFIG, managers=(OWN,))
RECORD = a_record(recorded(KEY))


@pytest.mark.parametrize(
    ("there", "answer", "record", "want"),
    [
        pytest.param((), CONFIG, None, "create", id="absent"),
        pytest.param((OURS,), OURS, RECORD, "", id="ours, and as desired"),
        pytest.param((OURS,), live(a_config(data={"k": "x"}, labels={PART_OF: SET})), RECORD, "update", id="drift"),
        pytest.param(
            (OURS,),
            live(CONFIG, managers=(entry(MANAGER, {"f:data": {"f:k": {}, "f:more": {}}}),)),
            RECORD,
            "own",
            id="only kadm's entry differs",
        ),
        pytest.param(
            (live(a_config(), managers=(OWN,)),), OURS, RECORD, "own", id="only the set's label was taken off"
        ),
        pytest.param((OURS,), OURS, a_record(recorded(KEY, uid="")), "", id="an intent that kadm's apply made"),
    ],
)
def test_one_object(there: tuple[JsonObject, ...], answer: JsonObject, record: Record | None, want: str) -> None:
    found = compare(wanted=(desired(a_config()),), there=there, answer=answer, record=record)
    assert (actions(found), found.held) == ([(want, "a")] if want else [], ())


def test_an_unconfirmed_intent_tells_its_uid() -> None:
    found = compare(wanted=(desired(a_config()),), there=(OURS,), answer=OURS, record=a_record(recorded(KEY, uid="")))
    assert dict(found.found) == {KEY: "u1"}


@pytest.mark.parametrize(
    ("there", "record", "permissions", "want"),
    [
        pytest.param(live(a_config()), None, Permissions(), "held", id="somebody else's: held"),
        pytest.param(live(a_config()), None, Permissions(adopt_all=True), "adopt", id="--adopt-all"),
        pytest.param(
            live(a_config()), None, Permissions(adopt=frozenset({"configmap/a"})), "adopt", id="--adopt KIND/NAME"
        ),
        pytest.param(live(a_config(), uid="u9"), RECORD, Permissions(), "held", id="recorded, but another uid"),
        pytest.param(
            live(a_config(), managers=(entry("kubectl", {"f:data": {}}, time="2025-01-01T00:00:00Z"), OWN)),
            a_record(recorded(KEY, uid="")),
            Permissions(),
            "held",
            id="an intent, but somebody made it before",
        ),
        pytest.param(
            live(a_config(annotations={"meta.helm.sh/release-name": "web"})),
            None,
            Permissions(adopt_all=True),
            "held",
            id="a Helm release is never adopted silently",
        ),
        pytest.param(
            live(a_config(labels={PART_OF: "applyset-other-v1"})),
            None,
            Permissions(adopt_all=True),
            "held",
            id="another set's object is never adopted silently",
        ),
    ],
)
def test_objects_that_kadm_did_not_make(
    there: JsonObject, record: Record | None, permissions: Permissions, want: str
) -> None:
    found = compare(wanted=(desired(a_config()),), there=(there,), answer=OURS, record=record, permissions=permissions)
    assert ("held" if found.held else found.changes[0].action) == want


def a_stateful_set(start: int | None) -> JsonObject:
    ordinals = {} if start is None else {"ordinals": {"start": start}}
    metadata = {"name": "db", "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": 2, **ordinals}}


@pytest.mark.parametrize(
    ("there", "wants", "held"),
    [
        pytest.param(None, 1000, "its pods are numbered from 0 on, and would be from 1000 on", id="from another block"),
        pytest.param(
            1000, 2000, "its pods are numbered from 1000 on, and would be from 2000 on", id="from one to another"
        ),
        pytest.param(1000, 0, "its pods are numbered from 1000 on, and would be from 0 on", id="to the first block"),
        pytest.param(1000, 1000, "", id="the same ones"),
        pytest.param(None, 0, "", id="the same ones, said"),
        pytest.param(1000, None, "", id="git does not say"),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_an_adopted_stateful_set_keeps_its_pods(
    there: int | None, wants: int | None, held: str, *, asked: bool
) -> None:
    wanted = desired(a_stateful_set(wants))
    after = a_stateful_set(there if wants is None else wants)
    found = compare_member(
        DesiredMember(name="eu", objects=(wanted,)),
        LiveMember(name="eu", objects={wanted.key: live(a_stateful_set(there))}),
        {wanted.key: DryRun(outcome="answered", object=live(after))} if asked else {},
        record=None,
        terms=Terms(member="eu", manager=MANAGER, set_id=SET, permissions=Permissions(adopt_all=True)),
    )
    assert [(one.why, one.flag) for one in found.held] == ([(held, "none")] if held else [])
    assert actions(found) == ([] if held else [("adopt", "db")])


@pytest.mark.parametrize(
    ("operation", "permissions", "want"),
    [
        pytest.param("Update", Permissions(), "update", id="a person's value is drift"),
        pytest.param("Apply", Permissions(), "held", id="another applier's field is not taken"),
        pytest.param("Apply", Permissions(take_over=frozenset({"flux"})), "update", id="--take-over"),
    ],
)
def test_fields_of_others(operation: str, permissions: Permissions, want: str) -> None:
    theirs = live(
        a_config(data={"k": "theirs"}, labels={PART_OF: SET}),
        managers=(entry("flux", {"f:data": {"f:k": {}}}, operation=operation),),
    )
    found = compare(wanted=(desired(a_config()),), there=(theirs,), answer=OURS, record=RECORD, permissions=permissions)
    assert ("held" if found.held else found.changes[0].action) == want


@pytest.mark.parametrize(
    ("there", "origin", "want"),
    [
        pytest.param((OURS,), "created", [("delete", "a")], id="kadm made it: deleted"),
        pytest.param((OURS,), "adopted", [("release", "a")], id="adopted: released"),
        pytest.param((), "created", [], id="gone already"),
        pytest.param((live(CONFIG, uid="u9"),), "created", [], id="another object of that name: left alone"),
        pytest.param(
            (live(CONFIG, deletionTimestamp="2026-01-01T00:00:00Z"),), "created", [], id="being deleted already"
        ),
    ],
)
def test_what_left_the_repository(there: tuple[JsonObject, ...], origin: str, want: list[tuple[str, str]]) -> None:
    found = compare(there=there, record=a_record(recorded(KEY, origin=origin)))
    assert actions(found) == want


def test_what_another_set_has_taken_over_is_not_deleted() -> None:
    theirs = live(a_config(labels={PART_OF: "applyset-other-v1"}), managers=(OWN,))
    found = compare(there=(theirs,), record=RECORD)
    assert [(one.action, one.note) for one in found.changes] == [("release", "it is in ApplySet applyset-other-v1 now")]


def test_nothing_is_deleted_beside_a_frozen_object() -> None:
    frozen = {ObjectKey("apps", "Deployment", "shop", "web"): "its policy is missing"}
    found = compare(there=(OURS,), record=RECORD, frozen=frozen)
    assert (actions(found), KEY in found.frozen) == ([], True)


@pytest.mark.parametrize("kind", ["ConfigMap", "Namespace"])
def test_nothing_is_deleted_beside_what_leaves_and_was_not_read(kind: str) -> None:
    """However the kinds are called: what is not read stays, and may need what is around it."""
    web = ObjectKey("apps", "Deployment", "shop", "web")
    namespace = live({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}, managers=(OWN,))
    beside = OURS if kind == "ConfigMap" else namespace
    found = compare(
        there=(beside,), record=a_record(recorded(key_of(beside)), recorded(web)), unread={web: Problem(what="403")}
    )
    assert (actions(found), sorted(found.frozen)) == ([], sorted([key_of(beside), web]))


def test_an_unread_object_is_neither_created_nor_deleted() -> None:
    problem = Problem(what="500")
    found = [
        compare(wanted=(desired(a_config()),), record=RECORD, unread={KEY: problem}),
        compare(record=RECORD, unread={KEY: problem}),
    ]
    assert [(actions(one), one.problems) for one in found] == [([], (problem,)), ([], (problem,))]


def test_a_refused_object_is_frozen_with_the_reason() -> None:
    problem = Problem(what="422")
    found = compare(wanted=(desired(a_config()),), refused=problem)
    assert (actions(found), found.problems, list(found.frozen)) == ([], (problem,), [KEY])


def test_what_a_member_keeps_everybody_off() -> None:
    theirs = live(a_config(labels={"kubeadmiral.io/managed": "false"}), managers=(OWN,))
    found = [
        compare(wanted=(desired(a_config()),), there=(theirs,), answer=OURS, record=RECORD),
        compare(there=(theirs,), record=RECORD),
    ]
    assert [(actions(one), list(one.frozen)) for one in found] == [([], [KEY]), ([], [KEY])]


def test_a_suspended_object() -> None:
    found = compare(wanted=(desired(a_config(annotations={"kadm.io/suspend": "true"})),), there=(OURS,), record=RECORD)
    assert (actions(found), list(found.frozen)) == ([], [KEY])


def test_the_same_object_under_another_group_is_not_two() -> None:
    old = recorded(ObjectKey("extensions", "ConfigMap", "shop", "a"))
    found = compare(wanted=(desired(a_config()),), there=(OURS,), answer=OURS, record=a_record(old, recorded(KEY)))
    assert (actions(found), found.gone) == ([], (old.key,))


def test_what_comes_after_its_namespace_says_so() -> None:
    coming = frozenset({ObjectKey("", "Namespace", "", "shop")})
    found = compare_member(
        DesiredMember(name="eu", objects=(desired(a_config()),)),
        LiveMember(name="eu", objects={}),
        {},
        record=None,
        terms=Terms(member="eu", manager=MANAGER, set_id=SET, permissions=Permissions(), coming=coming),
    )
    assert [change.note for change in found.changes] == ["after namespace shop"]


@pytest.mark.parametrize(
    ("message", "annotations", "want"),
    [
        pytest.param("field is immutable", {}, [], id="an immutable field"),
        pytest.param(
            "field is immutable", {"kadm.io/recreate": "true"}, [("recreate", "a")], id="that may be recreated"
        ),
        pytest.param("is too long", {"kadm.io/recreate": "true"}, [], id="another fault is no reason to recreate"),
    ],
)
def test_refused_fields(message: str, annotations: dict[str, str], want: list[tuple[str, str]]) -> None:
    wanted = desired(a_config(data={"k": "new"}, annotations=annotations))
    refusal = DryRun(outcome="refused", problem=Problem(what="422"), faults=(Fault("data", message),))
    found = compare_member(
        DesiredMember(name="eu", objects=(wanted,)),
        LiveMember(name="eu", objects={KEY: OURS}),
        {KEY: refusal},
        record=RECORD,
        terms=Terms(member="eu", manager=MANAGER, set_id=SET, permissions=Permissions()),
    )
    assert (actions(found), KEY in found.frozen) == (want, not want)


def test_a_recreation_is_only_for_what_is_ours() -> None:
    wanted = desired(a_config(data={"k": "new"}, annotations={"kadm.io/recreate": "true"}))
    refusal = DryRun(outcome="refused", problem=Problem(what="422"), faults=(Fault("data", "field is immutable"),))
    found = compare_member(
        DesiredMember(name="eu", objects=(wanted,)),
        LiveMember(name="eu", objects={KEY: live(a_config())}),
        {KEY: refusal},
        record=None,
        terms=Terms(member="eu", manager=MANAGER, set_id=SET, permissions=Permissions(adopt_all=True)),
    )
    assert actions(found) == []


BEGUN = replace(recorded(KEY), recreating=True)


@pytest.mark.parametrize(
    ("annotations", "record", "want"),
    [
        pytest.param({"kadm.io/recreate": "true"}, BEGUN, "recreate", id="a killed run began it"),
        pytest.param({"kadm.io/recreate": "true"}, replace(BEGUN, uid="u9"), "", id="it is another one already"),
        pytest.param({"kadm.io/recreate": "true"}, recorded(KEY), "", id="somebody else deletes it"),
        pytest.param({}, BEGUN, "", id="nobody asked for that"),
        pytest.param({"kadm.io/recreate": "true"}, None, "", id="it is not in the record"),
    ],
)
def test_a_recreation_that_a_killed_run_began(
    annotations: dict[str, str], record: RecordedObject | None, want: str
) -> None:
    wanted = desired(a_config(data={"k": "new"}, annotations=annotations))
    going = live(a_config(), managers=(OWN,), deletionTimestamp="2026-01-01T00:00:00Z")
    found = compare(wanted=(wanted,), there=(going,), record=a_record(record) if record else None)
    assert (actions(found), KEY in found.frozen) == ([(want, "a")] if want else [], not want)


@pytest.mark.parametrize(
    ("finalizers", "why"),
    [
        pytest.param([], "", id="none"),
        pytest.param(["a.io/x", "b.io/y"], "it waits for finalizers a.io/x, b.io/y", id="two"),
    ],
)
def test_what_is_being_deleted_says_what_it_waits_for(finalizers: list[str], why: str) -> None:
    going = live(a_config(), managers=(OWN,), deletionTimestamp="2026-01-01T00:00:00Z", finalizers=finalizers)
    found = compare(wanted=(desired(a_config()),), there=(going,), record=RECORD)
    assert [problem.why for problem in found.problems] == [why]


OLDER = entry("kube-controller-manager", {"f:status": {}}, operation="Update", time="2025-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("there", "want"),
    [
        pytest.param(live(CONFIG, managers=(OLDER, OWN)), "adopted", id="the old one"),
        pytest.param(live(CONFIG, uid="u2", managers=(OWN,)), "created", id="the new one"),
        pytest.param(live(CONFIG, uid="u2", managers=(OLDER, OWN)), "foreign", id="somebody else's in its place"),
        pytest.param(None, "absent", id="neither"),
    ],
)
def test_what_stands_where_an_object_was_to_be_made_anew(there: JsonObject | None, want: str) -> None:
    assert standing(there, replace(BEGUN, origin="adopted"), MANAGER) == want


def test_the_uid_of_what_was_made_anew_is_told() -> None:
    made = live(CONFIG, uid="u2", managers=(OWN,))
    found = compare(wanted=(desired(a_config()),), there=(made,), answer=made, record=a_record(BEGUN))
    assert (actions(found), dict(found.found)) == ([], {KEY: "u2"})


def test_what_its_manifest_asks_to_keep_is_released() -> None:
    kept = replace(recorded(KEY), keep=True)
    found = compare(there=(OURS,), record=a_record(kept))
    assert [(change.action, change.note) for change in found.changes] == [("release", "annotation orphan: all")]


@pytest.mark.parametrize(
    ("field", "want"),
    [
        pytest.param("spec.template", "git has another spec.template.a, spec.template.b: no", id="a whole struct"),
        pytest.param("spec", "git has another spec.clusterIP, spec.template.a, spec.template.b: no", id="all of spec"),
        pytest.param("spec.clusterIP", "git has another spec.clusterIP: no", id="the very field"),
        pytest.param(
            "spec.clusterIPs[0]",
            "git has another spec.clusterIP, spec.template.a, spec.template.b: no",
            id="one that the member derives",
        ),
        pytest.param("data", "no", id="one that does not differ"),
    ],
)
def test_what_cannot_change_names_the_fields_that_git_has_other(field: str, want: str) -> None:
    def service(ip: str, a: str, b: str) -> JsonObject:
        return {**a_config(), "spec": {"clusterIP": ip, "template": {"a": a, "b": b}}}

    there = live(service("10.0.0.1", "1", "1"), managers=(OWN,))
    refused = DryRun(outcome="refused", problem=Problem(what="x", why="no"), faults=(Fault(field, "is immutable"),))
    found = compare_member(
        DesiredMember(name="eu", objects=(desired(service("None", "2", "2")),)),
        LiveMember(name="eu", objects={KEY: there}),
        {KEY: refused},
        record=RECORD,
        terms=Terms(member="eu", manager=MANAGER, set_id=SET, permissions=Permissions()),
    )
    assert [problem.why for problem in found.problems] == [want]
