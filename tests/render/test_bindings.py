"""What an object's annotations permit: the tables about adoption and removal of propagation spec, section 12."""

from __future__ import annotations

import pytest

from kadm.render import adopts_in, is_released
from tests.render.builders import a_config, a_manifest, annotated


@pytest.mark.parametrize(
    ("annotations", "adopts"),
    [
        pytest.param({}, False, id="nothing is said"),
        pytest.param({"clusters_to_adopt": '{"regexp":".*"}'}, False, id="members alone"),
        pytest.param({"conflict_resolution": "adopt"}, False, id="adopt alone names no member"),
        pytest.param(
            {"conflict_resolution": "adopt", "clusters_to_adopt": '{"clusters":["prod-eu"]}'}, True, id="a name"
        ),
        pytest.param(
            {"conflict_resolution": "adopt", "clusters_to_adopt": '{"clusters":["prod-us"]}'}, False, id="another name"
        ),
        pytest.param({"conflict_resolution": "adopt", "clusters_to_adopt": '{"regexp":"eu"}'}, True, id="unanchored"),
        pytest.param(
            {"conflict_resolution": "adopt", "clusters_to_adopt": '{"regexp":"^eu"}'}, False, id="anchored, and another"
        ),
        pytest.param({"conflict_resolution": "adopt", "clusters_to_adopt": "{}"}, False, id="empty"),
        pytest.param(
            {"conflict_resolution": "overwrite", "clusters_to_adopt": '{"regexp":".*"}'}, False, id="another word"
        ),
    ],
)
def test_adoption(annotations: dict[str, str], adopts: bool) -> None:
    assert adopts_in(a_manifest(a_config(**annotated(**annotations))), "prod-eu") == adopts


@pytest.mark.parametrize(
    ("annotations", "released"),
    [
        pytest.param({}, False, id="absent: deleted"),
        pytest.param({"orphan": "all"}, True, id="all: kept"),
        pytest.param({"orphan": "adopted"}, False, id="adopted: says nothing that does not hold anyway"),
        pytest.param({"orphan": "none"}, False, id="anything else: deleted"),
    ],
)
def test_removal(annotations: dict[str, str], released: bool) -> None:
    assert is_released(a_manifest(a_config(**annotated(**annotations)))) == released
