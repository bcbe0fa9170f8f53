"""Every error that kadm raises on purpose.

    KadmError                 what, where, why, what to do next
    ├── UsageError            the command line asks for something that cannot be
    ├── RepoError             the repository cannot be used as it is; holds every problem found
    ├── MemberError           one member could not be read or written
    │   ├── MemberUnreachable     no credential, no way there, a TLS fault
    │   │   └── MemberSilent          it was asked, and does not answer
    │   └── MemberRefused         an answer that is no success: 401, 403, 409, 422, 5xx, …
    ├── GuardError            a safety guard holds something back; names the flag that permits it
    └── StalePlanError        the members or the repository are no longer what was planned on

This module imports nothing of kadm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec


class Location(msgspec.Struct, frozen=True, order=True):
    """A place in a file. ``line`` and ``column`` count from 1; column counts characters, not bytes."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


Severity = Literal["error", "warning"]


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding, as fields; text and JSON render the same ones.

    ``where`` is a file position, or ``member`` and ``object`` name a place in a member; a file's fault that a member
    finds has both. Empty text: nothing to say. ``partial``: a part of a member could not be read or written, for a
    reason that lies there; everything else is done, and asking again later may help.
    """

    what: str
    severity: Severity = "error"
    where: Location | None = None
    member: str = ""
    object: str = ""
    why: str = ""
    hint: str = ""
    partial: bool = False

    def __str__(self) -> str:
        if self.where:
            place = f"{self.where} in {self.member}" if self.member else str(self.where)
        else:
            place = " ".join(part for part in (self.member, self.object) if part)
        text = f"{place}: {self.what}" if place else self.what
        if self.why:
            text += f": {self.why}"
        return f"{text} ({self.hint})" if self.hint else text


class KadmError(Exception):
    """What went wrong, where, why, and what to do next, as a ``Problem``."""

    def __init__(
        self,
        what: str,
        *,
        where: Location | None = None,
        member: str = "",
        object: str = "",  # noqa: A002  # the field's own word
        why: str = "",
        hint: str = "",
    ) -> None:
        self.problem = Problem(what=what, where=where, member=member, object=object, why=why, hint=hint)
        super().__init__(str(self.problem))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All findings behind this error, at least one."""
        return (self.problem,)


class UsageError(KadmError):
    """The command line asks for something that cannot be."""


class RepoError(KadmError):
    """The repository cannot be used as it is. ``problems`` lists every finding, warnings included."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        errors = [problem for problem in problems if problem.severity == "error"] or list(problems)
        first = errors[0]
        super().__init__(first.what, where=first.where, object=first.object, why=first.why, hint=first.hint)
        self._problems = tuple(problems)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._problems


class MemberError(KadmError):
    """One member could not be read or written. ``problem.member`` names it."""


class MemberUnreachable(MemberError):
    """It could not be asked, or it is not sure who answers: no usable credential, no such name, a TLS fault."""


class MemberSilent(MemberUnreachable):
    """It was asked, and there was no connection, no answer in time, or none that was whole: it may be gone."""


class MemberRefused(MemberError):
    """The member answered, but not with success.

    ``status`` is the HTTP status, ``reason`` the Kubernetes reason (may be empty), ``body`` the decoded Status object
    or None where the answer was not one. Its message is already free of Secret values.
    """

    def __init__(
        self,
        what: str,
        *,
        status: int,
        reason: str = "",
        body: dict[str, object] | None = None,
        member: str = "",
        object: str = "",  # noqa: A002
        why: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(what, member=member, object=object, why=why, hint=hint)
        self.status = status
        self.reason = reason
        self.body = body

    @property
    def blames_member(self) -> bool:
        """Whether the answer says something about the member, and nothing about what was asked of it: the credential is
        not accepted, it is overloaded, it fails, or it is no API server at all."""
        return self.status < 400 or self.status in (401, 429) or self.status >= 500


class GuardError(KadmError):
    """A safety guard holds something back. ``flag`` permits it, ``held`` lists what it holds back."""

    def __init__(self, what: str, *, flag: str, held: Sequence[str], member: str = "", why: str = "") -> None:
        super().__init__(what, member=member, why=why, hint=f"to permit it: {flag}")
        self.flag = flag
        self.held = tuple(held)


class StalePlanError(KadmError):
    """The members or the repository are no longer what was planned on."""
