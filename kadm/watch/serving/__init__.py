"""Serving what the daemon knows: metrics, JSON, live updates and one page, over HTTP (design, section 9)."""

from kadm.watch.serving.access import DEFAULT_LISTEN, Listening, listening, read_token
from kadm.watch.serving.server import CannotListen, Serving, serving

__all__ = ["DEFAULT_LISTEN", "CannotListen", "Listening", "Serving", "listening", "read_token", "serving"]
