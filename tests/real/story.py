"""Plays all cases on one member at once, in one fleet, and keeps what kadm said and did of each.

One plan and one apply for all is what a fleet is like, and takes seconds where one for each would take minutes. What is
kept is JSON, so that another process of the same run can read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from tests.e2e.access import Refused
from tests.real.case import Act, Case, Site
from tests.real.fleet import Fleet

Json = Any
READY_WITHIN_S = "45"


def play(fleet: Fleet, cases: Mapping[str, Case], shared: str) -> Json:
    """What was said and done. ``shared`` is a manifest that all cases need.

    ``plans``: the plan after the first apply, the one after what happens to the cases, and the one after the second
    apply. ``said``: what the applies wrote. ``live``: case → its first object before and after the second apply.
    ``failed``: case → why it could not be played.
    """
    (member,) = fleet.members.names[:1]
    fleet.join(member)
    sites = {name: Site(fleet.members.access(member), fleet.tools, member, fleet.name, name) for name in cases}
    failed: dict[str, str] = {}

    def acting(name: str, act: Act | None) -> None:
        """One case that cannot be played must not hide the others."""
        try:
            if act is not None:
                act(sites[name])
        except (Refused, AssertionError) as fault:
            failed[name] = str(fault)

    fleet.write("manifests/shared.yaml", shared.replace("$NS", fleet.name))
    fleet.apply()
    for name, case in cases.items():
        acting(name, case.first)
        fleet.write(f"manifests/{name}.yaml", case.text(case.manifest, fleet.name))
    said = [fleet.apply("--adopt-all", "--timeout", READY_WITHIN_S, code=None)]
    for name, case in cases.items():
        acting(name, case.others)
    plans = [fleet.plan(code=None)]
    for name, case in cases.items():
        if case.edited is not None:
            fleet.write(f"manifests/{name}.yaml", case.text(case.edited, fleet.name))
        acting(name, case.act)
    plans.append(fleet.plan(code=None))
    before = {name: _live(sites[name], case) for name, case in cases.items()}
    said.append(fleet.apply("--timeout", READY_WITHIN_S, code=None))
    plans.append(fleet.plan(code=None))
    after = {name: _live(sites[name], case) for name, case in cases.items()}
    return {
        "namespace": fleet.name,
        "plans": plans,
        "failed": failed,
        "said": [f"{one.out}\n{one.err}" for one in said],
        "live": {name: [before[name], after[name]] for name in cases},
    }


def _live(site: Site, case: Case) -> Json:
    """The case's first object as it is, None where it is gone, or where nothing happens to it."""
    if not case.changes:
        return None
    first = next(iter(yaml.safe_load_all(case.text(case.manifest, site.namespace))))
    version = first["apiVersion"]
    return site.access.there(site.path(f"{version}/{first['kind'].lower()}s"))
