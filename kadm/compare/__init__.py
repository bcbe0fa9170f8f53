"""Compare: what would change in the members. Pure: live objects and the answers to dry runs come in as values."""

from kadm.compare.desired_object import folds
from kadm.compare.findings import MemberComparison, Terms
from kadm.compare.finished import goes_when_finished
from kadm.compare.guards import Contents, Size, bounded, going, guard
from kadm.compare.kept import not_kept
from kadm.compare.left_fields import REPLICAS, Leaving, contest_digest, leave, sent_for, whole
from kadm.compare.member import compare_member, questions
from kadm.compare.ownership import REPAIR_MANAGER
from kadm.compare.permissions import Permissions
from kadm.compare.plan import make_plan
from kadm.compare.preparation import generation_of, prepared, striking
from kadm.compare.repairs import Step, mended, unsettled
from kadm.compare.secrecy import is_secret, shown_secret
from kadm.compare.stamps import Prover

__all__ = [
    "REPAIR_MANAGER",
    "REPLICAS",
    "Contents",
    "Leaving",
    "MemberComparison",
    "Permissions",
    "Prover",
    "Size",
    "Step",
    "Terms",
    "bounded",
    "compare_member",
    "contest_digest",
    "folds",
    "generation_of",
    "goes_when_finished",
    "going",
    "guard",
    "is_secret",
    "leave",
    "make_plan",
    "mended",
    "not_kept",
    "prepared",
    "questions",
    "sent_for",
    "shown_secret",
    "striking",
    "unsettled",
    "whole",
]
