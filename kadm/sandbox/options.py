"""What a sandbox is to be: how many members, of what size, where."""

from __future__ import annotations

import msgspec

from kadm.errors import UsageError
from kadm.model.quantity import QuantityError, parse_quantity

MAX_MEMBERS = 200
MAX_NODES = 500
LAST_PORT = 65535


class SandboxOptions(msgspec.Struct, frozen=True, kw_only=True):
    """``port`` is the first member's, the others follow; 0 takes free ones. Delays are seconds, see ``Delays``."""

    members: int = 3
    nodes: int = 2
    cpu: str = "4"
    memory: str = "8Gi"
    port: int = 0
    start_delay_s: float = 0.2
    ready_delay_s: float = 0.2
    controllers: bool = True

    def checked(self) -> SandboxOptions:
        """These options. Raises UsageError when they cannot be."""
        if not 1 <= self.members <= MAX_MEMBERS:
            raise UsageError(f"{self.members} members cannot be", why=f"1 to {MAX_MEMBERS} can")
        if not 0 <= self.nodes <= MAX_NODES:
            raise UsageError(f"{self.nodes} nodes per member cannot be", why=f"0 to {MAX_NODES} can")
        if self.port and not 1 <= self.port <= LAST_PORT + 1 - self.members:
            raise UsageError(f"ports {self.port} to {self.port + self.members - 1} cannot be", why="65535 is the last")
        if self.start_delay_s < 0 or self.ready_delay_s < 0:
            raise UsageError("a delay cannot be negative")
        for what, text in (("cpu", self.cpu), ("memory", self.memory)):
            try:
                amount = parse_quantity(text)
            except QuantityError as fault:
                raise UsageError(f"--{what} {text} is no quantity", why=str(fault)) from fault
            if amount < 0:
                raise UsageError(f"--{what} {text} is negative")
        return self


def member_names(count: int) -> tuple[str, ...]:
    """``member1`` to ``member<count>``."""
    return tuple(f"member{number}" for number in range(1, count + 1))
