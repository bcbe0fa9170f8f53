"""Faults that a test makes a member have: no connection, no answer, slow answers, refusals.

Wire form, as the control endpoint takes it: ``[{"mode": "status", "status": 403, "path": "/secrets", "times": 2}]``.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from kadm.errors import UsageError

Mode = Literal["refuse", "reset", "hang", "slow", "status", "garble"]


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fault.

    ``mode``: ``refuse`` closes the member's port, for all requests; ``reset`` drops the connection of a request;
    ``hang`` answers it only once the fault is taken away; ``slow`` answers it after ``delay_s``; ``status`` answers it
    with ``status`` and a Status object; ``garble`` answers it with success and JSON that breaks off. ``methods``
    (empty: all) and ``path`` (a regular expression, searched in the path with its query) choose the requests. ``times``
    is how many are hit, 0 means all.
    """

    mode: Mode
    status: int = 500
    delay_s: float = 1.0
    methods: tuple[str, ...] = ()
    path: str = ""
    times: int = 0
    message: str = "injected by the sandbox"

    def hits(self, method: str, path: str) -> bool:
        """Whether the fault is about such a request."""
        return (not self.methods or method in self.methods) and re.search(self.path, path) is not None


def parse_fault(mode: str, *, delay_s: float = 1.0, path: str = "", times: int = 0) -> Fault:
    """The fault that a person names: a mode, or a status code. Raises UsageError when there is no such one."""
    if re.fullmatch(r"[45]\d\d", mode):
        return Fault(mode="status", status=int(mode), path=path, times=times)
    try:
        re.compile(path)
        return msgspec.convert({"mode": mode, "delay_s": delay_s, "path": path, "times": times}, Fault)
    except msgspec.ValidationError as fault:
        why = "there are refuse, reset, hang, slow, garble, a status such as 503, and none"
        raise UsageError(f"there is no fault {mode}", why=why) from fault
    except re.error as fault:
        raise UsageError(f"--path {path} is no regular expression", why=str(fault)) from fault


def decode_faults(data: bytes) -> list[Fault]:
    """The faults in a request's body. Raises msgspec.ValidationError, or re.error for a bad ``path``."""
    faults = msgspec.json.decode(data, type=list[Fault])
    for fault in faults:
        re.compile(fault.path)
    return faults
