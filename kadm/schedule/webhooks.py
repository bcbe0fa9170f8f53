"""The webhook plugins that a repository configures, beside kadm's own."""

from __future__ import annotations

from kadm.model.observation import Observation
from kadm.model.repository import Repo
from kadm.model.webhook import WebhookTransport, configuration_fault
from kadm.schedule.profile import Plugins
from kadm.schedule.webhook import WebhookPlugin
from kadm.schedule.webhook_payload import Payloads

_OFFLINE = "webhooks are not called offline"


def plugins_of(repo: Repo, observation: Observation, transport: WebhookTransport | None = None) -> Plugins:
    """What profiles can name: kadm's own plugins, and webhooks called by ``transport`` (None: none of them is called).

    ``observation`` is the one that is scheduled on: webhooks are told of the members as they are there.
    """
    payloads = Payloads(repo, observation)
    outside: dict[str, WebhookPlugin] = {}
    unusable: dict[str, str] = {}
    for name, configuration in sorted(repo.webhooks.items()):
        fault = configuration_fault(configuration.spec)
        if transport is None:
            unusable[name] = fault or _OFFLINE
        elif fault := fault or transport.fault(name):
            unusable[name] = fault
        else:
            outside[name] = WebhookPlugin(name, configuration.spec, payloads, transport)
    return Plugins(outside=outside, unusable=unusable)
