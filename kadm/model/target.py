"""Objects as a user names them before anybody has seen them."""

from __future__ import annotations

from msgspec import Struct

from kadm.model.objects import ObjectKey


class Target(Struct, frozen=True):
    """``KIND/NAME`` in every namespace: ``kind`` in lower case and singular. ``text`` is what the user wrote."""

    kind: str
    name: str
    text: str

    def names(self, key: ObjectKey) -> bool:
        """Whether this object is meant."""
        return (key.kind.lower(), key.name) == (self.kind, self.name)
