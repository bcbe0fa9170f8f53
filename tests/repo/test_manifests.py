"""Native objects: identity, namespaces, lists, and what an API server would refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.errors import Location
from kadm.repo.headers import Header, Metadata
from kadm.repo.keys import key_problems
from tests.repo.fleets import FLEET, an_object, loaded, problems_of, warnings_of

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAME.example.com}
spec: {group: example.com, names: {kind: KIND}, scope: SCOPE}
"""


def a_crd(kind: str, scope: str) -> str:
    return CRD.replace("NAME", kind.lower()).replace("KIND", kind).replace("SCOPE", scope)


@pytest.mark.parametrize(
    ("text", "key", "namespaced"),
    [
        pytest.param(an_object(), "ConfigMap default/x", True, id="the Fleet's namespace"),
        pytest.param(an_object(metadata="namespace: a"), "ConfigMap a/x", True, id="its own namespace"),
        pytest.param(an_object("v1 Namespace"), "Namespace x", False, id="cluster scope"),
        pytest.param(
            an_object(name="x", metadata="namespace: kadm-system"), "ConfigMap kadm-system/x", True, id="beside records"
        ),
        pytest.param(an_object(name="kadm-shop"), "ConfigMap default/kadm-shop", True, id="no record"),
        pytest.param(
            a_crd("Sink", "Cluster") + "---\n" + an_object("example.com/v1 Sink"),
            "Sink.example.com x",
            False,
            id="scope of a CRD: Cluster",
        ),
        pytest.param(
            a_crd("Tap", "Namespaced") + "---\n" + an_object("example.com/v1 Tap"),
            "Tap.example.com default/x",
            True,
            id="scope of a CRD: Namespaced",
        ),
        pytest.param(
            an_object("example.com/v1 Unknown"), "Unknown.example.com x", None, id="unknown kind without a namespace"
        ),
        pytest.param(
            an_object("example.com/v1 Unknown", metadata="namespace: a"),
            "Unknown.example.com a/x",
            None,
            id="unknown kind with a namespace",
        ),
        pytest.param(an_object("v1 ConfigMap", metadata="namespace: null"), "ConfigMap default/x", True, id="null"),
        pytest.param(
            an_object("rbac.authorization.k8s.io/v1 ClusterRole", "system:a:B"),
            "ClusterRole.rbac.authorization.k8s.io system:a:B",
            False,
            id="names of RBAC",
        ),
    ],
)
def test_identity(tmp_path: Path, text: str, key: str, namespaced: bool | None) -> None:
    repo = loaded(tmp_path, {"manifests/web.yaml": text})
    found = {str(one.key): (one.namespaced, one.object["metadata"].get("namespace", "")) for one in repo.manifests}
    namespace = key.split()[1].rpartition("/")[0]
    assert found[key] == (namespaced, namespace)


def test_entries_give_namespaces_and_the_longest_path_wins(tmp_path: Path) -> None:
    entries = "[manifests, {path: manifests/vendor, namespace: v}, {path: manifests/vendor/a.yaml, namespace: w}]"
    files = {
        "kadm.yaml": FLEET + f"spec: {{namespace: shared, manifests: {entries}}}\n",
        "manifests/vendor/a.yaml": an_object(name="a"),
        "manifests/vendor/b.yaml": an_object(name="b"),
    }
    names = [one.key.qualified_name for one in loaded(tmp_path, files).manifests]
    assert names == ["v/b", "w/a", "shared/web"]


def test_lists_are_expanded(tmp_path: Path) -> None:
    text = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: List
  items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: c}
