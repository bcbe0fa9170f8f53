"""Suite ``status``: one status out of those of all members."""

from __future__ import annotations

import json

from kadm.status.aggregate import Propagated, aggregate
from kadm.status.digests import DIGESTS
from tests.vectors.case import Answer, Json

NOW = "<now>"


def answer(given: Json) -> Answer:
    """The source's status and annotations as kadm aggregates them."""
    propagated = Propagated(
        up_to_date=given.get("clusterObjsUpToDate", False), generations=given.get("lastObservedGeneration") or {}
    )
    found = aggregate(given["source"], given["members"], now=NOW, propagated=propagated)
    if found is None:
        return {"result": None, "needUpdate": False}
    status = {} if found.status is None else {"status": found.status}
    return {"annotations": found.annotations, "needUpdate": found.changed, **status}


def normal(answered: Answer) -> Answer:
    """An answer with the digests parsed, as JSON texts may differ."""
    annotations = answered.get("annotations")
    if not isinstance(annotations, dict) or DIGESTS not in annotations:
        return answered
    try:
        parsed = json.loads(annotations[DIGESTS])
    except json.JSONDecodeError:
        return answered
    return {**answered, "annotations": {**annotations, DIGESTS: parsed}}
