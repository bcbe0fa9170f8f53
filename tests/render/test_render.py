"""The rendering stage: who gets what, in which form, and why."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.errors import Location, Problem, RepoError
from kadm.model.desired import Provenance
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.policy import PolicyKey
from tests.render.builders import (
    ALONE,
    OVERRIDES,
    POLICY,
    USES_CONFIG,
    a_config,
    a_deployment,
    a_manifest,
    a_repo,
    an_object,
    an_override_policy,
    annotated,
    decided,
    names,
    one,
    rendered,
    where,
)

WEB = ObjectKey("apps", "Deployment", "shop", "web")


def test_replicas_come_from_the_scheduler_and_overrides_after_them() -> None:
    policy = an_override_policy(
        {
            "targetClusters": {"clusters": ["eu"]},
            "overriders": {"image": [{"operations": [{"imageComponent": "Registry", "value": "eu.io"}]}]},
        }
    )
    web = a_manifest(a_deployment(), overrides=[OVERRIDES])
    desired = rendered(a_repo(web, overrides=policy), decided(web, {"asia": 1, "eu": 2, "us": 1}))
    eu, us = one(desired, "eu", "Deployment"), one(desired, "us", "Deployment")
    assert (eu.object["spec"]["replicas"], us.object["spec"]["replicas"]) == (2, 1)
    image = ("spec", "template", "spec", "containers", 0, "image")
    place = Location("policies/cop.yaml", 1)
    assert eu.provenance == (
        Provenance(path=("spec", "replicas"), before=6, after=2),
        Provenance(path=image, before="nginx:1", after="eu.io/nginx:1", policy=OVERRIDES, rule=0, location=place),
    )
    assert eu.because == "placed by ClusterPropagationPolicy everywhere, named by its label"
    assert us.object["spec"]["template"] is web.object["spec"]["template"], "what is not overridden is shared"
    assert us is one(desired, "asia", "Deployment"), "members with one form share it"
    assert desired.members["eu"].replicas == {WEB: 2}
    assert eu.digest != us.digest


def test_a_failing_override_freezes_the_object_where_it_fails() -> None:
    rule = {"targetClusters": {"clusters": ["eu", "us"]}, "overriders": {"jsonpatch": [{"path": "/x/y", "value": 1}]}}
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG), overrides=[OVERRIDES])
    config = a_manifest(a_config(), policy=None)
    desired = rendered(a_repo(web, config, overrides=an_override_policy(rule)), decided(web, ["asia", "eu", "us"]))
    assert names(desired) == {
        "asia": ["ConfigMap web", "Namespace shop", "Deployment web"],
        "eu": ["(ConfigMap web)", "(Namespace shop)", "(Deployment web)"],
        "us": ["(ConfigMap web)", "(Namespace shop)", "(Deployment web)"],
    }
    assert desired.problems == (
        Problem(
            what="rule 0 of ClusterOverridePolicy cop cannot be applied",
            where=Location("policies/cop.yaml", 1),
            object=str(WEB),
            why="replace /x/y: there is no 'x' on the way",
            hint="until this is mended, Deployment.apps shop/web stays as it is in eu, us",
        ),
    )


def test_a_frozen_decision_freezes_what_only_it_needs() -> None:
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG))
    api = a_manifest(a_deployment("api", pod_spec=USES_CONFIG))
    config = a_manifest(a_config(), policy=None)
    desired = rendered(
        a_repo(web, api, config),
        decided(web, {"eu": 3, "us": 3}, "frozen", "the webhook does not answer"),
        decided(api, {"us": 6}),
    )
    assert names(desired) == {
        "eu": ["(ConfigMap web)", "(Namespace shop)", "(Deployment web)"],
        "us": ["ConfigMap web", "Namespace shop", "Deployment api", "(Deployment web)"],
    }
    assert desired.members["eu"].frozen[WEB] == "the webhook does not answer"
    assert desired.members["eu"].replicas == {WEB: 3}


def test_everything_is_frozen_in_a_member_that_could_not_be_read() -> None:
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG))
    config = a_manifest(a_config(), policy=None)
    desired = rendered(a_repo(web, config), decided(web, ["eu", "us"]), unread=["eu"])
    assert desired.members["eu"].objects == ()
    assert set(desired.members["eu"].frozen.values()) == {"the member could not be read: no answer"}
    assert names(desired)["us"] == ["ConfigMap web", "Namespace shop", "Deployment web"]


def test_a_member_that_left_the_fleet_gets_nothing() -> None:
    web = a_manifest(a_deployment())
    assert names(rendered(a_repo(web), decided(web, ["eu", "gone"]))) == {"eu": ["Namespace shop", "Deployment web"]}


@pytest.mark.parametrize(
    ("leader", "follower", "want"),
    [
        pytest.param(a_deployment(pod_spec=USES_CONFIG), a_config(), True, id="follows what the pod spec names"),
        pytest.param(a_deployment(), a_config(), False, id="does not follow what does not name it"),
        pytest.param(
            a_deployment(pod_spec=USES_CONFIG), a_config(**annotated(disable_following="true")), False, id="opted out"
        ),
        pytest.param(
            a_deployment(pod_spec=USES_CONFIG),
            a_config(**annotated(no_federated_resource="1")),
            False,
            id="kept out of members",
        ),
        pytest.param(
            a_deployment(pod_spec={"volumes": [{"name": "v", "configMap": {"name": "web", "optional": True}}]}),
            a_config(),
            True,
            id="an optional reference counts too",
        ),
        pytest.param(
            a_deployment(**annotated(followers='[{"kind":"Service","name":"web"}]')),
            an_object("Service", "web", spec={"ports": []}),
            True,
            id="named by annotation",
        ),
        pytest.param(a_deployment(), an_object("Service", "web", spec={}), False, id="a Service follows only if named"),
        pytest.param(
            a_deployment(),
            an_object(
                "HorizontalPodAutoscaler",
                "web",
                "autoscaling/v2",
                spec={"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
            ),
            True,
            id="an autoscaler follows its target",
        ),
        pytest.param(
            a_deployment(),
            an_object("PodDisruptionBudget", "web", "policy/v1", spec={"selector": {"matchLabels": {"app": "web"}}}),
            True,
            id="a budget follows whose pods it selects",
        ),
        pytest.param(
            a_deployment(),
            an_object("PodDisruptionBudget", "web", "policy/v1", spec={"selector": {"matchLabels": {"app": "api"}}}),
            False,
            id="a budget of other pods",
        ),
        pytest.param(
            a_deployment(pod_spec=USES_CONFIG) | {"kind": "ReplicaSet"},
            a_config(),
            False,
            id="a ReplicaSet leads nobody",
        ),
    ],
)
def test_followers(leader: JsonObject, follower: JsonObject, want: bool) -> None:
    web, other = a_manifest(leader), a_manifest(follower, policy=None)
    desired = rendered(a_repo(web, other), decided(web, ["eu"]))
    assert (other.key in {found.key for found in desired.members["eu"].objects}) == want
    assert (other.key in desired.unplaced) != want


def test_a_policy_can_switch_followers_off() -> None:
    web, config = a_manifest(a_deployment(pod_spec=USES_CONFIG), ALONE), a_manifest(a_config(), policy=None)
    desired = rendered(a_repo(web, config), decided(web, ["eu"]))
    assert names(desired) == {"eu": ["Namespace shop", "Deployment web"]}


def test_a_follower_goes_where_its_leaders_go_and_where_its_own_policy_says() -> None:
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG))
    api = a_manifest(a_deployment("api", pod_spec=USES_CONFIG))
    config = a_manifest(a_config())
    desired = rendered(
        a_repo(web, api, config), decided(web, ["eu"]), decided(api, ["eu", "us"]), decided(config, ["asia"])
    )
    assert {name: one(desired, name, "ConfigMap").because for name in ("asia", "eu", "us")} == {
        "asia": "placed by ClusterPropagationPolicy everywhere, named by its label",
        "eu": "follows Deployment.apps shop/api and 1 more",
        "us": "follows Deployment.apps shop/api",
    }


def test_followers_are_inferred_from_what_each_member_gets() -> None:
    rule = {
        "targetClusters": {"clusters": ["us"]},
        "overriders": {"jsonpatch": [{"path": "/spec/template/spec/volumes/0/configMap/name", "value": "web-us"}]},
    }
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG), overrides=[OVERRIDES])
    configs = [a_manifest(a_config(name), policy=None) for name in ("web", "web-us")]
    desired = rendered(a_repo(web, *configs, overrides=an_override_policy(rule)), decided(web, ["eu", "us"]))
    assert names(desired) == {
        "eu": ["ConfigMap web", "Namespace shop", "Deployment web"],
        "us": ["ConfigMap web-us", "Namespace shop", "Deployment web"],
    }


def test_a_missing_reference_is_a_warning_that_names_its_path() -> None:
    pod_spec = {
        "serviceAccountName": "default",
        "imagePullSecrets": [{"name": "pull"}],
        "volumes": [
            {"name": "a", "configMap": {"name": "kube-root-ca.crt"}},
            {"name": "b", "secret": {"secretName": "maybe", "optional": True}},
            {"name": "c", "secret": {"secretName": "sealed"}},
        ],
    }
    web = a_manifest(a_deployment(pod_spec=pod_spec))
    sealed = a_manifest(an_object("SealedSecret", "sealed", "bitnami.com/v1alpha1"))
    desired = rendered(a_repo(web, sealed), decided(web, ["eu", "us"]), decided(sealed, ["eu", "us"]))
    path = ("spec", "template", "spec", "imagePullSecrets", 0, "name")
    assert desired.problems == (
        Problem(
            what="no manifest has Secret shop/pull, which spec.template.spec.imagePullSecrets[0].name names",
            severity="warning",
            where=where("web", path),
            object=str(WEB),
            hint="it must be in every member already, or come by another way",
        ),
    )


def test_followers_that_cannot_be_read_stop_everything() -> None:
    web = a_manifest(a_deployment(**annotated(followers="[{")))
    with pytest.raises(RepoError, match="annotation followers is no list of followers"):
        rendered(a_repo(web), decided(web, ["eu"]))


def test_a_follower_of_another_kind_is_a_warning() -> None:
    web = a_manifest(a_deployment(**annotated(followers='[{"kind":"Job","name":"x","group":"batch"}]')))
    (problem,) = rendered(a_repo(web), decided(web, ["eu"])).problems
    assert (problem.severity, problem.what) == (
        "warning",
        "annotation followers names Job.batch shop/x, but objects of this kind follow nobody",
    )


NAMESPACE = an_object("Namespace", "shop", namespace="", metadata={"labels": {"team": "a"}})


@pytest.mark.parametrize(
    ("namespace", "via", "members", "want"),
    [
        pytest.param(None, "", (), {"eu": "needed by ConfigMap shop/web and 1 more"}, id="made where needed"),
        pytest.param(
            NAMESPACE, "", (), {"eu": "needed by ConfigMap shop/web and 1 more"}, id="a manifest without policy"
        ),
        pytest.param(
            NAMESPACE,
            "label",
            ("us",),
            {
                "eu": "needed by ConfigMap shop/web and 1 more",
                "us": "placed by ClusterPropagationPolicy everywhere, named by its label",
            },
            id="a label of its own adds to it",
        ),
        pytest.param(
            NAMESPACE,
            "default",
            ("asia", "us"),
            {"eu": "needed by ConfigMap shop/web and 1 more"},
            id="the fleet's default does not spread it",
        ),
    ],
)
def test_namespaces(namespace: JsonObject | None, via: str, members: tuple[str, ...], want: dict[str, str]) -> None:
    web, config = a_manifest(a_deployment(pod_spec=USES_CONFIG)), a_manifest(a_config(), policy=None)
    made = [] if namespace is None else [a_manifest(namespace, POLICY if via else None, via=via)]
    decisions = [decided(web, ["eu"]), *(decided(manifest, members) for manifest in made)]
    desired = rendered(a_repo(web, config, *made), *decisions)
    found = {
        name: wanted
        for name, member in desired.members.items()
        for wanted in member.objects
        if wanted.key.kind == "Namespace"
    }
    assert {name: wanted.because for name, wanted in found.items()} == want
    assert all((wanted.location is None) == (namespace is None) for wanted in found.values())


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-flannel", "kadm-system"])
def test_namespaces_that_are_there_are_not_made(name: str) -> None:
    config = a_manifest(an_object("ConfigMap", "web", namespace=name))
    assert names(rendered(a_repo(config), decided(config, ["eu"]))) == {"eu": ["ConfigMap web"]}


def test_an_empty_namespace_obeys_its_policy_whatever_bound_it() -> None:
    namespace = a_manifest(NAMESPACE, via="default")
    assert names(rendered(a_repo(namespace), decided(namespace, ["us"]))) == {"us": ["Namespace shop"]}


def test_what_goes_nowhere_says_why() -> None:
    manifests = [
        a_manifest(a_config("free"), policy=None),
        a_manifest(a_config("unfit")),
        a_manifest(a_config("kept", **annotated(no_federated_resource="yes")), policy=None),
        a_manifest(NAMESPACE, policy=None),
        a_manifest(an_object("Namespace", "kube-system", namespace=""), policy=None),
    ]
    decision = decided(manifests[1], [], "unplaced", "no member fits", "3 of 3 refuse")
    assert {key.name: reason for key, reason in rendered(a_repo(*manifests), decision).unplaced.items()} == {
        "free": "it has no policy, and follows nobody that is placed",
        "unfit": "no member fits; 3 of 3 refuse",
        "kept": "its annotation no-federated-resource keeps it out of members",
        "shop": "nothing in it goes anywhere",
        "kube-system": "kadm leaves this namespace alone",
    }


@pytest.mark.parametrize(
    ("recorded", "there"),
    [
        pytest.param({}, {}, id="it is in no member: its first way is barred, and its followers'"),
        pytest.param(
            {"eu": [WEB]},
            {name: ["ConfigMap web", "Namespace shop", "Deployment web"] for name in ("eu", "us")},
            id="it is in one already",
        ),
    ],
)
def test_a_dry_run(recorded: dict[str, list[ObjectKey]], there: dict[str, list[str]]) -> None:
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG, **annotated(dry_run="true")))
    desired = rendered(a_repo(web, a_manifest(a_config(), policy=None)), decided(web, ["eu", "us"]), recorded=recorded)
    assert names(desired) == there


def test_an_object_kept_out_of_members_stays_where_it_is() -> None:
    web = a_manifest(a_deployment(pod_spec=USES_CONFIG, **annotated(no_federated_resource="yes")))
    config = a_manifest(a_config(), policy=None)
    desired = rendered(a_repo(web, config), decided(web, ["eu", "us"]), recorded={"eu": [WEB, config.key]})
    assert names(desired) == {"eu": ["(ConfigMap web)", "(Namespace shop)", "(Deployment web)"]}


def test_a_job_is_divided_with_its_completions() -> None:
    job = a_manifest(an_object("Job", "job", "batch/v1", spec={"parallelism": 5, "completions": 11, "template": {}}))
    desired = rendered(a_repo(job), decided(job, {"asia": 0, "eu": 3, "us": 2}))
    assert {name: one(desired, name, "Job").object["spec"] for name in ("asia", "eu", "us")} == {
        "asia": {"parallelism": 0, "completions": 0, "template": {}},
        "eu": {"parallelism": 3, "completions": 7, "template": {}},
        "us": {"parallelism": 2, "completions": 4, "template": {}},
    }


def test_an_autoscaler_is_divided_with_its_workload() -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 10}
    web = a_manifest(a_deployment())
    scaler = a_manifest(an_object("HorizontalPodAutoscaler", "web", "autoscaling/v2", spec=spec), policy=None)
    desired = rendered(a_repo(web, scaler), decided(web, {"asia": 0, "eu": 5, "us": 1}))
    found = {
        name: (wanted.object["spec"]["minReplicas"], wanted.object["spec"]["maxReplicas"])
        for name, member in desired.members.items()
        for wanted in member.objects
        if wanted.key == scaler.key
    }
    assert found == {"eu": (2, 8), "us": (1, 2)}


@pytest.mark.parametrize(
    ("overriders", "image", "want"),
    [
        pytest.param(
            {"jsonpatch": [{"path": "/spec/replicas", "value": 9}]},
            "nginx:1",
            "rule 0 of ClusterOverridePolicy cop overrides spec.replicas",
            id="replicas that the scheduler divides",
        ),
        pytest.param(
            {"image": [{"operations": [{"imageComponent": "Tag", "value": "2"}]}]},
            f"nginx:1@sha256:{'a' * 64}",
            "rule 0 of ClusterOverridePolicy cop leaves the digest of spec.template.spec.containers[0].image as it was",
            id="a tag beside a digest",
        ),
        pytest.param(
            {"jsonpatch": [{"path": "/status", "operator": "add", "value": {"replicas": 9}}]},
            "nginx:1",
            "rule 0 of ClusterOverridePolicy cop overrides status, and nothing is sent of it",
            id="status",
        ),
        pytest.param(
            {"jsonpatch": [{"path": "/metadata/uid", "operator": "add", "value": "u"}]},
            "nginx:1",
            "rule 0 of ClusterOverridePolicy cop overrides metadata.uid, and nothing is sent of it",
            id="metadata that the server writes",
        ),
    ],
)
def test_doubtful_overrides_are_warnings(overriders: dict[str, Any], image: str, want: str) -> None:
    web = a_manifest(a_deployment(pod_spec={"containers": [{"name": "c", "image": image}]}), overrides=[OVERRIDES])
    policy = an_override_policy({"overriders": overriders})
    (problem,) = rendered(a_repo(web, overrides=policy), decided(web, {"eu": 3, "us": 2})).problems
    assert (problem.severity, problem.what) == ("warning", want)


@pytest.mark.parametrize(
    "overriders",
    [
        pytest.param([{"path": "/status", "operator": "add", "value": {"replicas": 9}}], id="status"),
        pytest.param([{"path": "/metadata/uid", "operator": "add", "value": "u"}], id="uid"),
    ],
)
def test_overrides_of_what_servers_own_reach_no_member(overriders: list[dict[str, Any]]) -> None:
    web = a_manifest(a_deployment(), overrides=[OVERRIDES])
    plain = a_manifest(a_deployment())
    policy = an_override_policy({"overriders": {"jsonpatch": overriders}})
    placed = {"eu": 3, "us": 2}
    found = rendered(a_repo(web, overrides=policy), decided(web, placed))
    want = rendered(a_repo(plain), decided(plain, placed))
    assert one(found, "eu", "Deployment").object == one(want, "eu", "Deployment").object


def test_an_override_may_set_finalizers() -> None:
    web = a_manifest(a_deployment(), overrides=[OVERRIDES])
    patch = {"path": "/metadata/finalizers", "operator": "add", "value": ["example.org/keep"]}
    policy = an_override_policy({"overriders": {"jsonpatch": [patch]}})
    found = rendered(a_repo(web, overrides=policy), decided(web, {"eu": 3, "us": 2}))
    assert one(found, "eu", "Deployment").object["metadata"]["finalizers"] == ["example.org/keep"]


def test_values_of_secrets_are_not_in_provenance() -> None:
    secret = a_manifest(an_object("Secret", "s", stringData={"p": "old"}), overrides=[OVERRIDES])
    policy = an_override_policy({"overriders": {"jsonpatch": [{"path": "/data/p", "value": "bmV3"}]}})
    found = one(rendered(a_repo(secret, overrides=policy), decided(secret, ["eu"])), "eu", "Secret")
    assert found.object["data"] == {"p": "bmV3"}
    assert [(entry.before, entry.after) for entry in found.provenance] == [("(secret)", "(secret)")]


def test_an_unknown_override_policy_freezes() -> None:
    web = a_manifest(a_deployment(), overrides=[PolicyKey("OverridePolicy", "shop", "gone")])
    desired = rendered(a_repo(web), decided(web, ["eu"]))
    assert names(desired) == {"eu": ["(Namespace shop)", "(Deployment web)"]}
    assert [problem.what for problem in desired.problems] == ["OverridePolicy shop/gone does not exist"]


@pytest.mark.parametrize(
    ("kind", "namespace", "want"),
    [
        ("Local", "shop", []),
        ("Global", "", []),
        ("Local", "", ["Local is namespaced in the members"]),
        ("Global", "shop", ["Global is cluster-scoped in the members"]),
        ("Unheard", "", []),
    ],
)
def test_the_scope_of_a_kind_that_only_members_know(kind: str, namespace: str, want: list[str]) -> None:
    manifest = a_manifest(an_object(kind, "x", "e.io/v1", namespace), known=False)
    desired = rendered(a_repo(manifest), decided(manifest, ["eu"]))
    assert [problem.what for problem in desired.problems] == want
    assert (manifest.key in desired.members["eu"].frozen) == bool(want)


def test_the_manifest_stays_as_it_is() -> None:
    obj = a_deployment(pod_spec={"containers": [{"name": "c", "image": "n", "ports": [{"containerPort": 1}]}]})
    before = a_deployment(pod_spec={"containers": [{"name": "c", "image": "n", "ports": [{"containerPort": 1}]}]})
    policy = an_override_policy({"overriders": {"image": [{"operations": [{"imageComponent": "Tag", "value": "2"}]}]}})
    web = a_manifest(obj, overrides=[OVERRIDES])
    rendered(a_repo(web, overrides=policy), decided(web, {"eu": 3, "us": 2}))
    assert obj == before