- {apiVersion: v1, kind: List, items: null}
"""
    repo = loaded(tmp_path, {"manifests/web.yaml": text})
    assert [(str(one.key), str(one.location), str(one.locate(("metadata", "name")))) for one in repo.manifests] == [
        ("ConfigMap default/a", "manifests/web.yaml:4:3", "manifests/web.yaml:4:54"),
        ("ConfigMap default/b", "manifests/web.yaml:8:5", "manifests/web.yaml:10:22"),
        ("ConfigMap default/c", "manifests/web.yaml:14:5", "manifests/web.yaml:14:22"),
    ]
    assert repo.manifests[2].object["kind"] == "ConfigMap"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param(
            "a: 1\n",
            [
                "1:1: `apiVersion` is missing; it must be text",
                "1:1: `kind` is missing; it must be text",
                "1:1: `metadata` is missing; it must be an object",
            ],
            id="no object",
        ),
        pytest.param("apiVersion: v1\nkind: X\nmetadata: {}\n", ["3:11: `metadata.name` is missing"], id="no name"),
        pytest.param(
            "apiVersion: v1\nkind: X\nmetadata: {generateName: a-}\n",
            [
                (
                    "3:12: `metadata.generateName` cannot stand for a name"
                    " (write metadata.name: every run would make another object)"
                )
            ],
            id="generateName",
        ),
        pytest.param(
            an_object("a/b/v1 X", metadata="namespace: a"),
            ['1:13: "a/b/v1" is no apiVersion (write group/version, or v1 for the core group)'],
            id="apiVersion",
        ),
        pytest.param(
            an_object(metadata="namespace: A, labels: {a b: x, c: -}, annotations: {_: x}"),
            [
                (
                    '3:32: "A" cannot name a namespace'
                    " (use lower-case letters, digits and -, a letter or digit at both ends, 63 at most)"
                ),
                "3:44: 'a b' is no label key",
                "3:52: '-' is no label value (of 'c')",
                "3:73: '_' is no annotation key",
            ],
            id="syntax of metadata",
        ),
        pytest.param(
            an_object(metadata="labels: {a: true}, annotations: {b: 1}"),
            [
                "3:33: `metadata.labels.a` must be text, and is true (put it in quotes)",
                "3:57: `metadata.annotations.b` must be text, and is 1 (put it in quotes)",
            ],
            id="labels and annotations that are no text",
        ),
        pytest.param(
            an_object("v1 Secret", metadata="annotations: {b: 4711}", rest="data: {a: 4712, b: not base64!}\n"),
            ["3:38: `metadata.annotations.b` must be text, and is a number (put it in quotes)"],
            id="no value of a Secret, even in its metadata",
        ),
        pytest.param(
            an_object("v1 Secret", rest="data: {a: 4712, b: not base64!}\nstringData: {c: true, d: null, e: [1]}\n"),
            [
                "4:11: `data.a` must be text (put it in quotes)",
                "4:20: `data.b` is not base64 (write plain text under stringData)",
                "5:17: `stringData.c` must be text (put it in quotes)",
                "5:26: `stringData.d` must be text",
                "5:35: `stringData.e` must be text",
            ],
            id="no value of a Secret",
        ),
        pytest.param(
            an_object(rest="data: [1]\nbinaryData: {a: x}\n"),
            ["4:7: `data` must be an object", "5:17: `binaryData.a` is not base64 (write plain text under data)"],
            id="ConfigMap",
        ),
        pytest.param("apiVersion: v1\nkind: List\nitems: {}\n", ["3:8: `items` of a List must be a list"], id="list"),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems: [1]\n",
            ["3:9: an item of a List must be an object"],
            id="item of a list",
        ),
        pytest.param(
            an_object() + "---\n" + an_object(),
            [
                (
                    "5:1: ConfigMap default/x is there twice: it stands first at manifests/web.yaml:1:1"
                    " (remove or rename one of them)"
                )
            ],
            id="twice",
        ),
        pytest.param(
            an_object("apps/v1 Deployment") + "---\n" + an_object("apps/v1beta1 Deployment"),
            [
                (
                    "5:1: Deployment.apps default/x is there twice: it stands first at manifests/web.yaml:1:1"
                    " (remove or rename one of them)"
                )
            ],
            id="twice, in two versions",
        ),
        *(
            pytest.param(
                an_object(kind, "kadm-shop", metadata="namespace: kadm-system"),
                [
                    (
                        f"3:18: {kind.partition(' ')[2]} kadm-system/kadm-shop is where kadm keeps its own records"
                        " (give it a name that does not begin with kadm-)"
                    )
                ],
                id=f"a {kind.partition(' ')[2]} that kadm writes",
            )
            for kind in ("v1 ConfigMap", "v1 Secret", "coordination.k8s.io/v1 Lease")
        ),
    ],
)
def test_refusals(tmp_path: Path, text: str, problems: list[str]) -> None:
    assert problems_of(tmp_path, {"manifests/web.yaml": text}) == [f"manifests/web.yaml:{one}" for one in problems]


def test_an_unknown_kind_without_a_namespace_is_warned_about(tmp_path: Path) -> None:
    (warning,) = warnings_of(tmp_path, {"manifests/web.yaml": an_object("example.com/v1 Sink")})
    assert warning == (
        "manifests/web.yaml:2:7: nothing here says whether example.com/v1 Sink is namespaced; it counts as"
        " cluster-scoped (write metadata.namespace if it is, or add its CustomResourceDefinition)"
    )


def test_a_namespace_on_an_object_of_cluster_scope_is_left_out(tmp_path: Path) -> None:
    text = an_object("rbac.authorization.k8s.io/v1 ClusterRole", metadata="namespace: a")
    assert warnings_of(tmp_path, {"manifests/web.yaml": text}) == [
        "manifests/web.yaml:3:32: a ClusterRole has no namespace; a is left out (remove it)"
    ]


USER_KEYS = {
    "labels": [
        "propagation-policy-name",
        "cluster-propagation-policy-name",
        "override-policy-name",
        "cluster-override-policy-name",
        "hpa-mode",
    ],
    "annotations": [
        "no-federated-resource",
        "no-scheduling",
        "dry-run",
        "conflict-resolution",
        "clusters-to-adopt",
        "orphan",
        "retain-replicas",
        "followers",
        "disable-following",
        "no-auto-propagation",
        "migration-configuration",
        "scheduling-mode",
        "sticky-cluster",
        "tolerations",
        "placements",
        "clusterSelector",
        "affinity",
        "maxClusters",
        "follows-object",
    ],
}
"""Every key that KubeAdmiral takes from its users (propagation spec 0.1)."""


@pytest.mark.parametrize(("field", "key"), [(field, key) for field, keys in USER_KEYS.items() for key in keys])
def test_no_key_that_kubeadmiral_takes_is_unknown(field: str, key: str) -> None:
    keys = {f"kubeadmiral.io/{key}": ""}
    metadata = Metadata(labels=keys) if field == "labels" else Metadata(annotations=keys)
    header = Header("v1", "ConfigMap", metadata)
    said = [problem.what for problem in key_problems(header, lambda _: Location("x.yaml"))]
    assert [what for what in said if "none that KubeAdmiral knows" in what] == []


def test_a_namespace_cannot_be_held_back(tmp_path: Path) -> None:
    text = an_object("v1 Namespace", metadata='annotations: {kubeadmiral.io/dry-run: "true"}')
    (said,) = problems_of(tmp_path, {"manifests/web.yaml": text})
    assert said == (
        "manifests/web.yaml:3:59: annotation kubeadmiral.io/dry-run is not supported on a Namespace"
        " (what goes into a namespace needs it: put the annotation on that)"
    )


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        pytest.param('annotations: {kubeadmiral.io/no-scheduling: "1"}', "", id="honoured"),
        pytest.param('annotations: {internal.kubeadmiral.io/followers: "[]"}', "", id="internal twin"),
        pytest.param("annotations: {kubeadmiral.io/orphan: ''}", "", id="a value that means the default"),
        pytest.param("labels: {kubeadmiral.io/hpa-mode: distributed}", "", id="label"),
        pytest.param("annotations: {kadm.io/protect: 'true'}", "", id="ours"),
        pytest.param("annotations: {example.com/orphan: all}", "", id="somebody else's"),
        pytest.param("annotations: {kubeadmiral.io/dry-run: 'true'}", "", id="dry run"),
        pytest.param(
            "annotations: {kubeadmiral.io/no-auto-propagation: 'true'}",
            "warning annotation kubeadmiral.io/no-auto-propagation has no effect"
            " (kadm makes a namespace only where something in it goes)",
            id="what is so anyway",
        ),
        pytest.param(
            "annotations: {kubeadmiral.io/clusters-to-adopt: eu}",
            "annotation kubeadmiral.io/clusters-to-adopt cannot be read: JSON is malformed: invalid character (byte 0)"
            ' ({"clusters": ["eu-1"], "regexp": "^eu-"}, one of them or both)',
            id="clusters to adopt that are no JSON",
        ),
        pytest.param(
            "labels: {kubeadmiral.io/hpa-mode: centralized}",
            "label kubeadmiral.io/hpa-mode: centralized is not supported"
            " (kadm divides the HorizontalPodAutoscaler over the members with its workload)",
            id="central HPA",
        ),
        pytest.param(
            "annotations: {kubeadmiral.io/no-schedulin: x}",
            "annotation kubeadmiral.io/no-schedulin is none that KubeAdmiral knows"
            " (did you mean `kubeadmiral.io/no-scheduling`?)",
            id="mistyped",
        ),
        pytest.param(
            "annotations: {kadm.io/ignore: spec.}",
            "annotation kadm.io/ignore cannot be read: 'spec.' is no path: see what begins with '.'"
            " (paths such as spec.replicas, with commas)",
            id="an ignored path that is none",
        ),
        pytest.param(
            "annotations: {kubeadmiral.io/scheduling: '{}'}",
            "warning annotation kubeadmiral.io/scheduling is KubeAdmiral's own note, and is left out"
            " (remove it from the manifest)",
            id="written by KubeAdmiral",
        ),
        pytest.param(
            "annotations: {kadm.io/protekt: x}",
            "warning annotation kadm.io/protekt is none that kadm knows (did you mean `kadm.io/protect`?)",
            id="ours, mistyped",
        ),
    ],
)
def test_keys_of_kubeadmiral(tmp_path: Path, metadata: str, said: str) -> None:
    files: dict[str, str | None] = {"manifests/web.yaml": an_object(metadata=metadata)}
    column = an_object(metadata=metadata).split("\n")[2].rindex(metadata.split(": ")[-1]) + 1
    place = f"manifests/web.yaml:3:{column}: "
    if said.startswith("warning "):
        assert warnings_of(tmp_path, files) == [place + said.removeprefix("warning ")]
    elif said:
        assert problems_of(tmp_path, files) == [place + said]
    else:
        assert warnings_of(tmp_path, files) == []
