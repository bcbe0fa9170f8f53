"""``KIND/NAME`` as people write it, resolved against what there is: ``deploy/web``, ``Deployment/web``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from kadm.cli.kinds import kind_of
from kadm.errors import UsageError
from kadm.model.objects import ObjectKey
from kadm.model.target import Target
from kadm.model.workload import workload_kind


def resolve(text: str, keys: Iterable[ObjectKey], *, namespace: str | None = None) -> list[ObjectKey]:
    """The objects that ``KIND/NAME`` (or ``KIND``, for all of it) names, sorted.

    Raises UsageError where it is not written so, and where it names none, with what comes close.
    """
    kind, slash, name = text.partition("/")
    if slash and not (kind and name):
        raise malformed(text)
    wanted = kind_of(kind)
    known = sorted(keys)
    anywhere = [key for key in known if key.kind.lower() == wanted and (not name or key.name == name)]
    found = [key for key in anywhere if namespace in (None, key.namespace)]
    if found:
        return found
    if anywhere:
        others = ", ".join(dict.fromkeys(f"-n {key.namespace}" for key in anywhere if key.namespace))
        raise UsageError(
            f"nothing in namespace {namespace} of the repository is called {text}",
            hint=f"there is one with {others}" if others else "it has no namespace: leave -n out",
        )
    close = _close(wanted, name, [key for key in known if namespace in (None, key.namespace)])
    hint = f"did you mean {', '.join(close)}?" if close else "kadm status lists every workload"
    raise UsageError(f"nothing in the repository is called {text}", hint=hint)


def workloads(text: str, keys: Iterable[ObjectKey]) -> list[ObjectKey]:
    """The workloads that ``--reschedule`` names, as ``resolve``. Raises UsageError too where one is of another kind.

    Of kinds that Kubernetes does not bring nobody knows: they count as workloads.
    """
    from kadm.repo.scopes import is_namespaced

    found = resolve(text, keys)
    for key in found:
        if workload_kind(key.group, key.kind) is None and is_namespaced(key.group, key.kind, {}) is not None:
            raise UsageError(
                f"--reschedule {text}: a {key.kind} is no workload",
                hint="name what holds pods, for example deploy/web; --reschedule-all places everything anew",
            )
    return found


def target(text: str) -> Target:
    """The objects that ``KIND/NAME`` names, wherever they are. Raises UsageError where it is not written so."""
    kind, _, name = text.partition("/")
    if not kind or not name:
        raise malformed(text)
    return Target(kind_of(kind), name, text)


def malformed(text: str) -> UsageError:
    """That a text names nothing, whatever there is."""
    return UsageError(f"{text} is not KIND/NAME", hint="for example deploy/web")


def _close(kind: str, name: str, keys: list[ObjectKey]) -> list[str]:
    """What somebody may have meant: a like name of the kind, else that name of another kind."""
    alike = difflib.get_close_matches(name, sorted({key.name for key in keys if key.kind.lower() == kind}), n=3)
    if alike:
        return [f"{kind}/{found}" for found in alike]
    return sorted({f"{key.kind.lower()}/{key.name}" for key in keys if key.name == name})[:3]
