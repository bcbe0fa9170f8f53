"""A client that lists once and then follows a watch knows what a list would tell it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kadm.sandbox import listing, watches
from kadm.sandbox.kinds.registry import builtin_resource
from kadm.sandbox.requests import ListOptions
from kadm.sandbox.responses import ApiError
from kadm.sandbox.store import Object, Store

KIND = builtin_resource("", "v1", "configmaps")
NAMES = ("a", "b", "c")
NAMESPACES = ("n", "n-b")
WRITES = st.tuples(
    st.sampled_from(("set", "delete")), st.sampled_from(NAMESPACES), st.sampled_from(NAMES), st.booleans()
)


def unchanged(obj: Object) -> Object:
    return obj


def write(store: Store, what: str, namespace: str, name: str, labelled: bool) -> None:
    present = store.get("configmaps", namespace, name) is not None
    labels = {"x": "1"} if labelled else {}
    obj = {"metadata": {"name": name, "namespace": namespace, "labels": labels}}
    if what == "delete":
        if present:
            store.delete("configmaps", namespace, name)
    elif present:
        store.update("configmaps", obj)
    else:
        store.create("configmaps", obj)


def keyed(objects: list[Object]) -> dict[tuple[str, str], Object]:
    return {(obj["metadata"]["namespace"], obj["metadata"]["name"]): obj for obj in objects}


@settings(max_examples=100, deadline=None)
@given(
    before=st.lists(WRITES, max_size=6),
    missed=st.lists(WRITES, max_size=6),
    after=st.lists(WRITES, max_size=8),
    namespace=st.sampled_from(("", *NAMESPACES)),
    selector=st.sampled_from(("", "x=1", "!x")),
)
def test_a_list_and_a_watch_from_it_tell_what_a_later_list_tells(
    before: list[tuple[str, str, str, bool]],
    missed: list[tuple[str, str, str, bool]],
    after: list[tuple[str, str, str, bool]],
    namespace: str,
    selector: str,
) -> None:
    assert KIND is not None
    store = Store()
    for step in before:
        write(store, *step)
    options = ListOptions(label_selector=selector)
    first = listing.page(store, KIND, namespace, options, unchanged)
    known = keyed(first.items)
    for step in missed:  # these come out of the history
        write(store, *step)
    wanted = ListOptions(label_selector=selector, watch=True, resource_version=str(first.revision))
    watch = watches.start(store, KIND, namespace, "", wanted, unchanged)
    assert not isinstance(watch, ApiError)
    assert watch.events is not None
    for step in after:
        write(store, *step)
    while (event := watch.events.take()) is not None:
        notice = watch.notice(event)
        if notice is None:
            continue
        obj = notice["object"]
        key = (obj["metadata"]["namespace"], obj["metadata"]["name"])
        assert (key in known) == (notice["type"] != "ADDED"), "ADDED is new, the rest is known"
        if notice["type"] == "DELETED":
            del known[key]
        else:
            known[key] = obj
    assert known == keyed(listing.page(store, KIND, namespace, options, unchanged).items)


def test_without_a_version_a_watch_begins_with_what_is_there() -> None:
    assert KIND is not None
    store = Store()
    for name in NAMES:
        write(store, "set", "n", name, False)
    options = ListOptions(field_selector="metadata.name=b", watch=True)
    watch = watches.start(store, KIND, "n", "", options, unchanged)
    assert not isinstance(watch, ApiError)
    assert [(notice["type"], notice["object"]["metadata"]["name"]) for notice in watch.initial] == [("ADDED", "b")]


def test_a_watch_from_a_forgotten_version_is_an_error_event() -> None:
    assert KIND is not None
    store = Store(history=1)
    for name in NAMES:
        write(store, "set", "n", name, False)
    refused = watches.start(store, KIND, "n", "", ListOptions(watch=True, resource_version="1"), unchanged)
    assert isinstance(refused, ApiError)
    assert (refused.code, refused.reason) == (410, "Expired")


def test_streamed_lists_end_with_a_bookmark() -> None:
    assert KIND is not None
    store = Store()
    write(store, "set", "n", "a", False)
    options = ListOptions(watch=True, send_initial_events=True, bookmarks=True, match="NotOlderThan")
    watch = watches.start(store, KIND, "n", "", options, unchanged)
    assert not isinstance(watch, ApiError)
    assert [notice["type"] for notice in watch.initial] == ["ADDED", "BOOKMARK"]
    assert watch.initial[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
