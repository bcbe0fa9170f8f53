"""What is wrong with ``spec.ignore`` of kadm.yaml. A rule that says nothing would leave whole objects alone."""

from __future__ import annotations

from collections.abc import Iterator

from kadm.errors import Problem
from kadm.model.field_path import parse_path
from kadm.model.fleet import Fleet
from kadm.repo.documents import Document


def ignore_rule_problems(fleet: Fleet, document: Document) -> Iterator[Problem]:
    """A problem for each rule that names no fields, at its place."""
    for index, rule in enumerate(fleet.spec.ignore):
        place = ("spec", "ignore", index)
        if not rule.path and not rule.manager:
            what = "a rule of spec.ignore needs a path, or a manager"
            hint = "kadm.io/suspend leaves an object alone as a whole"
            yield Problem(what=what, where=document.locate(place), hint=hint)
        try:
            if rule.path:
                parse_path(rule.path)
        except ValueError as error:
            what = "the path of a rule of spec.ignore cannot be read"
            hint = "for example spec.template.spec.containers[name=app].image"
            yield Problem(what=what, where=document.locate((*place, "path")), why=str(error), hint=hint)
