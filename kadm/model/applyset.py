"""The ApplySet that a record is the parent of (KEP-3659): its id, and the label that makes an object a member of it."""

from __future__ import annotations

import base64
import functools
import hashlib

from kadm.model.objects import JsonObject
from kadm.model.repository import RECORD_NAMESPACE

PART_OF = "applyset.kubernetes.io/part-of"
"""Label on every object that kadm placed. A hint for listing, never a proof of ownership (design, section 5)."""


@functools.cache
def applyset_id(record_name: str) -> str:
    """The id of the set whose parent is the ConfigMap ``record_name`` in the records' namespace: 55 characters."""
    parent = f"{record_name}.{RECORD_NAMESPACE}.ConfigMap."
    digest = base64.urlsafe_b64encode(hashlib.sha256(parent.encode()).digest()).rstrip(b"=").decode()
    return f"applyset-{digest}-v1"


def other_set(live: JsonObject, set_id: str) -> str:
    """The id of the set that claims the object instead of this one; empty where none does."""
    labelled: str = (live["metadata"].get("labels") or {}).get(PART_OF) or ""
    return labelled if labelled != set_id else ""


def with_membership(obj: JsonObject, set_id: str) -> JsonObject:
    """The object as it is sent: with the set's label. The given one is not changed."""
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), PART_OF: set_id}}}
