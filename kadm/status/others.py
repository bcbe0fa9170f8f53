"""Kinds without pods: when they are ready (kstatus), and the rule for kinds that nobody wrote a rule for."""

from __future__ import annotations

from kadm.model.objects import JsonObject, at
from kadm.model.status import Health
from kadm.status.conditions import condition, explained
from kadm.status.verdicts import HEALTHY, failed, progressing, unobserved


def namespace_health(live: JsonObject) -> Health:
    """A Namespace is ready when it is active."""
    phase = at(live, ("status", "phase"))
    return HEALTHY if phase in ("Active", None) else progressing(f"phase {phase}")


def claim_health(live: JsonObject) -> Health:
    """A PersistentVolumeClaim: Lost is failed; Pending is fine, for binding may wait for the first consumer."""
    if at(live, ("status", "phase")) == "Lost":
        return failed("its volume is lost")
    return HEALTHY


def crd_health(live: JsonObject) -> Health:
    """A CustomResourceDefinition is ready when it is established."""
    refused = condition(live, "NamesAccepted")
    if refused and refused.get("status") == "False":
        return failed(explained(refused))
    established = condition(live, "Established")
    if established and established.get("status") == "True":
        return HEALTHY
    return progressing("not established yet")


def budget_health(live: JsonObject) -> Health:
    """A PodDisruptionBudget is ready once its controller has seen it."""
    return unobserved(live) or HEALTHY


def generic_health(live: JsonObject) -> Health:
    """Any other kind: its controller has seen it, where it says so, and no standard condition is against it."""
    if (live.get("status") or {}).get("observedGeneration") is not None and (waiting := unobserved(live)):
        return waiting
    for name, bad in (("Stalled", "True"), ("Failed", "True")):
        found = condition(live, name)
        if found and found.get("status") == bad:
            return failed(explained(found))
    for name, against in (("Reconciling", "True"), ("Ready", "False"), ("Ready", "Unknown")):
        found = condition(live, name)
        if found and found.get("status") == against:
            return progressing(explained(found))
    return HEALTHY
