"""Execute: carry out a plan. With ``members`` the only package that writes to them."""

from kadm.execute.deliver import Delivery, deliver
from kadm.execute.events import Event, Listener
from kadm.execute.locking import DEFAULT_LOCK_TIMEOUT_S, Locked
from kadm.execute.run import DEFAULT_TIMEOUT_S, execute
from kadm.execute.stop import Stop

__all__ = [
    "DEFAULT_LOCK_TIMEOUT_S",
    "DEFAULT_TIMEOUT_S",
    "Delivery",
    "Event",
    "Listener",
    "Locked",
    "Stop",
    "deliver",
    "execute",
]
