"""Content negotiation: what an ``Accept`` header asks for."""

from __future__ import annotations

from typing import Literal

import msgspec

from kadm.sandbox.responses import not_acceptable

Form = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]


class Representation(msgspec.Struct, frozen=True):
    """How objects go out. ``form`` "" is the object itself."""

    form: Form = ""
    yaml: bool = False


_JSON = frozenset({"application/json", "application/*", "*/*"})
_FORMS: dict[str, Form] = {
    "Table": "Table",
    "PartialObjectMetadata": "PartialObjectMetadata",
    "PartialObjectMetadataList": "PartialObjectMetadataList",
}


def accepted(header: str) -> Representation:
    """The first representation in the header that is known here. Raises ApiError 406 if there is none."""
    if not header:
        return Representation()
    for part in header.split(","):
        media_type, *parameters = (item.strip() for item in part.split(";"))
        values = dict(item.partition("=")[::2] for item in parameters)
        if media_type == "application/yaml":
            return Representation(yaml=True)
        if media_type not in _JSON:
            continue
        wanted = values.get("as")
        if wanted is None:
            return Representation()
        if values.get("g") == "meta.k8s.io" and values.get("v") == "v1" and wanted in _FORMS:
            return Representation(_FORMS[wanted])
    raise not_acceptable()
