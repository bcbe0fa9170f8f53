"""Desired and recorded objects as they are live: what is read, and that none is missed."""

from __future__ import annotations

from kadm.members.live import read_live
from kadm.model.objects import ObjectKey
from kadm.model.observation import ApiResource, MemberState
from tests.members.fake_member import FakeMember, run, serving


def a_type(group: str, version: str, kind: str) -> ApiResource:
    return ApiResource(group=group, version=version, kind=kind, plural=f"{kind.lower()}s", namespaced=True)


def test_types_of_one_plural_are_all_read() -> None:
    """One kind in two versions, and kinds of the same name in two groups: none hides the other."""
    wanted = {
        ObjectKey("", "Service", "shop", "web"): ("v1", "/api/v1/namespaces/shop/services/web"),
        ObjectKey("serving.example", "Service", "shop", "fn"): (
            "v1",
            "/apis/serving.example/v1/namespaces/shop/services/fn",
        ),
        ObjectKey("scaling.example", "Scaler", "shop", "old"): (
            "v1",
            "/apis/scaling.example/v1/namespaces/shop/scalers/old",
        ),
        ObjectKey("scaling.example", "Scaler", "shop", "new"): (
            "v2",
            "/apis/scaling.example/v2/namespaces/shop/scalers/new",
        ),
    }
    member = FakeMember()
    for path in (path for _, path in wanted.values()):
        member.add(path, {"metadata": {"namespace": "shop"}})
    types = {a_type(key.group, version, key.kind) for key, (version, _) in wanted.items()}
    state = MemberState(name="eu", uid="u", version="v1.36.2", api_resources=tuple(sorted(types)))

    async def read() -> tuple[ObjectKey, ...]:
        async with serving(member), member.connection(read_only=True) as connection:
            versions = {key: version for key, (version, _) in wanted.items()}
            return tuple((await read_live(connection, state, versions, set_id="s")).objects)

    assert run(read()) == tuple(sorted(wanted))
