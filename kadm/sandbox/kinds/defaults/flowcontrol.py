"""Defaults of API priority and fairness."""

from __future__ import annotations

from kadm.model.objects import JsonObject


def flow_schema(obj: JsonObject) -> None:
    obj["spec"].setdefault("matchingPrecedence", 1000)


def priority_level(obj: JsonObject) -> None:
    exempt = obj["spec"].get("exempt")
    if exempt is not None:
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)
    limited = obj["spec"].get("limited")
    if limited is None:
        return
    limited.setdefault("nominalConcurrencyShares", 30)
    limited.setdefault("lendablePercent", 0)
    queuing = limited["limitResponse"].get("queuing")
    if queuing is not None:
        for key, value in (("queues", 64), ("handSize", 8), ("queueLengthLimit", 50)):
            if not queuing.get(key):
                queuing[key] = value
