"""Where every object of the repository goes, and why: the scheduler (scheduling spec; design, section 12)."""

from kadm.schedule.stage import schedule

__all__ = ["schedule"]
