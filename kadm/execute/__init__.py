"""Execute: carry out a plan. With ``members`` the only package that writes to them."""

from kadm.execute.events import Event, Listener
from kadm.execute.run import DEFAULT_TIMEOUT_S, execute

__all__ = ["DEFAULT_TIMEOUT_S", "Event", "Listener", "execute"]
