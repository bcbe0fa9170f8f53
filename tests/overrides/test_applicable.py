"""Policies bound by a directory mean something for every kind in it."""

from __future__ import annotations

import pytest

from kadm.errors import Location
from kadm.model.override import (
    EntrypointOverrider,
    ImageOverrider,
    OverridePolicy,
    OverridePolicySpec,
    Overriders,
    OverrideRule,
    StringMapOverrider,
)
from kadm.model.policy import PolicyKey
from kadm.overrides import applicable

LABELS = (StringMapOverrider(operator="upsert", value={"a": "b"}),)
AT_PATH = ImageOverrider(image_path="/spec/image")


def policy(overriders: Overriders) -> OverridePolicy:
    return OverridePolicy(
        key=PolicyKey("ClusterOverridePolicy", "", "p"),
        spec=OverridePolicySpec(override_rules=(OverrideRule(), OverrideRule(overriders=overriders))),
        location=Location("p.yaml"),
    )


EVERYTHING = policy(
    Overriders(image=(ImageOverrider(), AT_PATH), command=(EntrypointOverrider(container_name="c"),), labels=LABELS)
)


@pytest.mark.parametrize(
    ("group", "kind", "want"),
    [
        pytest.param("apps", "Deployment", EVERYTHING, id="a kind with a pod spec gets everything"),
        pytest.param(
            "", "Service", policy(Overriders(image=(AT_PATH,), labels=LABELS)), id="one without gets what names no pods"
        ),
    ],
)
def test_applicable(group: str, kind: str, want: OverridePolicy) -> None:
    assert applicable(EVERYTHING, group, kind) == want
