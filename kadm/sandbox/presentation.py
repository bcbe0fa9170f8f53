"""How objects go out to a client: as they are, as rows of a Table, or only their metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox import listing, tables
from kadm.sandbox.exchange import Answer
from kadm.sandbox.kinds import strategy
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.media import Representation
from kadm.sandbox.store import Object
from kadm.sandbox.watches import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Presenter:
    """Shows objects of one kind to one client. ``include`` is what rows carry (``includeObject``)."""

    kind: ResourceKind
    representation: Representation
    include: str
    clock: Callable[[], datetime]

    def convert(self, obj: Object) -> Object:
        """A stored object in the version that the client asks for."""
        return strategy.convert(self.kind, obj)

    def one(self, obj: Object, *, status: int = 200, warnings: tuple[str, ...] = ()) -> Answer:
        """An object of the client's version."""
        body = obj
        match self.representation.form:
            case "Table":
                body = self._table([obj], {"resourceVersion": obj["metadata"].get("resourceVersion", "")})
            case "PartialObjectMetadata":
                body = tables.partial(obj)
        return self.plain(body, status=status, warnings=warnings)

    def plain(self, body: Object, *, status: int = 200, warnings: tuple[str, ...] = ()) -> Answer:
        """What has no other form: a Status, a Scale."""
        return Answer(status=status, body=body, warnings=warnings, yaml=self.representation.yaml)

    def page(self, page: listing.Page) -> Answer:
        """A list of stored objects."""
        match self.representation.form:
            case "Table":
                body = self._table([self.convert(item) for item in page.items], listing.list_metadata(self.kind, page))
            case "PartialObjectMetadataList":
                body = {
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": listing.list_metadata(self.kind, page),
                    "items": [tables.partial(item) for item in page.items],
                }
            case _:
                body = listing.list_object(self.kind, page, self.convert)
        return self.plain(body)

    def notices(self) -> Callable[[Notice], Notice]:
        """What shows one notice of a watch after the other; only the first Table tells the columns."""
        match self.representation.form:
            case "":
                return lambda notice: notice
            case "Table":
                return self._table_notices()
            case _:
                return lambda notice: {"type": notice["type"], "object": tables.partial(notice["object"])}

    def _table_notices(self) -> Callable[[Notice], Notice]:
        first = True

        def show(notice: Notice) -> Notice:
            nonlocal first
            obj = notice["object"]
            rows = [] if notice["type"] == "BOOKMARK" else [obj]
            metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            shown = {"type": notice["type"], "object": self._table(rows, metadata, columns=first)}
            first = False
            return shown

        return show

    def _table(self, objects: list[Object], metadata: Object, *, columns: bool = True) -> Object:
        return tables.table(self.kind, objects, self.clock(), metadata=metadata, include=self.include, columns=columns)
