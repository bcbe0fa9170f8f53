"""What somebody other than kadm does to a case's object."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime

from kadm.sandbox.certificates import Authority
from tests.e2e.access import APPLY, JSON_PATCH, MERGE
from tests.real.case import Act, Json, Site

FINISHED_WITHIN_S = 30.0
LOOK_AGAIN_S = 0.2


def patch(kinds: str, body: Json, *, media_type: str = MERGE, manager: str = "someone") -> Act:
    """Patch the case's object."""

    def act(site: Site) -> None:
        site.access.call("PATCH", site.path(kinds), body, media_type=media_type, query={"fieldManager": manager})

    return act


def scale(replicas: int) -> Act:
    return lambda site: site.kubectl("scale", f"deployment/{site.name}", f"--replicas={replicas}")


def set_image(image: str) -> Act:
    return lambda site: site.kubectl("set", "image", f"deployment/{site.name}", f"main={image}")


def kubectl_apply(text: str) -> Act:
    def act(site: Site) -> None:
        named = text.replace("$NAME", site.name).replace("$NS", site.namespace)
        site.kubectl("apply", "-f", "-", text=named)

    return act


def five_managers(site: Site) -> None:
    """Two appliers, an updater, a status writer and a scaler, none of which changes what git says."""
    path = site.path("apps/v1/deployments")
    for manager in ("one", "two"):
        body = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": site.name, "annotations": {f"{manager}.example/by": manager}},
        }
        site.access.call("PATCH", path, body, media_type=APPLY, query={"fieldManager": manager})
    sidecar = [
        {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "proxy", "image": "proxy:1"}}
    ]
    site.access.call("PATCH", path, sidecar, media_type=JSON_PATCH, query={"fieldManager": "three"})
    condition = {"type": "Seen", "status": "True"}
    body = {"status": {"conditions": [*site.access.call("GET", path)["status"].get("conditions", ()), condition]}}
    site.access.call("PATCH", f"{path}/status", body, media_type=MERGE, query={"fieldManager": "four"})
    site.access.call(
        "PATCH", f"{path}/scale", {"spec": {"replicas": 1}}, media_type=MERGE, query={"fieldManager": "five"}
    )


def inject_authority(site: Site) -> None:
    """What a certificate controller does to a webhook."""
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    name = f"{site.namespace}-{site.name}"
    authority = base64.b64encode(Authority("webhook", datetime.now(UTC)).certificate.encode()).decode()
    change = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": authority}]
    site.access.call("PATCH", f"{path}/{name}", change, media_type=JSON_PATCH, query={"fieldManager": "injector"})


def until_finished(site: Site) -> None:
    """Wait until the case's Job is complete, and gone where the member kept its ttlSecondsAfterFinished."""
    deadline = time.monotonic() + FINISHED_WITHIN_S
    path = site.path("batch/v1/jobs")
    while (job := site.access.there(path)) is not None:
        done = any(one["type"] == "Complete" for one in job["status"].get("conditions") or ())
        if done and "ttlSecondsAfterFinished" not in job["spec"]:
            return
        assert time.monotonic() < deadline, f"the Job has not finished: {job['status']}"
        time.sleep(LOOK_AGAIN_S)
