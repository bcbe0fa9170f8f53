"""Members: everything that talks to one member, and the pool of all of them."""

from kadm.members.connection import Connection, WriteWhileReading
from kadm.members.pool import MemberPool, open_members
from kadm.members.record import DocumentConflict, DocumentUnreadable, RecordOfAnotherMember
from kadm.members.refusal import ManifestRefused

__all__ = [
    "Connection",
    "DocumentConflict",
    "DocumentUnreadable",
    "ManifestRefused",
    "MemberPool",
    "RecordOfAnotherMember",
    "WriteWhileReading",
    "open_members",
]
