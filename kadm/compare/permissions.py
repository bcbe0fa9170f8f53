"""What the user permitted beyond the ordinary: every flag that lifts a guard, as one value (design, sections 7, 8)."""

from __future__ import annotations

from msgspec import Struct

from kadm.model.objects import ObjectKey


class Permissions(Struct, frozen=True, kw_only=True):
    """The flags. Nothing is permitted by default.

    ``allow_deletes`` None: the Fleet's own bounds hold; else so many may go in each member. ``adopt`` holds
    ``kind/name`` in lower case; ``adopt_prune``: adoption removes what git lacks from pod templates, too.
    ``take_over`` names field managers, and tools whose mark an object carries.
    """

    allow_deletes: int | None = None
    allow_empty: bool = False
    allow_protected: bool = False
    allow_crds: bool = False
    allow_namespaces: bool = False
    delete_pvcs: bool = False
    adopt_all: bool = False
    adopt: frozenset[str] = frozenset()
    adopt_prune: bool = False
    take_over: frozenset[str] = frozenset()

    def may_adopt(self, key: ObjectKey) -> bool:
        """Whether an object that kadm did not make may become its own.

        A namespace always may: it is shared by nature, and its adoption never deletes it (propagation spec, section 4).
        """
        return key.kind == "Namespace" or self.asks_to_adopt(key)

    def asks_to_adopt(self, key: ObjectKey) -> bool:
        """Whether the user asked to adopt this object."""
        return self.adopt_all or f"{key.kind}/{key.name}".lower() in self.adopt
