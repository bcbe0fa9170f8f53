"""A plan, and a report, as JSON of ``kadm.io/v1``. Field order and list order are fixed."""

from __future__ import annotations

from typing import Any

import msgspec

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Held, Plan
from kadm.model.report import Report

API_VERSION = "kadm.io/v1"


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as a document of kind Plan."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Plan",
        "fleet": plan.fleet,
        "commit": plan.commit,
        "summary": msgspec.to_builtins(plan.summary),
        "placements": [
            {"kind": one.key.kind, "namespace": one.key.namespace, "name": one.key.name, "clusters": dict(one.clusters)}
            for one in plan.placements
        ],
        "moves": [
            {
                "kind": move.key.kind,
                "namespace": move.key.namespace,
                "name": move.key.name,
                "leaves": dict(move.leaves),
                "arrives": dict(move.arrives),
                "whole": move.whole,
            }
            for move in plan.moves
        ],
        "waves": [{"name": one.name, "clusters": list(one.members), "pause": one.pause} for one in plan.waves],
        "changes": [_change(change) for change in plan.changes],
        "held": [_held(held) for held in plan.held],
        "unplaced": [{**_object(one.key), "replicas": one.replicas, "why": one.why} for one in plan.unplaced],
        "frozen": [
            {"cluster": member, **_object(key), "reason": reason}
            for member, objects in plan.frozen.items()
            for key, reason in objects.items()
        ],
        "unread": [_problem(problem) for problem in plan.unread],
        "problems": [_problem(problem) for problem in dict.fromkeys(plan.problems)],
    }


def report_document(plan: Plan, report: Report) -> dict[str, Any]:
    """What apply did, as a document of kind Report."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Report",
        "fleet": plan.fleet,
        "commit": plan.commit,
        "summary": msgspec.to_builtins(plan.summary),
        "results": [
            {
                **_identity(one.change),
                "result": one.result,
                **({"problem": _problem(one.problem)} if one.problem is not None else {}),
            }
            for one in report.results
        ],
        "held": [_held(held) for held in report.held],
        "unread": [_problem(problem) for problem in report.unread],
        "problems": [_problem(problem) for problem in dict.fromkeys((*plan.problems, *report.problems))],
    }


def encode(document: Any) -> str:
    """A document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _change(change: Change) -> dict[str, Any]:
    return {
        **_identity(change),
        "fields": [
            {
                "path": field.path,
                "before": field.before,
                "after": field.after,
                **({"manager": field.manager} if field.manager else {}),
            }
            for field in change.fields
        ],
        **({"note": change.note} if change.note else {}),
    }


def _identity(change: Change) -> dict[str, Any]:
    return {
        "cluster": change.cluster,
        "group": change.key.group,
        "version": change.version,
        "kind": change.key.kind,
        "namespace": change.key.namespace,
        "name": change.key.name,
        "action": change.action,
    }


def _held(held: Held) -> dict[str, Any]:
    return {**_identity(held.change), "why": held.why, "flag": held.flag}


def _object(key: ObjectKey) -> dict[str, Any]:
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name}


def _problem(problem: Problem) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(problem)
    return {"severity": problem.severity, **found}
