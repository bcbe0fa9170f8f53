"""One member's part of the answer, as far as it has come."""

from __future__ import annotations

from dataclasses import dataclass, field

from kadm.model.desired import DesiredMember, DesiredObject
from kadm.model.objects import ObjectKey
from kadm.render.namespaces import Contents


@dataclass
class Draft:
    """What is to be written, and what is frozen. ``unread`` says why nothing is known of the member, or is empty."""

    name: str
    unread: str = ""
    objects: list[DesiredObject] = field(default_factory=list)
    frozen: dict[ObjectKey, str] = field(default_factory=dict)
    replicas: dict[ObjectKey, int | None] = field(default_factory=dict)
    written_in: Contents = field(default_factory=Contents)
    frozen_in: Contents = field(default_factory=Contents)

    def put(self, wanted: DesiredObject) -> None:
        """The member must hold this object."""
        self.objects.append(wanted)
        self.written_in.add(wanted.key)

    def freeze(self, key: ObjectKey, reason: str) -> None:
        """The object stays exactly as it is live."""
        self.frozen[key] = reason
        self.frozen_in.add(key)

    def finished(self) -> DesiredMember:
        """All of it, sorted by key."""
        objects = tuple(sorted(self.objects, key=_key))
        keys = {wanted.key for wanted in objects}
        assert len(keys) == len(objects), f"{self.name}: an object is there twice"  # the loader refuses doubles
        assert not keys & self.frozen.keys(), f"{self.name}: an object is both written and frozen"
        return DesiredMember(
            name=self.name,
            objects=objects,
            frozen=dict(sorted(self.frozen.items())),
            replicas=dict(sorted(self.replicas.items())),
        )


def _key(wanted: DesiredObject) -> ObjectKey:
    return wanted.key
