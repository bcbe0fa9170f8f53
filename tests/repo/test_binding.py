"""Which policies an object is bound to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.fleets import FLEET, a_policy, an_object, loaded, problems_of, warnings_of

SPEC = "{schedulingMode: Duplicate}"
POLICIES = "---\n".join(
    [a_policy(SPEC, kind="PropagationPolicy", name=name, namespace="a") for name in ("label", "entry", "default")]
    + [a_policy(SPEC, name=name) for name in ("label", "entry", "default")]
    + [a_policy("{}", kind="OverridePolicy", name=name, namespace="a") for name in ("label", "entry", "default")]
    + [a_policy("{}", kind="ClusterOverridePolicy", name=name) for name in ("label", "entry", "default")]
)

PP = "kubeadmiral.io/propagation-policy-name"
CPP = "kubeadmiral.io/cluster-propagation-policy-name"
OP = "kubeadmiral.io/override-policy-name"
COP = "kubeadmiral.io/cluster-override-policy-name"


def bound(root: Path, entry: str, defaults: str, text: str) -> list[str]:
    fleet = FLEET + f"spec: {{manifests: [{{path: manifests{entry}}}], defaults: {{{defaults}}}}}\n"
    repo = loaded(root, {"kadm.yaml": fleet, "policies/q.yaml": POLICIES, "manifests/web.yaml": text})
    (manifest,) = repo.manifests
    refs = [manifest.propagation] if manifest.propagation else []
    return [f"{ref.via}: {ref.policy}" for ref in [*refs, *manifest.overrides]]


ENTRY_CPP = ", clusterPropagationPolicy: entry"
ENTRY_PP = ", propagationPolicy: entry"
DEFAULT_CPP = "clusterPropagationPolicy: default"


@pytest.mark.parametrize(
    ("entry", "defaults", "text", "want"),
    [
        pytest.param("", "", an_object(metadata="namespace: a"), [], id="nothing"),
        pytest.param(
            "",
            DEFAULT_CPP,
            an_object(metadata="namespace: a"),
            ["default: ClusterPropagationPolicy default"],
            id="the Fleet's default",
        ),
        pytest.param(
            ENTRY_CPP,
            DEFAULT_CPP,
            an_object(metadata="namespace: a"),
            ["entry: ClusterPropagationPolicy entry"],
            id="the entry before the default",
        ),
        pytest.param(
            ENTRY_CPP,
            "propagationPolicy: default",
            an_object(metadata="namespace: a"),
            ["entry: ClusterPropagationPolicy entry"],
            id="a cluster policy of the entry before a namespaced default",
        ),
        pytest.param(
            ENTRY_PP,
            DEFAULT_CPP,
            an_object("v1 PersistentVolume"),
            ["default: ClusterPropagationPolicy default"],
            id="cluster scope sees no namespaced policy",
        ),
        pytest.param(
            ENTRY_CPP,
            DEFAULT_CPP,
            an_object(metadata=f"namespace: a, labels: {{{CPP}: label}}"),
            ["label: ClusterPropagationPolicy label"],
            id="the label before the entry",
        ),
        pytest.param(
            "",
            "",
            an_object(metadata=f"namespace: a, labels: {{{CPP}: label, {PP}: label}}"),
            ["label: PropagationPolicy a/label"],
            id="the namespaced policy of two labels",
        ),
        pytest.param(
            "",
            "clusterOverridePolicy: default, overridePolicy: default",
            an_object(metadata="namespace: a"),
            ["default: ClusterOverridePolicy default", "default: OverridePolicy a/default"],
            id="both overrides, the cluster one first",
        ),
        pytest.param(
            ", overridePolicy: entry",
            "clusterOverridePolicy: default",
            an_object(metadata=f"namespace: a, labels: {{{OP}: label}}"),
            ["default: ClusterOverridePolicy default", "label: OverridePolicy a/label"],
            id="each override kind for itself",
        ),
        pytest.param(ENTRY_CPP, DEFAULT_CPP, an_object("v1 Namespace"), [], id="a namespace goes where it is needed"),
        pytest.param(
            "",
            "",
            an_object("v1 Namespace", metadata=f"labels: {{{CPP}: label}}"),
            ["label: ClusterPropagationPolicy label"],
            id="a namespace with a label",
        ),
    ],
)
def test_binding(tmp_path: Path, entry: str, defaults: str, text: str, want: list[str]) -> None:
    assert bound(tmp_path, entry, defaults, text) == want


@pytest.mark.parametrize(
    ("fleet", "text", "problems"),
    [
        pytest.param(
            "{}",
            an_object(metadata=f"labels: {{{CPP}: everwhere}}"),
            [
                "manifests/web.yaml:3:78: there is no ClusterPropagationPolicy everwhere (did you mean `everywhere`?)",
            ],
            id="label",
        ),
        pytest.param(
            "{}",
            an_object(metadata=f"labels: {{{PP}: everywhere}}"),
            ["manifests/web.yaml:3:70: there is no PropagationPolicy everywhere in namespace default"],
            id="label of a namespaced policy: no fallback",
        ),
        pytest.param(
            "{}",
            an_object(metadata=f"labels: {{{CPP}: ''}}"),
            [
                (
                    "manifests/web.yaml:3:78: the label that names a ClusterPropagationPolicy is empty"
                    " (known here: everywhere)"
                )
            ],
            id="empty label",
        ),
        pytest.param(
            "{manifests: [{path: manifests, clusterOverridePolicy: o}]}",
            an_object() + "---\n" + an_object(name="z"),
            ["kadm.yaml:4:61: there is no ClusterOverridePolicy o"],
            id="entry, said once",
        ),
        pytest.param(
            "{defaults: {clusterPropagationPolicy: nowhere}}",
            an_object("v1 Namespace"),
            ["kadm.yaml:4:45: there is no ClusterPropagationPolicy nowhere (known here: everywhere)"],
            id="default that nobody needs",
        ),
        pytest.param(
            "{defaults: {overridePolicy: o}}",
            an_object() + "---\n" + an_object(name="z", metadata="namespace: b"),
            [
                "kadm.yaml:4:35: there is no OverridePolicy o in namespace b",
                "kadm.yaml:4:35: there is no OverridePolicy o in namespace default",
            ],
            id="namespaced default, in each namespace",
        ),
    ],
)
def test_missing_policies(tmp_path: Path, fleet: str, text: str, problems: list[str]) -> None:
    assert problems_of(tmp_path, {"kadm.yaml": f"{FLEET}spec: {fleet}\n", "manifests/web.yaml": text}) == problems


def test_labels_of_namespaced_policies_have_no_effect_on_cluster_scope(tmp_path: Path) -> None:
    text = an_object("v1 PersistentVolume", metadata=f"labels: {{{PP}: x}}")
    (warning,) = warnings_of(tmp_path, {"manifests/web.yaml": text})
    assert warning == (
        f"manifests/web.yaml:3:70: label {PP} has no effect:"
        f" a PersistentVolume has no namespace to look for the policy in (use {CPP})"
    )
