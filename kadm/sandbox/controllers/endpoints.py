"""EndpointSlices and Endpoints of Services with a selector, from the pods that it selects.

Source: pkg/controller/endpoint and staging/src/k8s.io/endpointslice of Kubernetes 1.36. A Service has one slice here,
however many pods it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, controller_reference, labels_of, owned_by
from kadm.sandbox.controllers.pods import finished, ready

SLICES = "endpointslices.discovery.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
SLICE_MANAGER = ("endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io")
ENDPOINTS_MANAGER = ("endpoints.kubernetes.io/managed-by", "endpoint-controller")
HEADLESS = "service.kubernetes.io/headless"


def selected(service: Object, pods: Sequence[Object]) -> list[Object]:
    """The pods with an address that the Service selects, in name order."""
    wanted = service["spec"]["selector"]
    found = [
        pod
        for pod in pods
        if wanted.items() <= labels_of(pod).items() and pod.get("status", {}).get("podIP") and not finished(pod)
    ]
    return sorted(found, key=lambda pod: pod["metadata"]["name"])


def target_port(port: Object, pod: Object | None) -> int | None:
    """The number of the port behind a Service's port; a name is looked up in the pod's containers."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    for container in (pod or {"spec": {}})["spec"].get("containers") or ():
        for named in container.get("ports") or ():
            if named.get("name") == target and named.get("protocol", "TCP") == port.get("protocol", "TCP"):
                number: int = named["containerPort"]
                return number
    return None


def _ports(service: Object, pod: Object | None) -> list[Object]:
    found: list[Object] = []
    for port in service["spec"].get("ports") or ():
        if (number := target_port(port, pod)) is not None:
            entry = {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
            if port.get("appProtocol"):
                entry["appProtocol"] = port["appProtocol"]
            found.append(entry)
    return found


def slice_of(service: Object, pods: Sequence[Object]) -> Object:
    """The EndpointSlice that the Service should have."""
    metadata, spec = service["metadata"], service["spec"]
    labels = {**labels_of(service), SERVICE_NAME: metadata["name"], SLICE_MANAGER[0]: SLICE_MANAGER[1]}
    if spec.get("clusterIP") == "None":
        labels[HEADLESS] = ""
    published = bool(spec.get("publishNotReadyAddresses"))
    endpoints: list[Object] = []
    for pod in pods:
        serving, terminating = ready(pod), being_deleted(pod)
        entry: Object = {
            "addresses": [pod["status"]["podIP"]],
            "conditions": {
                "ready": published or (serving and not terminating),
                "serving": serving,
                "terminating": terminating,
            },
            "nodeName": pod["spec"].get("nodeName"),
            "targetRef": _reference(pod),
        }
        if pod["spec"].get("hostname") and pod["spec"].get("subdomain") == metadata["name"]:
            entry["hostname"] = pod["spec"]["hostname"]
        endpoints.append(entry)
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": labels,
            "ownerReferences": [controller_reference(service)],
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": _ports(service, pods[0] if pods else None),
    }


def endpoints_of(service: Object, pods: Sequence[Object]) -> Object:
    """The Endpoints object that the Service should have."""
    metadata = service["metadata"]
    labels = {**labels_of(service), ENDPOINTS_MANAGER[0]: ENDPOINTS_MANAGER[1]}
    if service["spec"].get("clusterIP") == "None":
        labels[HEADLESS] = ""
    published = bool(service["spec"].get("publishNotReadyAddresses"))
    staying = [pod for pod in pods if not being_deleted(pod)]
    good = [pod for pod in staying if published or ready(pod)]
    bad = [pod for pod in staying if not published and not ready(pod)]
    subset: Object = {"ports": _ports(service, staying[0] if staying else None)}
    for field, which in (("addresses", good), ("notReadyAddresses", bad)):
        if which:
            subset[field] = [
                {"ip": pod["status"]["podIP"], "nodeName": pod["spec"].get("nodeName"), "targetRef": _reference(pod)}
                for pod in which
            ]
    made: Object = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"], "labels": labels},
    }
    return {**made, "subsets": [subset]} if staying else made


@dataclass(frozen=True)
class ServiceEndpoints:
    """The endpoints and EndpointSlice controllers."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource in ("services", "endpoints"):
            yield metadata["namespace"], metadata["name"]
        elif event.resource == SLICES and (name := labels_of(event.object).get(SERVICE_NAME)):
            yield metadata["namespace"], name
        elif event.resource == "pods":
            states = [labels_of(state) for state in (event.object, event.previous) if state]
            for service in self.api.list("services", metadata["namespace"]):
                selector = service["spec"].get("selector")
                if selector and any(selector.items() <= labels.items() for labels in states):
                    yield metadata["namespace"], service["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        service = self.api.find("services", namespace, name)
        endpoints = self.api.find("endpoints", namespace, name)
        if service is None:
            if endpoints and labels_of(endpoints).get(ENDPOINTS_MANAGER[0]) == ENDPOINTS_MANAGER[1]:
                perform(self.api, [Delete("endpoints", endpoints)])
            return None
        if not service["spec"].get("selector") or being_deleted(service):
            return None
        pods = selected(service, self.api.list("pods", namespace))
        slices = [
            entry
            for entry in owned_by(self.api.list(SLICES, namespace), service)
            if labels_of(entry).get(SLICE_MANAGER[0]) == SLICE_MANAGER[1]
        ]
        actions = _put("endpoints", endpoints, endpoints_of(service, pods), ("subsets",))
        fields = ("endpoints", "ports", "addressType")
        actions += _put(SLICES, slices[0] if slices else None, slice_of(service, pods), fields)
        perform(self.api, actions)
        return None


def _put(resource: str, live: Object | None, wanted: Object, fields: Sequence[str]) -> list[Action]:
    """Create ``wanted``, or bring labels and ``fields`` of ``live`` to it."""
    if live is None:
        return [Create(resource, wanted)]
    changed = {**live, "metadata": {**live["metadata"], "labels": wanted["metadata"]["labels"]}}
    for name in fields:
        if name in wanted:
            changed[name] = wanted[name]
        else:
            changed.pop(name, None)
    return [Update(resource, changed)] if changed != live else []


def _reference(pod: Object) -> Object:
    metadata = pod["metadata"]
    return {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}
