"""What is said about ``spec.ignore``."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm import repo
from kadm.errors import RepoError

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {name: shop}
spec:
  ignore:
  - RULE
"""


@pytest.mark.parametrize(
    ("rule", "want"),
    [
        pytest.param("{kind: Deployment, path: spec.replicas}", [], id="a path"),
        pytest.param("{manager: operator}", [], id="a manager"),
        pytest.param(
            "{kind: Deployment}",
            [
                (
                    "kadm.yaml:6:5: a rule of spec.ignore needs a path, or a manager"
                    " (kadm.io/suspend leaves an object alone as a whole)"
                )
            ],
            id="neither",
        ),
        pytest.param(
            "{path: 'spec..x'}",
            [
                (
                    "kadm.yaml:6:12: the path of a rule of spec.ignore cannot be read: 'spec..x' is no path:"
                    " see what begins with '..x' (for example spec.template.spec.containers[name=app].image)"
                )
            ],
            id="no path",
        ),
    ],
)
def test_rules(tmp_path: Path, rule: str, want: list[str]) -> None:
    (tmp_path / "kadm.yaml").write_text(FLEET.replace("RULE", rule))
    (tmp_path / "manifests").mkdir()
    try:
        repo.load(tmp_path)
        found = []
    except RepoError as error:
        found = [str(problem) for problem in error.problems]
    assert found == want
