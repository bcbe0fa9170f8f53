"""Status: the health of live objects, and every workload across all members as if it were one. Pure."""

from kadm.status.aggregate import aggregate
from kadm.status.fleet import fleet_status, narrowed, workload_status
from kadm.status.health import health
from kadm.status.pod import troubles

__all__ = ["aggregate", "fleet_status", "health", "narrowed", "troubles", "workload_status"]
