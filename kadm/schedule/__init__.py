"""Where every object of the repository goes, and why: the scheduler (scheduling spec; design, section 12)."""

from kadm.schedule.stage import schedule
from kadm.schedule.webhooks import plugins_of

__all__ = ["plugins_of", "schedule"]
