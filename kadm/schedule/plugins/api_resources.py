"""Filter APIResources (scheduling spec 4.1; design, section 6)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, cannot_tell, refuses
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


class APIResources(Struct, frozen=True, forbid_unknown_fields=True):
    """A member takes only what it serves, in exactly this group, version and kind.

    What runs in a member whose API server stopped serving the version stays there (it cannot be written, so it is
    frozen by the comparison); KubeAdmiral moves it away, as ``evict`` does.
    """

    evict: bool = False

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        if member.name in unit.current and not self.evict:
            return FITS
        serves = member.serves(unit.gvk)
        if serves:
            return FITS
        if serves is None:
            failed = member.undiscovered.get(unit.gvk.api_version)
            return cannot_tell(
                f"discovery of {unit.gvk.api_version} failed: {failed}" if failed else "what it serves is not known"
            )
        others = sorted(
            gvk.api_version for gvk in member.served or () if (gvk.group, gvk.kind) == (unit.gvk.group, unit.gvk.kind)
        )
        if others:
            return refuses(f"it serves {unit.gvk.kind} as {', '.join(others)}, not {unit.gvk.api_version}")
        return refuses(f"it does not serve {unit.gvk}")
