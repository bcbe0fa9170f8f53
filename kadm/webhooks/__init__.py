"""Calling webhook plugins over HTTP: the edge that the scheduling stage is given as a value."""

from kadm.webhooks.client import WebhookClient

__all__ = ["WebhookClient"]
