"""The shape of a case: what happens to an object, and what kadm has to see of it, on every sort of member.

``$NAME`` in a manifest is the case's own name; ``$NS`` is the fleet's, for the names of what is in no namespace: such
an object is called ``$NS-$NAME``. Paths are those that a plan shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.e2e.access import Access
from tests.e2e.running import Tools
from tests.real.members import Sort, Version

Json = Any
OLDEST: Version = (1, 0)
NEWEST: Version = (9, 99)


@dataclass(frozen=True)
class Site:
    """Where somebody acts on a case's object: the member, the fleet's namespace, the object's name."""

    access: Access
    tools: Tools
    member: str
    namespace: str
    name: str

    def path(self, kinds: str, name: str = "") -> str:
        """The path of the case's object of a kind, as in ``apps/v1/deployments``."""
        root = "/api" if kinds.startswith("v1/") else "/apis"
        version, _, plural = kinds.rpartition("/")
        path = f"{root}/{version}/namespaces/{self.namespace}/{plural}/{name or self.name}"
        return path.replace("$NS", self.namespace)

    def kubectl(self, *arguments: str, text: str = "") -> None:
        """kubectl in the fleet's namespace, with ``text`` as its input."""
        command = ["kubectl", "--context", self.member, "-n", self.namespace, *arguments]
        said = self.tools.run(*command, stdin=text)
        assert said.code == 0, f"{command}\n{said.out}\n{said.err}"


Act = Callable[[Site], None]
Field = tuple[str, Json, Json]
"""Path, value before, value after; None is absent."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One story. ``manifest`` is applied and must then need nothing, whatever ``others`` did after it.

    Then git changes to ``edited``, or somebody does ``act``: the plan must show exactly ``fields``, apply must bring
    them about and nothing else, and nothing is left to do. ``first`` is done before kadm comes.
    """

    id: str
    manifest: str
    first: Act | None = None
    others: Act | None = None
    edited: str | None = None
    act: Act | None = None
    fields: tuple[Field, ...] = ()
    action: str = "update"
    since: Version = OLDEST
    until: Version = NEWEST
    pending: Mapping[Sort, str] = field(default_factory=dict)
    """Where kadm is known not to do this yet, and why."""

    @property
    def name(self) -> str:
        """The name of the case's objects."""
        return re.sub("[^a-z0-9]+", "-", self.id.lower()).strip("-")

    @property
    def changes(self) -> bool:
        """Whether something happens to it after it was applied."""
        return self.edited is not None or self.act is not None

    def text(self, manifest: str, namespace: str) -> str:
        """A manifest with the names filled in."""
        return manifest.replace("$NAME", self.name).replace("$NS", namespace)

    def fits(self, version: Version) -> bool:
        return self.since <= version <= self.until
