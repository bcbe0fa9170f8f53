"""Compare: what would change in the members. Pure: live objects and the answers to dry runs come in as values."""

from kadm.compare.guards import Contents, guard
from kadm.compare.member import MemberComparison, compare_member, questions
from kadm.compare.permissions import Permissions
from kadm.compare.plan import make_plan
from kadm.compare.secrecy import is_secret, shown_secret
from kadm.compare.stamps import Prover

__all__ = [
    "Contents",
    "MemberComparison",
    "Permissions",
    "Prover",
    "compare_member",
    "guard",
    "is_secret",
    "make_plan",
    "questions",
    "shown_secret",
]
