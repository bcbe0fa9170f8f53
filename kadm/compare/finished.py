"""Jobs that are gone because they are done (api-servers, 33)."""

from __future__ import annotations

from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonObject, Path, at
from kadm.model.record import RecordedObject

TTL: Path = ("spec", "ttlSecondsAfterFinished")


def goes_when_finished(wanted: DesiredObject, answer: JsonObject) -> bool:
    """Whether the member removes this Job once it has finished: only if it kept the field (1.20 drops it)."""
    is_job = (wanted.key.group, wanted.key.kind) == ("batch", "Job")
    return is_job and at(wanted.object, TTL) is not None and at(answer, TTL) is not None


def has_finished(wanted: DesiredObject, recorded: RecordedObject | None) -> bool:
    """Whether an absent object is a Job that ran as it is desired now: it is not created again.

    Its digest is in the record only if the member kept the field.
    """
    if recorded is None or not recorded.uid or recorded.recreating:
        return False
    return bool(recorded.digest) and recorded.digest == wanted.digest
