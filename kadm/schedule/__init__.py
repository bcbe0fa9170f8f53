"""Where every object of the repository goes, and why: the scheduler (scheduling spec; design, section 12)."""

from kadm.schedule.stage import capacity_needed, schedule

__all__ = ["capacity_needed", "schedule"]
