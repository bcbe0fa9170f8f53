"""The hostPorts that come with hostNetwork: a member that sets them does not take them back.

Before 1.28 an API server gives each containerPort of a pod template with ``hostNetwork: true`` the same hostPort, which
nobody declares. Once hostNetwork is gone they would tie every pod to a port of its node (api-servers, 13).
"""

from __future__ import annotations

from collections.abc import Iterator

from kadm.compare.adoption import Lost
from kadm.compare.field_set import Elements, FieldSet, locate, members, touches
from kadm.compare.ownership import all_held
from kadm.model.objects import JsonObject, at

_HOST_NETWORK = "f:hostNetwork"
_HOST_PORT = "f:hostPort"
_PORT_BELOW_POD = 4
"""Elements from a pod spec to an item of a container's ports: containers, the container, ports, the port."""


def copied_ports(
    live: JsonObject, answer: JsonObject, *, before: FieldSet, wants: FieldSet, manager: str
) -> Iterator[Lost]:
    """The hostPorts that nobody declares and that ``answer`` still has although it takes hostNetwork back.

    ``before`` and ``wants`` are kadm's fields before and after the apply.
    """
    pods = [elements[:-1] for elements in members(before) if elements[-1] == _HOST_NETWORK]
    leaving = [pod for pod in pods if _on_host(live, pod) and not _on_host(answer, pod)]
    if not leaving:
        return
    held = all_held(answer)
    for elements in members(wants):
        if not any(_is_port(elements, pod) for pod in leaving):
            continue
        place = locate(answer, elements)
        port = at(answer, place) if place is not None else None
        if place is None or not isinstance(port, dict) or touches(held, (*elements, _HOST_PORT)):
            continue
        if "hostPort" in port and port["hostPort"] == port.get("containerPort"):
            yield Lost((*elements, _HOST_PORT), (*place, "hostPort"), manager)


def _on_host(obj: JsonObject, pod: Elements) -> bool:
    place = locate(obj, (*pod, _HOST_NETWORK))
    return place is not None and at(obj, place) is True


def _is_port(elements: Elements, pod: Elements) -> bool:
    below = elements[len(pod) :]
    return elements[: len(pod)] == pod and len(below) == _PORT_BELOW_POD and below[2] == "f:ports"
