"""Where every object of the repository goes, and why: the scheduler (scheduling spec; design, section 12)."""

from kadm.schedule.checking import profile_problems, unit_problems
from kadm.schedule.ends import next_end
from kadm.schedule.learned import learned_of, may_learn
from kadm.schedule.stage import schedule
from kadm.schedule.unit_reader import Learned
from kadm.schedule.webhooks import plugins_of

__all__ = [
    "Learned",
    "learned_of",
    "may_learn",
    "next_end",
    "plugins_of",
    "profile_problems",
    "schedule",
    "unit_problems",
]
