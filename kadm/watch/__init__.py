"""Watch: the daemon that keeps the fleet as git says, and moves what a member cannot run (design, section 9)."""

from kadm.watch.state import Board, Snapshot

__all__ = ["Board", "Snapshot"]
