"""The embedded API server answers as a real one does, but for what a list explains, by version."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.real.conftest import Get
from tests.real.members import Version
from tests.real.talk import Talk, play
from tests.real.talks import TALKS

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

Json = Any


@dataclass(frozen=True, kw_only=True)
class Known:
    """A difference between a server older than ``before`` and the embedded one, which is as 1.36.

    ``talk``, ``step`` and ``path`` are patterns that match the whole of each.
    """

    talk: str
    step: str
    path: str
    why: str
    before: Version = (1, 36)
    """Where it is not said which version changed it: the one whose answers were recorded."""

    def explains(self, talk: Talk, step: str, path: str) -> bool:
        return all(re.fullmatch(*one) for one in ((self.talk, talk.id), (self.step, step), (self.path, path)))


OLDEST: Version = (1, 20)
"""On this one everything that is known was seen."""

ALWAYS: Version = (9, 99)
MESSAGE = r"\.body\.(details\.causes\[\d\]\.)?message"
CUSTOM = "custom resources, their status and scale"

KINDS = "kinds and their defaults"
SERVICES = "Service|NodePort|LoadBalancer|headless"

KNOWN = (
    Known(
        talk=KINDS,
        step=SERVICES,
        path=r".*[.:]internalTrafficPolicy",
        why="internal traffic policies came",
        before=(1, 22),
    ),
    Known(
        talk=KINDS,
        step=SERVICES,
        path=r"\.body\.spec\.(ipFamilies|ipFamilyPolicy|clusterIPs?)",
        why="services got IP families, and a dry run addresses too",
    ),
    Known(
        talk=KINDS,
        step="LoadBalancer",
        path=r".*[.:]allocateLoadBalancerNodePorts",
        why="the choice of node ports came",
        before=(1, 22),
    ),
    Known(
        talk=KINDS,
        step="PersistentVolumeClaim",
        path=r".*\.f:status",
        why="managers also got the fields that the endpoint resets",
        before=(1, 22),
    ),
    Known(
        talk=KINDS,
        step="Service|long Deployment|Ingress|RoleBinding|HorizontalPodAutoscaler",
        path=r".*\.f:(selector|fieldRef|configMapKeyRef|port|roleRef|scaleTargetRef)\.(f:\w+|\.)",
        why="these were granular, and are one field now",
    ),
    Known(
        talk=KINDS,
        step="StatefulSet",
        path=r".*[.:](persistentVolumeClaimRetentionPolicy|availableReplicas)",
        why="claims can be kept or not, and available replicas are counted",
        before=(1, 27),
    ),
    Known(
        talk=KINDS,
        step="DaemonSet",
        path=r".*[.:]maxSurge",
        why="a DaemonSet can surge",
        before=(1, 22),
    ),
    Known(
        talk=KINDS,
        step="Job",
        path=r"\.body\.metadata\.generation|.*[.:](completionMode|manualSelector|podReplacementPolicy|suspend)",
        why="Jobs got a generation, suspension, indexes and more defaults",
    ),
    Known(
        talk=KINDS,
        step="Job",
        path=r".*\.(labels|matchLabels)\.(batch\.kubernetes\.io/)?(controller-uid|job-name)",
        why="the labels of a Job's pods got a prefix",
        before=(1, 27),
    ),
    Known(
        talk="patches",
        step="create|merge|merge with null|json|strategic",
        path=r"\.body\.metadata\.generation",
        why="a PodTemplate had no generation",
    ),
    Known(
        talk="server-side apply of lists",
        step="creates|an item more|an item less|a port without protocol",
        path=r"\.body\.metadata\.generation",
        why="a PodTemplate had no generation",
    ),
    Known(
        talk="graceful deletion",
        step=".*",
        path=r"\.body\.metadata\.generation",
        why="a Pod had no generation (KEP-5067)",
        before=(1, 34),
    ),
    Known(
        talk="patches", step="bind", path=r".*\.f:roleRef\.f:\w+", why="a roleRef was granular, and is one field now"
    ),
    Known(
        talk="owners, .*",
        step="owned|an orphan",
        path=r".*\.f:ownerReferences\.k:.*\.(f:\w+|\.)",
        why="an owner reference was granular, and is one field now",
    ),
    Known(
        talk=f"patches|dry run|leases|errors|{CUSTOM}",
        step="immutable|no such dry run|unfenced|invalid Deployment",
        path=MESSAGE,
        why="wrong values were printed as Go does, and as JSON now",
    ),
    Known(
        talk="server-side apply( of lists)?",
        step="unknown field|wrong type|an item twice",
        path=MESSAGE,
        why="the message did not name the object",
    ),
    Known(
        talk="lists, selectors, pages",
        step="version of nothing",
        path=r"\.status|\.body\.(code|reason|message)",
        why="a list's bad resourceVersion was an internal error",
    ),
    Known(
        talk=CUSTOM,
        step="create|status|after|status by the main path",
        path=r"\.body\.metadata\.(managedFields.*|resourceVersion)",
        why="managers also got the fields that the endpoint resets, and entries named no subresource",
        before=(1, 22),
    ),
    Known(
        talk=CUSTOM,
        step="list",
        path=r"\.body\.items\[0\]\.metadata\.managedFields.*",
        why="as above, in a list",
        before=(1, 22),
    ),
    Known(
        talk=CUSTOM,
        step="kinds",
        path=r"\.body\.resources\[\d\]\.storageVersionHash",
        why="the embedded server gives no such hint",
        before=ALWAYS,
    ),
    Known(talk="errors", step="no such path", path=r"\.type|\.body", why="the answer listed the paths that there are"),
    Known(talk="errors", step="not acceptable", path=MESSAGE, why="the message did not list what is acceptable"),
    Known(talk="leases", step="no microseconds", path=MESSAGE, why="another JSON parser told where it stopped"),
    Known(
        talk="errors|lists, selectors, pages",
        step="not JSON|bad page",
        path=MESSAGE,
        why="a parser's own words",
        before=ALWAYS,
    ),
)


@pytest.mark.parametrize("talk", [pytest.param(talk, id=talk.id) for talk in TALKS])
def test_both_servers_answer_alike(talk: Talk, members_of: Get) -> None:
    real, sandbox = members_of("real"), members_of("sandbox")
    name = f"talk-{secrets.token_hex(4)}"
    want = play(real.access(real.names[0]), talk, name)
    got = play(sandbox.access(sandbox.names[0]), talk, name)
    known = [one for one in KNOWN if real.version < one.before and re.fullmatch(one.talk, talk.id)]
    unexplained = []
    used: set[Known] = set()
    for step in want:
        for path, theirs, ours in differences(want[step], got[step]):
            reasons = [one for one in known if one.explains(talk, step, path)]
            used.update(reasons)
            if not reasons:
                unexplained.append(f"{step}{path}: a real server says {theirs!r}, the embedded one {ours!r}")
    unseen = [one for one in known if one not in used and real.version == OLDEST]
    assert ("\n".join(unexplained), unseen) == ("", [])


def differences(real: Json, sandbox: Json, path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Where two answers differ: path, the real server's value, the embedded one's; None is absent."""
    if isinstance(real, dict) and isinstance(sandbox, dict):
        for name in sorted(real.keys() | sandbox.keys()):
            yield from differences(real.get(name), sandbox.get(name), f"{path}.{name}")
    elif isinstance(real, list) and isinstance(sandbox, list) and len(real) == len(sandbox):
        for index, (theirs, ours) in enumerate(zip(real, sandbox, strict=True)):
            yield from differences(theirs, ours, f"{path}[{index}]")
    elif real != sandbox or type(real) is not type(sandbox):
        yield path, real, sandbox
