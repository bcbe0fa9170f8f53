"""Directories that kustomize and helm build: what comes of them, what they may read, and how they fail."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kadm.errors import RepoError
from kadm.model.objects import ObjectKey
from kadm.model.repository import Repo
from kadm.repo import load
from tests.repo.fleets import DEPLOYMENT, FLEET, a_fleet, an_object

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")

DEFAULTS = "spec: {defaults: {clusterPropagationPolicy: everywhere}}\n"
ENTRY = "spec: {defaults: {clusterPropagationPolicy: everywhere}, manifests: [%s]}\n"

HELM = """\
#!/bin/sh
# Plays helm: prints how it was called, and the values, as a ConfigMap.
for argument in "$@"; do
  case "$argument" in --values=*) VALUES="$VALUES $(cat "${argument#--values=}")";; esac
done
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: called}\\ndata:\\n'
printf '  call: "%s"\\n' "$(echo "$@" | sed 's|--values=/[^ ]*|--values=PRIVATE|')"
printf "  values: '%s'\\n" "$VALUES"
printf '  secret: "%s"\\n' "$CI_SECRET"
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A directory for the PATH that holds nothing yet."""
    tools = tmp_path / "tools"
    tools.mkdir()
    return tools


def a_tool(tools: Path, name: str, script: str) -> None:
    file = tools / name
    file.write_text(script)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def built(root: Path, files: Mapping[str, str | None], *, path: Path | None = None) -> Repo:
    environ = {"PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"], "CI_SECRET": "hunter2"}
    return load(a_fleet(root / "fleet", files), environ=environ)


def problems(root: Path, files: Mapping[str, str | None], *, path: str | None = None) -> list[str]:
    with pytest.raises(RepoError) as raised:
        load(a_fleet(root / "fleet", files), environ={"PATH": path or os.environ["PATH"]})
    return [str(one) for one in raised.value.problems]


def names(repo: Repo) -> list[str]:
    return [f"{one.key.kind}/{one.key.qualified_name}" for one in repo.manifests]


OVERLAY = {
    "kadm.yaml": FLEET + ENTRY % "manifests/eu",
    "manifests/web.yaml": None,
    "manifests/base/kustomization.yaml": "resources: [web.yaml]\n",
    "manifests/base/web.yaml": DEPLOYMENT,
    "manifests/eu/kustomization.yaml": "namePrefix: eu-\nresources: [../base]\n",
}


@needs_kubectl
def test_an_overlay(tmp_path: Path) -> None:
    repo = built(tmp_path, OVERLAY)
    (web,) = repo.manifests
    assert (web.key, str(web.location), str(web.locate(("metadata", "name")))) == (
        ObjectKey("apps", "Deployment", "default", "eu-web"),
        f"manifests/eu ({'kustomize build' if shutil.which('kustomize') else 'kubectl kustomize'}):1:1",
        f"manifests/eu ({'kustomize build' if shutil.which('kustomize') else 'kubectl kustomize'}):4:9",
    )


@needs_kubectl
@pytest.mark.parametrize(
    ("entry", "found"),
    [
        pytest.param("manifests", ["Deployment/default/web"], id="the outermost directory is built"),
        pytest.param(
            "manifests/shop/kustomization.yaml", ["Deployment/default/web"], id="the file stands for its directory"
        ),
        pytest.param("manifests/**/*.yaml", ["Deployment/default/web"], id="a pattern takes no file twice"),
        pytest.param(
            "{path: manifests/shop, namespace: shop}", ["Deployment/shop/web"], id="an entry says what is not said"
        ),
        pytest.param(
            "manifests, {path: manifests/shop, namespace: shop}", ["Deployment/shop/web"], id="the longest path wins"
        ),
    ],
)
def test_what_is_built(tmp_path: Path, entry: str, found: list[str]) -> None:
    files = {
        "kadm.yaml": FLEET + ENTRY % entry,
        "manifests/web.yaml": None,
        "manifests/shop/kustomization.yaml": "resources: [web.yaml]\n",
        "manifests/shop/web.yaml": DEPLOYMENT,
        "manifests/shop/unused.yaml": an_object(name="unused"),
    }
    assert names(built(tmp_path, files)) == found


@needs_kubectl
def test_a_commit_is_exported(tmp_path: Path) -> None:
    root = a_fleet(tmp_path / "fleet", {**OVERLAY, "manifests/eu/.env": "A=1\n"})
    kustomization = root / "manifests/eu/kustomization.yaml"
    kustomization.write_text(
        kustomization.read_text()
        + "configMapGenerator: [{name: c, envs: [.env], options: {disableNameSuffixHash: true}}]\n"
    )
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *command], cwd=root, check=True)
    (root / "manifests/base/web.yaml").write_text("no: object\n")
    assert names(load(root, ref="HEAD", environ={})) == [
        "ConfigMap/default/eu-c",
        "Deployment/default/eu-web",
    ]


@needs_kubectl
def test_real_components(tmp_path: Path, shared_data: Path) -> None:
    root = a_fleet(tmp_path / "fleet", {"kadm.yaml": FLEET + DEFAULTS, "manifests/web.yaml": None})
    boutique = root / "manifests/boutique"
    shutil.copytree(shared_data / "real-manifests/online-boutique-kustomize", boutique)
    before = names(load(root, environ={}))
    kustomization = boutique / "kustomization.yaml"
    text = kustomization.read_text().replace("# - components/network-policies", "- components/network-policies")
    kustomization.write_text(text.replace("# - components/without-loadgenerator", "- components/without-loadgenerator"))
    after = names(load(root, environ={}))
    assert (len(before), len(after), [one for one in before if one not in after]) == (
        35,
        47,
        ["Deployment/default/loadgenerator"],
    )


@pytest.mark.parametrize(
    ("kustomization", "said"),
    [
        pytest.param(
            "resources: [https://example.com/a.yaml]",
            "manifests/k/kustomization.yaml:1:13: https://example.com/a.yaml is outside of the repository: what is"
            " fetched may change without a commit (copy it into the repository, and name the copy)",
            id="a URL",
        ),
        pytest.param(
            "bases: ['github.com/a/b//c?ref=v1']",
            "manifests/k/kustomization.yaml:1:9: github.com/a/b//c?ref=v1 is outside of the repository: what is"
            " fetched may change without a commit (copy it into the repository, and name the copy)",
            id="a base of GitHub",
        ),
        pytest.param(
            "patches: [{path: 'https://example.com/p.yaml'}]",
            "manifests/k/kustomization.yaml:1:18: https://example.com/p.yaml is outside of the repository: what is"
            " fetched may change without a commit (copy it into the repository, and name the copy)",
            id="a patch",
        ),
        pytest.param(
            "configMapGenerator: [{name: a, files: ['k=https://example.com/p']}]",
            "manifests/k/kustomization.yaml:1:40: k=https://example.com/p is outside of the repository: what is"
            " fetched may change without a commit (copy it into the repository, and name the copy)",
            id="a file of a generator",
        ),
        pytest.param(
            "resources: [absent.yaml]",
            "manifests/k/kustomization.yaml:1:13: absent.yaml does not exist (create it, or correct the path)",
            id="what is not there",
        ),
        pytest.param(
            "resources: [/etc]",
            "manifests/k/kustomization.yaml:1:13: /etc is an absolute path (name it relative to this file)",
            id="an absolute path",
        ),
        pytest.param(
            "resources: [../../../outside]",
            "manifests/k/kustomization.yaml:1:13: ../../../outside cannot be used: the link leads out of the"
            " repository",
            id="a directory outside of the repository",
        ),
    ],
)
def test_what_is_not_read(tmp_path: Path, kustomization: str, said: str) -> None:
    (tmp_path / "outside").mkdir()
    files = {"kadm.yaml": FLEET + DEFAULTS, "manifests/k/kustomization.yaml": kustomization + "\n"}
    assert problems(tmp_path, files) == [said]


def test_a_link_out_of_the_repository(tmp_path: Path, tools: Path) -> None:
    files = {"kadm.yaml": FLEET + DEFAULTS, "manifests/c/Chart.yaml": "name: c\n"}
    root = a_fleet(tmp_path / "fleet", files)
    (tmp_path / "key").write_text("secret")
    (root / "manifests/c/files").mkdir()
    (root / "manifests/c/files/key").symlink_to(tmp_path / "key")
    (said,) = problems(tmp_path, files, path=str(tools))
    assert said == (
        "manifests/c/files/key:1:1: manifests/c/files/key cannot be read: the link leads out of the repository"
        " (put the file itself there)"
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        pytest.param(
            "kustomization.yaml",
            "kadm.yaml:4:7: manifests/k is built by kustomize, and neither kustomize nor kubectl is there to do it"
            " (install one of them; or commit what kustomize build prints, and name that instead)",
            id="kustomize",
        ),
        pytest.param(
            "Chart.yaml",
            "kadm.yaml:4:7: manifests/k is rendered by helm, which is not there (install helm; or commit what helm"
            " template prints, and name that instead)",
            id="helm",
        ),
    ],
)
def test_a_missing_tool(tmp_path: Path, tools: Path, file: str, said: str) -> None:
    files = {"kadm.yaml": FLEET + DEFAULTS, f"manifests/k/{file}": "resources: []\n"}
    assert problems(tmp_path, files, path=str(tools)) == [said]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param(
            "echo 'Error: must specify --enable-helm' >&2; exit 1",
            "manifests/k/kustomization.yaml:1:1: kustomize build failed: Error: must specify --enable-helm (name the"
            " chart in spec.manifests of kadm.yaml, with helm)",
            id="its own words",
        ),
        pytest.param(
            'echo \'E1129 17:15:12.926876   18420 run.go:72] "command failed" err="no"\' >&2; exit 1',
            'manifests/k/kustomization.yaml:1:1: kustomize build failed: "no"',
            id="without the time of day",
        ),
        pytest.param(
            "exit 3", "manifests/k/kustomization.yaml:1:1: kustomize build failed: it ended with 3", id="none"
        ),
        pytest.param(
            "echo '# nothing'",
            "manifests/k/kustomization.yaml:1:1: kustomize build makes nothing of manifests/k (if nothing is meant,"
            " take it out of the repository)",
            id="nothing",
        ),
        pytest.param(
            "exec head -c 40000000 /dev/zero",
            "manifests/k/kustomization.yaml:1:1: kustomize build failed: it makes more than 33,554,432 bytes",
            id="too much",
        ),
        pytest.param(
            "printf 'kind: ConfigMap\\nmetadata: {name: a}\\n'",
            "manifests/k (kustomize build):1:1: `apiVersion` is missing; it must be text",
            id="no object",
        ),
    ],
)
def test_a_failing_tool(tmp_path: Path, tools: Path, script: str, said: str) -> None:
    a_tool(tools, "kustomize", f"#!/bin/sh\n{script}\n")
    files = {"kadm.yaml": FLEET + DEFAULTS, "manifests/k/kustomization.yaml": "resources: []\n"}
    assert problems(tmp_path, files, path=f"{tools}:/usr/bin:/bin") == [said]


CHART = {"kadm.yaml": FLEET + DEFAULTS, "manifests/web.yaml": None, "manifests/shop/Chart.yaml": "name: shop\n"}


@pytest.mark.parametrize(
    ("entry", "call", "values"),
    [
        pytest.param(
            "manifests",
            "template shop manifests/shop --namespace=default --include-crds --skip-tests",
            "",
            id="defaults",
        ),
        pytest.param(
            "{path: manifests/shop, namespace: ns, helm: {releaseName: r, valuesFiles: [v.yaml], values: {b: 2}}}",
            "template r manifests/shop --namespace=ns --include-crds --skip-tests --values=v.yaml --values=PRIVATE",
            ' a: 1 {"b": 2}',
            id="as the entry says",
        ),
        pytest.param(
            "{path: manifests/shop, helm: {namespace: ns, kubeVersion: '1.30', apiVersions: [a/v1]}}",
            "template shop manifests/shop --namespace=ns --include-crds --skip-tests --kube-version=1.30"
            " --api-versions=a/v1",
            "",
            id="capabilities",
        ),
    ],
)
def test_a_chart(tmp_path: Path, tools: Path, entry: str, call: str, values: str) -> None:
    a_tool(tools, "helm", HELM)
    repo = built(tmp_path, {**CHART, "kadm.yaml": FLEET + ENTRY % entry, "v.yaml": "a: 1\n"}, path=tools)
    assert [one.object["data"] for one in repo.manifests] == [{"call": call, "values": values, "secret": ""}]


def test_hooks_are_named(tmp_path: Path, tools: Path) -> None:
    hook = an_object(metadata="annotations: {helm.sh/hook: pre-install}").replace("\n", "\\n")
    a_tool(tools, "helm", f"#!/bin/sh\nprintf '{hook}'\n")
    (said,) = built(tmp_path, CHART, path=tools).warnings
    assert str(said) == (
        "manifests/shop (helm template):3:49: the object is a hook (pre-install), and is applied as any other"
        " (a value of most charts turns it off)"
    )


@pytest.mark.parametrize(
    ("entry", "script", "said"),
    [
        pytest.param(
            "manifests",
            "printf 'apiVersion: v1\\nkind: Secret\\nmetadata: {name: a}\\nstringData: {p: a%s}\\n' $$",
            "manifests/shop/Chart.yaml:1:1: helm template gives something else each time: Secret/a: the chart makes"
            " random values, or looks at the clock, and every apply would write anew (set what it makes in"
            " helm.values; or commit what helm template prints, and name that instead)",
            id="random values",
        ),
        pytest.param(
            "{path: manifests/shop, helm: {valuesFiles: [absent.yaml]}}",
            "exit 1",
            "kadm.yaml:4:77: absent.yaml does not exist (helm.valuesFiles of kadm.yaml are relative to kadm.yaml)",
            id="a values file that is not there",
        ),
        pytest.param(
            "{path: policies, helm: {}}",
            "exit 1",
            "kadm.yaml:4:93: helm is said of policies, where there is no Chart.yaml (name the directory of one chart as"
            " path)",
            id="no chart",
        ),
    ],
)
def test_a_chart_that_cannot_be(tmp_path: Path, tools: Path, entry: str, script: str, said: str) -> None:
    a_tool(tools, "helm", f"#!/bin/sh\n{script}\n")
    files = {**CHART, "kadm.yaml": FLEET + ENTRY % entry}
    assert problems(tmp_path, files, path=f"{tools}:/usr/bin:/bin") == [said]
