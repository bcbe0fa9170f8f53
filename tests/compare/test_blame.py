"""At whose place in the repository a refusal is told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kadm.compare.blame import with_blame
from kadm.errors import Location, Problem
from kadm.model.desired import DesiredObject, Provenance
from kadm.model.live import Fault
from kadm.model.objects import Path
from kadm.model.policy import PolicyKey
from tests.compare.builders import a_config, desired

MANIFEST = Location("manifests/web.yaml", 3)
RULE = Location("policies/eu.yaml", 12)
POLICY = PolicyKey("OverridePolicy", "shop", "eu")


def overridden(*paths: Path, policy: PolicyKey | None = POLICY) -> DesiredObject:
    entries = [
        Provenance(path=path, before=1, after=2, policy=policy, rule=0 if policy else None, location=RULE)
        for path in paths
    ]
    pod = {"containers": [{"name": "side"}, {"name": "app", "image": "?"}]}
    obj = {**a_config(), "spec": {"replicas": -1, "template": {"spec": pod}}}
    return replace(desired(obj), location=MANIFEST, provenance=tuple(entries))


REPLICAS = ("spec", "replicas")
IMAGE = ("spec", "template", "spec", "containers", 1, "image")


@pytest.mark.parametrize(
    ("wanted", "problem", "fields", "want"),
    [
        pytest.param(overridden(REPLICAS), Problem(what="invalid"), ["spec.replicas"], RULE, id="the rule's field"),
        pytest.param(overridden(REPLICAS), Problem(what="invalid"), ["spec.paused"], MANIFEST, id="another field"),
        pytest.param(overridden(), Problem(what="invalid"), ["spec.replicas"], MANIFEST, id="no rule"),
        pytest.param(
            overridden(REPLICAS, policy=None), Problem(what="invalid"), ["spec.replicas"], MANIFEST, id="the scheduler"
        ),
        pytest.param(
            overridden(IMAGE),
            Problem(what="invalid"),
            ["spec.template.spec.containers[1].image"],
            RULE,
            id="an item of a list",
        ),
        pytest.param(
            overridden(IMAGE),
            Problem(what="invalid"),
            ["spec.template.spec.containers[0].image"],
            MANIFEST,
            id="another item",
        ),
        pytest.param(
            overridden((*REPLICAS, "x")), Problem(what="invalid"), ["spec.replicas"], RULE, id="something in the field"
        ),
        pytest.param(
            overridden(("spec", "template")),
            Problem(what="invalid"),
            ["spec.template.spec.containers[1].image"],
            RULE,
            id="something around the field",
        ),
        pytest.param(overridden(REPLICAS), Problem(what="invalid"), ["spec"], MANIFEST, id="all of it says nothing"),
        pytest.param(overridden(REPLICAS), Problem(what="invalid"), ["<nil>[["], MANIFEST, id="no field at all"),
        pytest.param(
            overridden(IMAGE),
            Problem(what="no", why='failed: .spec.template.spec.containers[name="app"].image: expected string, got 1'),
            [],
            RULE,
            id="named in the message alone",
        ),
        pytest.param(
            overridden(REPLICAS), Problem(what="no", where=MANIFEST), ["spec.replicas"], MANIFEST, id="it has a place"
        ),
    ],
)
def test_place(wanted: DesiredObject, problem: Problem, fields: list[str], want: Location) -> None:

    assert with_blame(problem, wanted, [Fault(text, "is wrong") for text in fields]).where == want


def test_words() -> None:
    told = with_blame(Problem(what="invalid", hint="look"), overridden(REPLICAS), [Fault("spec.replicas", "is wrong")])
    assert told == Problem(
        what="invalid",
        where=RULE,
        hint="rule 0 of OverridePolicy shop/eu set spec.replicas, not the manifest at manifests/web.yaml:3:1; look",
    )
