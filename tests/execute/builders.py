"""A plan for one fake member, ready to be carried out."""

from __future__ import annotations

from kadm.execute.events import nobody
from kadm.execute.extent import Extent
from kadm.execute.member import MemberRun
from kadm.execute.stop import Stop
from kadm.members.connection import Connection
from kadm.model.decision import Decisions
from kadm.model.desired import Desired, DesiredMember, DesiredObject
from kadm.model.fleet import Fleet, FleetMetadata
from kadm.model.objects import JsonObject, gvk_of, key_of
from kadm.model.observation import ApiResource, MemberState, Observation
from kadm.model.plan import Change, Plan
from kadm.model.planned import Planned
from kadm.model.repository import Repo


def a_repo() -> Repo:
    """Fleet ``shop`` without anything in it."""
    return Repo(
        root=".",
        fleet=Fleet(api_version="kadm.io/v1alpha1", kind="Fleet", metadata=FleetMetadata("shop")),
        revision=None,
        clusters=(),
        manifests=(),
        propagation_policies={},
        override_policies={},
        profiles={},
        webhooks={},
        type_configs={},
    )


def a_planned(plan: Plan, observation: Observation | None = None, desired: Desired | None = None) -> Planned:
    """A plan with what it was made of, as far as that matters."""
    return Planned(
        repo=a_repo(),
        observation=observation or Observation({}),
        decisions=Decisions({}),
        desired=desired or Desired({}),
        plan=plan,
        gone={},
        found={},
        unproved={},
    )


def a_run(
    connection: Connection,
    *objects: JsonObject,
    resources: tuple[ApiResource, ...],
    timeout_s: float = 5.0,
    stop: Stop | None = None,
) -> MemberRun:
    """A run that creates these objects in the member."""
    desired = tuple(
        DesiredObject(key=key_of(obj), version=gvk_of(obj).version, object=obj, digest="d") for obj in objects
    )
    state = MemberState(name=connection.name, uid="m", version="v1", api_resources=resources)
    changes = tuple(
        Change(cluster=connection.name, key=one.key, version=one.version, action="create", desired=one)
        for one in desired
    )
    planned = a_planned(
        Plan(fleet="shop", commit="", members=(connection.name,), changes=changes),
        Observation({connection.name: state}),
        Desired({connection.name: DesiredMember(name=connection.name, objects=desired)}),
    )
    return MemberRun(connection, state, planned, Extent(planned), timeout_s, nobody, stop or Stop())
