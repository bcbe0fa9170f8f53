"""What the embedded API server and a real one are both asked. Nothing is recorded: their answers must be the same."""

from __future__ import annotations

from typing import Any

from tests.e2e.access import APPLY, JSON_PATCH, MERGE, STRATEGIC
from tests.real.talk import Step, Talk

Json = Any

MAPS = "/api/v1/namespaces/$NS/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/$NS/leases"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GADGETS = "/apis/$NS.example.com/v1/namespaces/$NS/gadgets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/$NS/deployments"
TEMPLATES = "/api/v1/namespaces/$NS/podtemplates"
RBAC = "rbac.authorization.k8s.io"
BINDINGS = f"/apis/{RBAC}/v1/namespaces/$NS/rolebindings"


def a_map(name: str = "a", *, data: Json = None, **metadata: Json) -> Json:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}
    return obj if data is None else {**obj, "data": data}


def a_gadget(name: str = "a", spec: Json = None, **more: Json) -> Json:
    return {
        "apiVersion": "$NS.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": name},
        "spec": spec or {"size": 1},
        **more,
    }


def a_template(name: str = "a", *, containers: Json = None, **spec: Json) -> Json:
    """A PodTemplate: a pod's lists and defaults, and no controller that comes in between."""
    main = {"name": "main", "image": "app:1", "env": [{"name": "A", "value": "1"}]}
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": name},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers or [main], **spec}},
    }


def a_deployment(**spec: Json) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
            **spec,
        },
    }


NOBODY = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "00000000-0000-4000-8000-000000000000"}
"""An owner that never was."""

GADGET_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.$NS.example.com"},
    "spec": {
        "group": "$NS.example.com",
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1},
                                    "replicas": {"type": "integer", "default": 1},
                                    "names": {
                                        "type": "array",
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                                        },
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name"],
                                    },
                                    "atomic": {"type": "array", "items": {"type": "string"}},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}

GADGET_STEPS = (
    Step(name="define", method="POST", path=CRDS, body=GADGET_CRD, moving=("managedFields",)),
    Step(name="served", path=GADGETS, until=200),
)
GADGET_LEAVES = (f"{CRDS}/gadgets.$NS.example.com",)


def apply(name: str, path: str, body: Json, manager: str, **query: str) -> Step:
    return Step(
        name=name, method="PATCH", path=path, body=body, media_type=APPLY, query={"fieldManager": manager, **query}
    )


def _made(name: str, group_version: str, plural: str, body: Json, *, namespaced: bool = True) -> Step:
    """A create that is not done: the answer is the object with all its defaults."""
    root = "/api" if group_version == "v1" else "/apis"
    below = "/namespaces/$NS" if namespaced else ""
    return Step(
        name=name,
        method="POST",
        path=f"{root}/{group_version}{below}/{plural}",
        body={"metadata": {"name": "a"}, **body},
        query={"dryRun": "All"},
    )


