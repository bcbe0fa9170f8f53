"""``kadm init``: a fleet that is valid as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadm import repo
from kadm.cli.main import main
from kadm.model.policy import PolicyKey, RescheduleWhen


def test_what_it_writes_is_a_valid_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "My Shop"), "-o", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    loaded = repo.load(tmp_path / "My Shop")
    assert (said["kind"], said["fleet"], loaded.fleet.name) == ("Started", "my-shop", "my-shop")
    assert [str(manifest.key) for manifest in loaded.manifests] == ["Deployment.apps default/hello"]
    assert all(Path(file).is_file() for file in said["files"])
    texts = [Path(file).read_text(encoding="utf-8") for file in said["files"]]
    assert [text.count("{") - text.count("}") for text in texts] == [0] * len(texts)


def test_its_default_policy_counts_members_that_join(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path / "shop"), "--quiet"]) == 0
    policies = repo.load(tmp_path / "shop").propagation_policies
    policy = policies[PolicyKey("ClusterPropagationPolicy", "", "everywhere")].spec.reschedule_policy
    assert policy.reschedule_when == RescheduleWhen(policy_content_changed=True, cluster_joined=True)


def test_it_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kadm.yaml").write_text("mine")
    code = main(["init", str(tmp_path)])
    assert (code, capsys.readouterr().err, (tmp_path / "kadm.yaml").read_text(), len(list(tmp_path.iterdir()))) == (
        1,
        f"error: {tmp_path}/kadm.yaml is there already (kadm init starts new fleets only)\n",
        "mine",
        1,
    )


def test_validate_counts_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", str(tmp_path / "shop"), "--quiet"])
    capsys.readouterr()
    assert main(["validate", "-C", str(tmp_path / "shop")]) == 0
    assert capsys.readouterr().out == "valid: 1 manifest, 2 policies, 0 members\n"
