"""A repository as a whole: what is read from where, and every fault with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kadm.errors import Location, RepoError
from kadm.model.objects import ObjectKey
from kadm.model.policy import PolicyKey, PolicyRef
from kadm.repo import load
from tests.repo.fleets import (
    DEPLOYMENT,
    FLEET,
    POLICIES,
    a_fleet,
    a_member,
    an_object,
    loaded,
    problems_of,
    warnings_of,
)


def test_a_small_fleet(tmp_path: Path) -> None:
    repo = loaded(tmp_path, {"kadm.yaml": FLEET + "spec: {defaults: {clusterPropagationPolicy: everywhere}}\n"})
    (web,) = repo.manifests
    everywhere = PolicyKey("ClusterPropagationPolicy", "", "everywhere")
    assert (repo.root, repo.revision, repo.fleet.name, repo.warnings) == (str(tmp_path), None, "shop", ())
    assert [(one.name, one.labels, str(one.location)) for one in repo.clusters] == [
        ("eu", {"region": "eu"}, "clusters/eu.yaml:1:1"),
        ("us", {"region": "us"}, "clusters/us.yaml:1:1"),
    ]
    assert list(repo.propagation_policies) == [everywhere]
    assert (web.key, web.version, web.namespaced, web.propagation, web.overrides, str(web.location)) == (
        ObjectKey("apps", "Deployment", "default", "web"),
        "v1",
        True,
        PolicyRef(everywhere, "default", Location("kadm.yaml", 4, 45)),
        (),
        "manifests/web.yaml:1:1",
    )
    assert web.object["metadata"] == {"name": "web", "namespace": "default"}
    assert web.locate(("metadata", "name")) == Location("manifests/web.yaml", 3, 18)


@pytest.mark.parametrize(
    ("fleet", "problems"),
    [
        pytest.param(None, ["there is no kadm.yaml in {root}"], id="no kadm.yaml"),
        pytest.param("", ["kadm.yaml:1:1: kadm.yaml must hold one document, and holds 0"], id="empty"),
        pytest.param(
            f"{FLEET}---\n{FLEET}", ["kadm.yaml:5:1: kadm.yaml must hold one document, and holds 2"], id="two"
        ),
        pytest.param("a: [", ["kadm.yaml:2:1: no valid YAML: a value is missing here"], id="no YAML"),
        pytest.param(
            FLEET.replace("Fleet", "Flet").replace("shop", "Shop") + "spec: {manifest: [a]}\n",
            [
                'kadm.yaml:2:7: `kind` must be `Fleet`, and is "Flet"',
                (
                    "kadm.yaml:3:18: `metadata.name` must be text that matches ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                    ' and of at most 63 characters, and is "Shop"'
                ),
                "kadm.yaml:4:8: `spec.manifest` is no field that kadm knows (did you mean `manifests`?)",
            ],
            id="every fault of it",
        ),
    ],
)
def test_kadm_yaml(tmp_path: Path, fleet: str | None, problems: list[str]) -> None:
    found = [problem.split(" (kadm init")[0] for problem in problems_of(tmp_path, {"kadm.yaml": fleet})]
    assert found == [problem.format(root=tmp_path) if "{root}" in problem else problem for problem in problems]


def test_a_policy_with_a_fault_is_not_called_missing_too(tmp_path: Path) -> None:
    files = {
        "kadm.yaml": FLEET + "spec: {defaults: {clusterPropagationPolicy: everywhere}}\n",
        "policies/p.yaml": POLICIES.replace("schedulingMode", "schedulngMode"),
    }
    assert problems_of(tmp_path, files) == [
        "policies/p.yaml:4:8: `spec.schedulngMode` is no field that kadm knows (did you mean `schedulingMode`?)"
    ]


def test_faults_of_all_files_come_at_once_in_order(tmp_path: Path) -> None:
    files = {
        "clusters/eu.yaml": a_member("eu", "{taint: []}"),
        "policies/q.yaml": POLICIES.replace("Duplicate", "Copy").replace("everywhere", "q"),
        "manifests/a.yaml": an_object(rest="data: {a: 1}\n") + "---\n" + an_object(name="X_"),
    }
    assert problems_of(tmp_path, files) == [
        "clusters/eu.yaml:4:8: `spec.taint` is no field that kadm knows (did you mean `taints`?)",
        "manifests/a.yaml:4:11: `data.a` must be text, and is 1 (put it in quotes)",
        (
            'manifests/a.yaml:8:18: "X_" cannot name a ConfigMap'
            " (use lower-case letters, digits, - and ., a letter or digit at both ends, 253 at most)"
        ),
        'policies/q.yaml:4:24: `spec.schedulingMode` must be one of `Divide`, `Duplicate`, and is "Copy"',
    ]


@pytest.mark.parametrize(
    ("files", "problems"),
    [
        pytest.param(
            {"manifests/web.yaml": None},
            ["kadm.yaml:1:1: manifests does not exist (create it, or correct the path; it is relative to kadm.yaml)"],
            id="the default directory of manifests is missing",
        ),
        pytest.param(
            {"kadm.yaml": FLEET + "spec:\n  policies: [policies, polices]\n"},
            ["kadm.yaml:5:24: polices does not exist (create it, or correct the path; it is relative to kadm.yaml)"],
            id="a directory that kadm.yaml names is missing",
        ),
        pytest.param(
            {"kadm.yaml": FLEET + "spec:\n  manifests: ['manifests/*.yml']\n"},
            ["kadm.yaml:5:15: nothing matches manifests/*.yml (correct the pattern; it is relative to kadm.yaml)"],
            id="a pattern matches nothing",
        ),
        pytest.param(
            {"kadm.yaml": FLEET + "spec:\n  manifests: [../other, /etc]\n"},
            [
                'kadm.yaml:5:15: "../other" is not below kadm.yaml (name what is beside kadm.yaml or below it)',
                'kadm.yaml:5:25: "/etc" is not below kadm.yaml (name what is beside kadm.yaml or below it)',
            ],
            id="a path leads out",
        ),
        pytest.param(
            {"clusters/eu2.yaml": a_member("eu")},
            [
                (
                    "clusters/eu2.yaml:1:1: member eu is there twice:"
                    " it stands first at clusters/eu.yaml:1:1 (remove or rename one of them)"
                )
            ],
            id="one name for two members",
        ),
        pytest.param(
            {"clusters/eu.yaml": DEPLOYMENT},
            [
                (
                    "clusters/eu.yaml:2:7: apps/v1 Deployment is no member of the fleet"
                    " (here stand FederatedCluster documents of core.kubeadmiral.io/v1alpha1;"
                    " spec.clusters of kadm.yaml says where)"
                )
            ],
            id="something else among the members",
        ),
        pytest.param(
            {
                "policies/x.yaml": DEPLOYMENT,
                "policies/y.yaml": POLICIES.replace("ClusterPropagation", "ClusterPropagate"),
                "policies/z.yaml": POLICIES.replace("core.kubeadmiral.io", "policy.karmada.io"),
            },
            [
                (
                    "policies/x.yaml:2:7: apps/v1 Deployment is no policy"
                    " (native objects belong to what spec.manifests of kadm.yaml names)"
                ),
                (
                    "policies/y.yaml:2:7: core.kubeadmiral.io/v1alpha1 ClusterPropagatePolicy is no policy"
                    " (here stand kinds of core.kubeadmiral.io/v1alpha1; did you mean `ClusterPropagationPolicy`?)"
                ),
                (
                    "policies/z.yaml:2:7: policy.karmada.io/v1alpha1 ClusterPropagationPolicy is no policy"
                    " (write apiVersion: core.kubeadmiral.io/v1alpha1, if one of KubeAdmiral's is meant)"
                ),
            ],
            id="something else among the policies",
        ),
        pytest.param(
            {"manifests/p.yaml": POLICIES, "manifests/c.yaml": a_member("eu")},
            [
                (
                    "manifests/c.yaml:2:7: a FederatedCluster is no native object"
                    " (members belong to what spec.clusters of kadm.yaml names)"
                ),
                (
                    "manifests/p.yaml:2:7: a ClusterPropagationPolicy is no native object"
                    " (policies belong to what spec.policies of kadm.yaml names)"
                ),
            ],
            id="policies and members among the manifests",
        ),
        pytest.param(
            {"policies/again.yaml": POLICIES},
            [
                (
                    "policies/p.yaml:1:1: ClusterPropagationPolicy everywhere is there twice:"
                    " it stands first at policies/again.yaml:1:1 (remove or rename one of them)"
                )
            ],
            id="one name for two policies",
        ),
    ],
)
def test_faults_of_the_layout(tmp_path: Path, files: dict[str, str | None], problems: list[str]) -> None:
    assert problems_of(tmp_path, files) == problems


def test_what_nobody_named_may_be_missing(tmp_path: Path) -> None:
    files = {"policies/p.yaml": None, "clusters/eu.yaml": None, "clusters/us.yaml": None}
    assert warnings_of(tmp_path, files) == ["kadm.yaml:1:1: the fleet has no members (kadm join NAME adds one)"]


def test_an_empty_directory_of_manifests_is_an_empty_desired_state(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    assert loaded(tmp_path, {"manifests/web.yaml": None}).manifests == ()


KUBECONFIG_REFUSED = (
    "clusters/eu.yaml:4:27: the kubeconfig {path} is inside the repository: its exec plugin would run code of whoever"
    " can open a pull request, and it would hold credentials (keep it elsewhere, e.g. in ~/.kube)"
)


@pytest.mark.parametrize(
    "path", ["eu.conf", "./a/../eu.conf", "${ROOT}/eu.conf", "~/eu.conf", "link.conf", "/outside/link/eu.conf"]
)
def test_a_kubeconfig_inside_the_repository_is_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "repo"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "link").symlink_to(root)
    root.mkdir()
    (root / "link.conf").symlink_to(tmp_path / "outside" / "eu.conf")
    path = path.replace("/outside", str(tmp_path / "outside"))
    files = {"clusters/eu.yaml": a_member("eu", f'{{kubeconfig: {{path: "{path}"}}}}')}
    problems = problems_of(root, files, environ={"ROOT": str(root), "HOME": str(root)})
    assert problems == [KUBECONFIG_REFUSED.format(path=path)]


@pytest.mark.parametrize("path", ["../eu.conf", "~/.kube/config", "${UNSET}/eu.conf"])
def test_a_kubeconfig_elsewhere_is_fine(tmp_path: Path, path: str) -> None:
    root = tmp_path / "repo"
    files = {"clusters/eu.yaml": a_member("eu", f'{{kubeconfig: {{path: "{path}"}}}}')}
    assert [one.name for one in load(a_fleet(root, files), environ={"HOME": str(tmp_path)}).clusters] == ["eu", "us"]


def test_links_are_followed_within_the_repository_only(tmp_path: Path) -> None:
    root = a_fleet(tmp_path / "repo", {"base/shared.yaml": an_object(name="shared")})
    (tmp_path / "secret.yaml").write_text(an_object(name="stolen"))
    (root / "manifests" / "inside.yaml").symlink_to("../base/shared.yaml")
    (root / "manifests" / "directory").symlink_to("../base")
    (root / "base" / "shared.yaml").write_text(an_object(name="shared", metadata="namespace: a"))
    assert problems_of(root) == [
        (
            "manifests/inside.yaml:1:1: ConfigMap a/shared is there twice:"
            " it stands first at manifests/directory/shared.yaml:1:1 (remove or rename one of them)"
        )
    ]
    (root / "manifests" / "inside.yaml").unlink()
    assert [one.key.name for one in load(root).manifests] == ["shared", "web"]
    (root / "manifests" / "outside.yaml").symlink_to(tmp_path / "secret.yaml")
    assert problems_of(root) == [
        (
            "manifests/outside.yaml:1:1: manifests/outside.yaml cannot be read:"
            " the link leads out of the repository (put the file itself there)"
        )
    ]


@pytest.mark.parametrize(
    ("target", "why"),
    [
        pytest.param("nowhere", "the link leads nowhere", id="broken link"),
        pytest.param("..", "the link leads to a directory around it (remove the link)", id="circle"),
        pytest.param("x.yaml", "Too many levels of symbolic links", id="link to itself"),
    ],
)
def test_links_that_lead_nowhere(tmp_path: Path, target: str, why: str) -> None:
    root = a_fleet(tmp_path, {"kadm.yaml": FLEET + "spec: {manifests: [.]}\n"})
    (root / "manifests" / "x.yaml").symlink_to(target)
    (problem,) = problems_of(root, {"kadm.yaml": FLEET + "spec: {manifests: [.]}\n"})
    assert problem.partition(" cannot be read: ")[2] == why


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    root = a_fleet(tmp_path)
    os.mkfifo(root / "manifests" / "pipe.yaml")
    assert problems_of(root) == [
        "manifests/pipe.yaml:1:1: manifests/pipe.yaml cannot be read: it is neither a file nor a directory"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("unreadable", ["manifests/web.yaml", "manifests"])
def test_what_cannot_be_read_is_an_error(tmp_path: Path, unreadable: str) -> None:
    root = a_fleet(tmp_path)
    (root / unreadable).chmod(0)
    try:
        with pytest.raises(RepoError, match="cannot be read: Permission denied"):
            load(root)
    finally:
        (root / unreadable).chmod(0o755)


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        pytest.param("[manifests]", ["a", "b", "c", "web"], id="directory, all below it"),
        pytest.param("[manifests/a.yaml]", ["a"], id="file"),
        pytest.param("['manifests/*.yaml']", ["a", "web"], id="star stays in a directory"),
        pytest.param("['manifests/**/*.yaml']", ["a", "b", "web"], id="two stars cross directories"),
        pytest.param("['manifests/team-?']", ["b", "c"], id="directories may match"),
        pytest.param("['*/[ab].*']", ["a"], id="set of characters"),
        pytest.param("['*/[!w]*.yaml']", ["a"], id="all but a set"),
        pytest.param("['.']", ["a", "b", "c", "web"], id="everything that is not claimed, dot files aside"),
        pytest.param("[manifests/a.yaml, manifests/./a.yaml]", ["a"], id="named twice, read once"),
    ],
)
def test_entries(tmp_path: Path, entries: str, names: list[str]) -> None:
    files = {
        "kadm.yaml": FLEET + f"spec: {{manifests: {entries}}}\n",
        "manifests/a.yaml": an_object(name="a"),
        "manifests/team-x/b.yaml": an_object(name="b"),
        "manifests/team-x/README.md": "no: [yaml",
        "manifests/team-y/c.json": '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}',
        "manifests/.hidden/d.yaml": an_object(name="d"),
        ".github/e.yaml": an_object(name="e"),
    }
    assert sorted(one.key.name for one in loaded(tmp_path, files).manifests) == names


def test_a_name_that_is_no_utf8_is_an_error(tmp_path: Path) -> None:
    root = a_fleet(tmp_path)
    try:
        (Path(os.fsdecode(os.fsencode(root) + b"/manifests/\xff.yaml"))).write_text("a: 1")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert problems_of(root) == [
        "manifests:1:1: manifests cannot be read: it holds a name that is no UTF-8: '\\udcff.yaml' (rename it)"
    ]


def test_control_characters_do_not_reach_messages(tmp_path: Path) -> None:
    text = an_object(name='"\\e[31m"')
    (problem,) = problems_of(tmp_path, {"manifests/web.yaml": text})
    assert (problem.split(" cannot")[0], "\x1b" in problem) == ('manifests/web.yaml:3:18: "\\u001b[31m"', False)


@pytest.mark.parametrize(
    ("directory", "want"),
    [
        pytest.param(".", "..", id="in a subdirectory"),
        pytest.param("deeper", "..", id="another one in it"),
        pytest.param("..", None, id="the fleet itself"),
    ],
)
def test_a_directory_below_the_fleet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: str, want: str | None
) -> None:
    below = a_fleet(tmp_path) / "manifests" / "deeper"
    below.mkdir()
    monkeypatch.chdir(below.parent)
    if want is None:
        assert load(Path(directory)).fleet.name == "shop"
        return
    with pytest.raises(RepoError) as raised:
        load(Path(directory))
    assert raised.value.problem.hint == f"the fleet is in a directory above: -C {want}"