_POD = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "app"}]}}
_FULL_POD = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {
        "initContainers": [{"name": "first", "image": "app:1", "command": ["x"]}],
        "containers": [
            {
                "name": "main",
                "image": "app:latest",
                "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}],
                "env": [
                    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
                    {"name": "C", "value": ""},
                ],
                "envFrom": [{"secretRef": {"name": "s"}}],
                "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"cpu": "1000m"}},
                "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
                "readinessProbe": {"tcpSocket": {"port": "dns"}},
                "startupProbe": {"exec": {"command": ["ok"]}},
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                "securityContext": {"runAsNonRoot": True},
            }
        ],
        "volumes": [
            {"name": "v", "configMap": {"name": "c"}},
            {"name": "w", "secret": {"secretName": "s"}},
            {"name": "x", "emptyDir": {}},
            {"name": "y", "hostPath": {"path": "/y"}},
            {"name": "z", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        ],
        "serviceAccountName": "default",
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
        ],
    },
}
_SELECTOR = {"matchLabels": {"app": "a"}}
_ONE_PORT = [{"port": 80}]
_ONCE = {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app:1"}]}}

KINDS = Talk(
    id="kinds and their defaults",
    steps=(
        _made("ConfigMap", "v1", "configmaps", {"data": {"a": "b"}, "binaryData": {"c": "AAA="}}),
        _made("Secret", "v1", "secrets", {"stringData": {"a": "b"}, "data": {"c": "ZA=="}}),
        _made("ServiceAccount", "v1", "serviceaccounts", {}),
        _made("Service", "v1", "services", {"spec": {"ports": _ONE_PORT, "selector": {"app": "a"}}}),
        _made("NodePort", "v1", "services", {"spec": {"type": "NodePort", "ports": _ONE_PORT}}),
        _made("LoadBalancer", "v1", "services", {"spec": {"type": "LoadBalancer", "ports": _ONE_PORT}}),
        _made("headless", "v1", "services", {"spec": {"clusterIP": "None", "ports": _ONE_PORT}}),
        _made("ExternalName", "v1", "services", {"spec": {"type": "ExternalName", "externalName": "x.example"}}),
        _made(
            "PersistentVolumeClaim",
            "v1",
            "persistentvolumeclaims",
            {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1024Mi"}},
                    "storageClassName": "some",
                }
            },
        ),
        _made(
            "LimitRange", "v1", "limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1000m"}}]}}
        ),
        _made("ResourceQuota", "v1", "resourcequotas", {"spec": {"hard": {"pods": "10", "cpu": "1000m"}}}),
        _made("Deployment", "apps/v1", "deployments", {"spec": {"selector": _SELECTOR, "template": _POD}}),
        _made("long Deployment", "apps/v1", "deployments", {"spec": {"selector": _SELECTOR, "template": _FULL_POD}}),
        _made(
            "StatefulSet",
            "apps/v1",
            "statefulsets",
            {
                "spec": {
                    "serviceName": "a",
                    "selector": _SELECTOR,
                    "template": _POD,
                    "volumeClaimTemplates": [
                        {
                            "metadata": {"name": "d"},
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                            },
                        }
                    ],
                }
            },
        ),
        _made("DaemonSet", "apps/v1", "daemonsets", {"spec": {"selector": _SELECTOR, "template": _POD}}),
        _made("Job", "batch/v1", "jobs", {"spec": {"template": _ONCE}}),
        _made(
            "HorizontalPodAutoscaler",
            "autoscaling/v1",
            "horizontalpodautoscalers",
            {
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
                    "maxReplicas": 3,
                }
            },
        ),
        _made(
            "Ingress",
            "networking.k8s.io/v1",
            "ingresses",
            {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}},
        ),
        _made(
            "NetworkPolicy", "networking.k8s.io/v1", "networkpolicies", {"spec": {"podSelector": {}, "egress": [{}]}}
        ),
        _made("Role", f"{RBAC}/v1", "roles", {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        _made(
            "RoleBinding",
            f"{RBAC}/v1",
            "rolebindings",
            {"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "User", "name": "me"}]},
        ),
        _made("StorageClass", "storage.k8s.io/v1", "storageclasses", {"provisioner": "x.example/y"}, namespaced=False),
        _made("PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", {"value": 5}, namespaced=False),
    ),
)


TALKS = (
    KINDS,
    Talk(
        id="create, read, replace, delete",
        steps=(
            Step(name="create", method="POST", path=MAPS, body=a_map(data={"k": "v"}, labels={"app": "x"})),
            Step(name="again", method="POST", path=MAPS, body=a_map()),
            Step(name="read", path=f"{MAPS}/a"),
            Step(
                name="replace",
                method="PUT",
                path=f"{MAPS}/a",
                body=a_map(data={"k": "w"}, resourceVersion="${create.metadata.resourceVersion}"),
            ),
            Step(
                name="same",
                method="PUT",
                path=f"{MAPS}/a",
                body=a_map(data={"k": "w"}, resourceVersion="${replace.metadata.resourceVersion}"),
            ),
            Step(
                name="stale",
                method="PUT",
                path=f"{MAPS}/a",
                body=a_map(data={"k": "x"}, resourceVersion="${create.metadata.resourceVersion}"),
            ),
            Step(name="unfenced", method="PUT", path=f"{MAPS}/a", body=a_map(data={"k": "y"})),
            Step(name="another name", method="PUT", path=f"{MAPS}/a", body=a_map("b")),
            Step(name="replace nothing", method="PUT", path=f"{MAPS}/none", body=a_map("none")),
            Step(
                name="wrong uid",
                method="DELETE",
                path=f"{MAPS}/a",
                body={"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}},
            ),
            Step(
                name="delete",
                method="DELETE",
                path=f"{MAPS}/a",
                body={"preconditions": {"uid": "${create.metadata.uid}"}},
            ),
            Step(name="gone", path=f"{MAPS}/a"),
            Step(name="delete nothing", method="DELETE", path=f"{MAPS}/a"),
            Step(name="generated", method="POST", path=MAPS, body={"metadata": {"generateName": "made-"}}),
        ),
    ),
    Talk(
        id="patches",
        steps=(
            Step(name="create", method="POST", path=TEMPLATES, body=a_template()),
            Step(
                name="merge",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=MERGE,
                body={"metadata": {"labels": {"x": "1"}}, "template": {"spec": {"priority": 1}}},
            ),
            Step(
                name="merge with null",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=MERGE,
                body={"metadata": {"labels": None}},
            ),
            Step(
                name="json",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=JSON_PATCH,
                body=[
                    {"op": "test", "path": "/template/spec/priority", "value": 1},
                    {"op": "replace", "path": "/template/spec/containers/0/image", "value": "app:2"},
                    {
                        "op": "add",
                        "path": "/template/spec/containers/0/env/0",
                        "value": {"name": "B", "value": "2"},
                    },
                ],
            ),
            Step(
                name="json, test fails",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=JSON_PATCH,
                body=[{"op": "test", "path": "/template/spec/priority", "value": 2}],
            ),
            Step(
                name="json, nothing there",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=JSON_PATCH,
                body=[{"op": "remove", "path": "/spec/nothing"}],
            ),
            Step(
                name="strategic",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=STRATEGIC,
                body={
                    "template": {
                        "spec": {
                            "containers": [
                                {"name": "main", "env": [{"name": "A", "$patch": "delete"}]},
                                {"name": "side", "image": "side:1"},
                            ]
                        }
                    }
                },
            ),
            Step(
                name="stale",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type=MERGE,
                body={"metadata": {"resourceVersion": "1"}, "template": {"spec": {"priority": 2}}},
            ),
            Step(
                name="bind",
                method="POST",
                path=BINDINGS,
                body={"metadata": {"name": "a"}, "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "a"}},
            ),
            Step(
                name="immutable",
                method="PATCH",
                path=f"{BINDINGS}/a",
                media_type=MERGE,
                body={"roleRef": {"name": "b"}},
            ),
            Step(
                name="unknown media type",
                method="PATCH",
                path=f"{TEMPLATES}/a",
                media_type="application/x-patch",
                body={},
            ),
            Step(name="nothing there", method="PATCH", path=f"{MAPS}/none", media_type=MERGE, body={}),
        ),
    ),
    Talk(
        id="server-side apply",
        steps=(
            apply("creates", f"{MAPS}/a", a_map(data={"k": "v", "l": "v"}), "one"),
            apply("the same", f"{MAPS}/a", a_map(data={"k": "v", "l": "v"}), "one"),
            apply("removes", f"{MAPS}/a", a_map(data={"k": "v"}), "one"),
            apply("another adds", f"{MAPS}/a", a_map(data={"m": "v"}), "two"),
            apply("shares", f"{MAPS}/a", a_map(data={"k": "v", "m": "v"}), "two"),
            apply("conflict", f"{MAPS}/a", a_map(data={"k": "w"}), "two"),
            apply("conflict, dry run", f"{MAPS}/a", a_map(data={"k": "w"}), "two", dryRun="All"),
            apply("force, dry run", f"{MAPS}/a", a_map(data={"k": "w"}), "two", dryRun="All", force="true"),
            apply("force", f"{MAPS}/a", a_map(data={"k": "w"}), "two", force="true"),
            apply("lets go", f"{MAPS}/a", a_map(), "two"),
            Step(
                name="a person",
                method="PATCH",
                path=f"{MAPS}/a",
                media_type=MERGE,
                body={"data": {"n": "v"}},
                query={"fieldManager": "person"},
            ),
            apply("conflict with a person", f"{MAPS}/a", a_map(data={"n": "w"}), "one"),
            apply("no manager", f"{MAPS}/a", a_map(), ""),
            apply("another name", f"{MAPS}/a", a_map("b"), "one"),
            apply("stale", f"{MAPS}/a", a_map(resourceVersion="1"), "one"),
            apply("wrong uid", f"{MAPS}/a", a_map(uid="00000000-0000-4000-8000-000000000000"), "one"),
            apply("uid of nothing", f"{MAPS}/none", a_map("none", uid="00000000-0000-4000-8000-000000000000"), "one"),
            apply("managedFields", f"{MAPS}/a", a_map(managedFields=[{"manager": "x"}]), "one"),
            apply("unknown field", f"{MAPS}/a", {**a_map(), "nothing": 1}, "one"),
            apply("wrong type", f"{MAPS}/a", a_map(data={"k": 1}), "one"),
            apply("creates by dry run", f"{MAPS}/b", a_map("b", data={"k": "v"}), "one", dryRun="All"),
            Step(name="left nothing", path=f"{MAPS}/b"),
            apply("yaml", f"{MAPS}/c", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata: {k: v}\n", "one"),
            apply("missing namespace", "/api/v1/namespaces/$NS-no/configmaps/a", a_map(), "one"),
        ),
    ),
    Talk(
        id="server-side apply of lists",
        steps=(
            apply("creates", f"{TEMPLATES}/a", a_template(), "one"),
            apply("an item more", f"{TEMPLATES}/a", a_template(containers=[{"name": "side", "image": "s:1"}]), "two"),
            apply(
                "another value", f"{TEMPLATES}/a", a_template(containers=[{"name": "main", "image": "app:2"}]), "two"
            ),
            apply(
                "an item less",
                f"{TEMPLATES}/a",
                a_template(containers=[{"name": "main", "image": "app:1"}]),
                "one",
            ),
            apply(
                "an item twice",
                f"{TEMPLATES}/b",
                a_template(
                    "b",
                    containers=[
                        {
                            "name": "main",
                            "image": "a",
                            "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
                        }
                    ],
                ),
                "one",
            ),
            apply(
                "a port without protocol",
                f"{TEMPLATES}/c",
                a_template("c", containers=[{"name": "main", "image": "a", "ports": [{"containerPort": 80}]}]),
                "one",
            ),
        ),
    ),
    Talk(
        id="dry run",
        steps=(
            Step(name="create", method="POST", path=MAPS, body=a_map(data={"k": "v"}), query={"dryRun": "All"}),
            Step(name="nothing there", path=f"{MAPS}/a"),
            Step(name="really", method="POST", path=MAPS, body=a_map(data={"k": "v"})),
            Step(
                name="replace",
                method="PUT",
                path=f"{MAPS}/a",
                body=a_map(data={"k": "w"}),
                query={"dryRun": "All"},
            ),
            Step(name="delete", method="DELETE", path=f"{MAPS}/a", query={"dryRun": "All"}),
            Step(name="as it was", path=f"{MAPS}/a"),
            Step(name="no such dry run", method="POST", path=MAPS, body=a_map("b"), query={"dryRun": "Some"}),
        ),
    ),
    Talk(
        id="lists, selectors, pages",
        steps=(
            *(
                Step(name=f"make {one}", method="POST", path=MAPS, body=a_map(one, labels={"of": one, "all": "yes"}))
                for one in ("a", "b", "c")
            ),
            Step(name="all", path=MAPS, query={"labelSelector": "all=yes"}),
            Step(name="one", path=MAPS, query={"labelSelector": "of=b"}),
            Step(name="some", path=MAPS, query={"labelSelector": "of in (a,c),all,!none"}),
            Step(name="not", path=MAPS, query={"labelSelector": "all,of!=a"}),
            Step(name="by name", path=MAPS, query={"fieldSelector": "metadata.name=c"}),
            Step(name="bad label selector", path=MAPS, query={"labelSelector": "a=b=c"}),
            Step(name="bad field selector", path=MAPS, query={"fieldSelector": "data.k=v"}),
            Step(name="first page", path=MAPS, query={"labelSelector": "all", "limit": "2"}),
            Step(
                name="second page",
                path=MAPS,
                query={"labelSelector": "all", "limit": "2", "continue": "${first page.metadata.continue}"},
            ),
            Step(name="bad page", path=MAPS, query={"limit": "2", "continue": "nonsense"}),
            Step(name="version of nothing", path=MAPS, query={"resourceVersion": "nonsense"}),
            Step(name="delete all", method="DELETE", path=MAPS, query={"labelSelector": "all=yes"}),
            Step(name="none left", path=MAPS, query={"labelSelector": "all=yes"}),
        ),
    ),
    Talk(
        id="watches",
        steps=(
            Step(name="create", method="POST", path=MAPS, body=a_map(labels={"w": "1"})),
            Step(
                name="change",
                method="PATCH",
                path=f"{MAPS}/a",
                media_type=MERGE,
                body={"data": {"k": "v"}},
                query={"fieldManager": "m"},
            ),
            Step(
                name="leave",
                method="PATCH",
                path=f"{MAPS}/a",
                media_type=MERGE,
                body={"metadata": {"labels": {"w": None}}},
                query={"fieldManager": "m"},
            ),
            Step(name="delete", method="DELETE", path=f"{MAPS}/a"),
            Step(
                name="all events",
                path=MAPS,
                query={"watch": "1", "resourceVersion": "${create.metadata.resourceVersion}", "timeoutSeconds": "1"},
                watch=True,
            ),
            Step(
                name="of a selection",
                path=MAPS,
                query={
                    "watch": "1",
                    "resourceVersion": "${create.metadata.resourceVersion}",
                    "timeoutSeconds": "1",
                    "labelSelector": "w=1",
                },
                watch=True,
            ),
            Step(
                name="no such version",
                path=MAPS,
                query={"watch": "1", "resourceVersion": "x", "timeoutSeconds": "1"},
                watch=True,
            ),
        ),
    ),
    Talk(
        id="a watch from before all that is remembered",
        leaves=GADGET_LEAVES,
        steps=(
            *GADGET_STEPS,
            Step(name="create", method="POST", path=GADGETS, body=a_gadget()),
            Step(
                name="too old",
                path=GADGETS,
                query={"watch": "1", "resourceVersion": "1", "timeoutSeconds": "1"},
                watch=True,
            ),
        ),
    ),
    Talk(
        id="custom resources, their status and scale",
        leaves=GADGET_LEAVES,
        steps=(
            *GADGET_STEPS,
            Step(name="group", path="/apis/$NS.example.com", until=200),
            Step(name="kinds", path="/apis/$NS.example.com/v1", until=200),
            Step(name="create", method="POST", path=GADGETS, body=a_gadget(status={"phase": "made up"})),
            Step(name="invalid", method="POST", path=GADGETS, body=a_gadget("b", {"size": 0})),
            Step(name="incomplete", method="POST", path=GADGETS, body=a_gadget("b", {"replicas": 1})),
            Step(
                name="status",
                method="PATCH",
                path=f"{GADGETS}/a/status",
                media_type=MERGE,
                body={"status": {"replicas": 2}, "spec": {"size": 9}},
                query={"fieldManager": "controller"},
            ),
            Step(name="scale", path=f"{GADGETS}/a/scale"),
            Step(
                name="scaled",
                method="PATCH",
                path=f"{GADGETS}/a/scale",
                media_type=MERGE,
                body={"spec": {"replicas": 5}},
                query={"fieldManager": "scaler"},
            ),
            Step(name="after", path=f"{GADGETS}/a"),
            Step(name="strategic", method="PATCH", path=f"{GADGETS}/a", media_type=STRATEGIC, body={}),
            Step(name="unfenced", method="PUT", path=f"{GADGETS}/a", body=a_gadget()),
            apply("applies", f"{GADGETS}/c", a_gadget("c", {"size": 1, "names": [{"name": "x", "value": "1"}]}), "one"),
            apply(
                "applies too",
                f"{GADGETS}/c",
                a_gadget("c", {"size": 1, "names": [{"name": "y", "value": "2"}], "atomic": ["p", "q"]}),
                "two",
            ),
            apply("removes", f"{GADGETS}/c", a_gadget("c", {"size": 1}), "one"),
            apply("conflict", f"{GADGETS}/c", a_gadget("c", {"size": 1, "atomic": ["p"]}), "one"),
            Step(name="list", path=GADGETS),
            Step(name="no such subresource", path=f"{MAPS}/a/scale"),
            Step(
                name="status by the main path",
                method="PATCH",
                path=f"{GADGETS}/a",
                media_type=MERGE,
                body={"status": {"replicas": 9}},
                query={"fieldManager": "nobody"},
            ),
        ),
    ),
    Talk(
        id="scale of a Deployment",
        steps=(
            Step(name="create", method="POST", path=DEPLOYMENTS, body=a_deployment()),
            Step(name="read", path=f"{DEPLOYMENTS}/a/scale", moving=("resourceVersion",)),
            Step(
                name="patch",
                method="PATCH",
                path=f"{DEPLOYMENTS}/a/scale",
                media_type=MERGE,
                body={"spec": {"replicas": -1}},
            ),
        ),
    ),
    Talk(
        id="finalizers",
        steps=(
            Step(name="create", method="POST", path=MAPS, body=a_map(finalizers=["example.com/hold"])),
            Step(name="delete", method="DELETE", path=f"{MAPS}/a"),
            Step(name="held", path=f"{MAPS}/a"),
            Step(
                name="add one",
                method="PATCH",
                path=f"{MAPS}/a",
                media_type=MERGE,
                body={"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}},
            ),
            apply("apply while it goes", f"{MAPS}/a", a_map(data={"k": "v"}), "one"),
            Step(
                name="release",
                method="PATCH",
                path=f"{MAPS}/a",
                media_type=MERGE,
                body={"metadata": {"finalizers": None}},
            ),
            Step(name="gone", path=f"{MAPS}/a"),
            Step(name="bad finalizer", method="POST", path=MAPS, body=a_map("b", finalizers=["nonsense"])),
        ),
    ),
    Talk(
        id="graceful deletion",
        steps=(
            Step(
                name="create",
                method="POST",
                path="/api/v1/namespaces/$NS/pods",
                body={
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": "a"},
                    "spec": {
                        "nodeName": "nowhere",
                        "automountServiceAccountToken": False,
                        "containers": [{"name": "main", "image": "app:1"}],
                    },
                },
            ),
            Step(
                name="delete",
                method="DELETE",
                path="/api/v1/namespaces/$NS/pods/a",
                body={"gracePeriodSeconds": 600},
            ),
            Step(name="still there", path="/api/v1/namespaces/$NS/pods/a"),
            Step(
                name="at once",
                method="DELETE",
                path="/api/v1/namespaces/$NS/pods/a",
                body={"gracePeriodSeconds": 0},
            ),
            Step(name="gone", path="/api/v1/namespaces/$NS/pods/a"),
        ),
    ),
    *(
        Talk(
            id=f"owners, {policy}",
            steps=(
                Step(name="owner", method="POST", path=MAPS, body=a_map("owner")),
                Step(
                    name="owned",
                    method="POST",
                    path=MAPS,
                    body=a_map(
                        "owned",
                        ownerReferences=[
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "owner",
                                "uid": "${owner.metadata.uid}",
                                "blockOwnerDeletion": True,
                            }
                        ],
                    ),
                ),
                # The collector takes what it sees in order: once this one is gone, it knows the owned one too.
                Step(name="an orphan", method="POST", path=MAPS, body=a_map("orphan", ownerReferences=[NOBODY])),
                Step(name="the orphan goes", path=f"{MAPS}/orphan", until=404),
                Step(name="delete", method="DELETE", path=f"{MAPS}/owner", body={"propagationPolicy": policy}),
                Step(name="owner is gone", path=f"{MAPS}/owner", until=404),
                Step(name="the owned", path=f"{MAPS}/owned", until=200 if policy == "Orphan" else 404),
            ),
        )
        for policy in ("Background", "Foreground", "Orphan")
    ),
    Talk(
        id="leases",
        steps=(
            Step(
                name="create",
                method="POST",
                path=LEASES,
                body={
                    "metadata": {"name": "a"},
                    "spec": {
                        "holderIdentity": "me",
                        "leaseDurationSeconds": 15,
                        "renewTime": "2026-01-01T00:00:00.000000Z",
                    },
                },
            ),
            Step(name="again", method="POST", path=LEASES, body={"metadata": {"name": "a"}, "spec": {}}),
            Step(
                name="renew",
                method="PUT",
                path=f"{LEASES}/a",
                body={
                    "metadata": {"name": "a", "resourceVersion": "${create.metadata.resourceVersion}"},
                    "spec": {"holderIdentity": "me", "renewTime": "2026-01-01T00:00:10.000000Z"},
                },
            ),
            Step(
                name="stale",
                method="PUT",
                path=f"{LEASES}/a",
                body={
                    "metadata": {"name": "a", "resourceVersion": "${create.metadata.resourceVersion}"},
                    "spec": {"holderIdentity": "you"},
                },
            ),
            Step(
                name="unfenced",
                method="PUT",
                path=f"{LEASES}/a",
                body={"metadata": {"name": "a"}, "spec": {"holderIdentity": "you"}},
            ),
            Step(
                name="no microseconds",
                method="PUT",
                path=f"{LEASES}/a",
                body={
                    "metadata": {"name": "a", "resourceVersion": "${renew.metadata.resourceVersion}"},
                    "spec": {"renewTime": "2026-01-01T00:00:10Z"},
                },
            ),
            Step(
                name="no time at all",
                method="POST",
                path=LEASES,
                body={"metadata": {"name": "b"}, "spec": {"leaseDurationSeconds": 0}},
            ),
        ),
    ),
    Talk(
        id="errors",
        steps=(
            Step(name="no such object", path=f"{MAPS}/none"),
            Step(name="no such namespace", path="/api/v1/namespaces/$NS-no/configmaps/none"),
            Step(name="no such kind", path="/api/v1/namespaces/$NS/nothings"),
            Step(name="no such group", path="/apis/nothing.example/v1/things"),
            Step(name="no such path", path="/nothing"),
            Step(name="create in no namespace", method="POST", path="/api/v1/configmaps", body=a_map()),
            Step(
                name="create in a missing namespace",
                method="POST",
                path="/api/v1/namespaces/$NS-no/configmaps",
                body=a_map(),
            ),
            Step(
                name="another namespace",
                method="POST",
                path=MAPS,
                body=a_map(namespace="default"),
            ),
            Step(name="bad name", method="POST", path=MAPS, body=a_map("Not_A_Name")),
            Step(name="no name", method="POST", path=MAPS, body={"metadata": {}}),
            Step(name="bad label", method="POST", path=MAPS, body=a_map(labels={"a b": "c d"})),
            Step(name="bad key", method="POST", path=MAPS, body=a_map(data={"a/b": "c"})),
            Step(name="with a version", method="POST", path=MAPS, body=a_map(resourceVersion="1")),
            Step(
                name="another kind",
                method="POST",
                path=MAPS,
                body={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}},
            ),
            Step(name="not JSON", method="POST", path=MAPS, body="{"),
            Step(name="unknown media type", method="POST", path=MAPS, body="x", media_type="text/nothing"),
            Step(name="not acceptable", path=f"{MAPS}/none", headers={"Accept": "text/nothing"}),
            Step(name="delete all of a kind that cannot", method="DELETE", path="/api/v1/namespaces"),
            Step(name="who", path=MAPS, headers={"Authorization": "Bearer nonsense"}),
            Step(
                name="taken object",
                method="POST",
                path="/api/v1/namespaces",
                body={"metadata": {"name": "$NS"}},
            ),
            Step(
                name="invalid Deployment",
                method="POST",
                path=DEPLOYMENTS,
                body=a_deployment(replicas=-1, selector={"matchLabels": {"app": "other"}}),
            ),
        ),
    ),
)
