"""Compare: what would change in the members. Pure: live objects and the answers to dry runs come in as values."""

from kadm.compare.guards import Contents, guard
from kadm.compare.member import MemberComparison, compare_member, questions
from kadm.compare.permissions import Permissions
from kadm.compare.plan import make_plan

__all__ = ["Contents", "MemberComparison", "Permissions", "compare_member", "guard", "make_plan", "questions"]
