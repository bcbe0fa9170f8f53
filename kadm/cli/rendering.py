"""Printing, or writing to files, what each member must hold."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from kadm.cli.console import Console
from kadm.cli.deciding import decided
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.planning import load, with_members
from kadm.compare.secrecy import is_secret, shown_secret
from kadm.errors import UsageError
from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonObject


class RenderQuery(Struct, frozen=True, kw_only=True):
    """What ``kadm render`` was asked."""

    directory: Path
    ref: str | None = None
    only: list[str] | None = None
    namespace: str | None = None
    output_dir: Path | None = None
    offline: bool = False
    request_timeout_s: float = 30.0
    parallel: int = 32


async def run_render(console: Console, query: RenderQuery, *, as_json: bool) -> ExitCode:
    """Render for the chosen members, and print or write it."""
    repo = with_members(load(query.directory, ref=query.ref))
    if query.only:
        _check(query.only, [cluster.name for cluster in repo.clusters])
    found = await decided(
        repo, offline=query.offline, request_timeout_s=query.request_timeout_s, parallel=query.parallel
    )
    desired = found.desired
    chosen = {
        name: [one for one in member.objects if query.namespace in (None, one.key.namespace)]
        for name, member in desired.members.items()
        if not query.only or name in query.only
    }
    if query.output_dir is not None:
        _write(query.output_dir, chosen, as_json=as_json)
    else:
        console.data(_as_json(repo.fleet.name, chosen) if as_json else _as_yaml(chosen))
    console.problems([*found.problems, *found.unread])
    for key, why in desired.unplaced.items():
        tell = console.detail if found.unread else console.info  # what depends on an unread member is told with it
        tell(f"placed nowhere: {key.kind} {key.qualified_name}: {why}")
    return exit_code(problems=found.problems, partial=bool(found.unread))


def _check(asked: list[str], members: list[str]) -> None:
    for name in asked:
        if name not in members:
            raise UsageError(f"no such member: {name}", hint=f"members are: {', '.join(members)}")


def _as_yaml(chosen: dict[str, list[DesiredObject]]) -> str:
    from kadm.repo.yaml_writer import to_yaml

    text = ""
    for name, objects in chosen.items():
        for one in objects:
            text += f"---\n# member {name}: {one.because}\n" if one.because else f"---\n# member {name}\n"
            text += to_yaml(_shown(one))
    return text


def _as_json(fleet: str, chosen: dict[str, list[DesiredObject]]) -> str:
    return encode(
        {
            "apiVersion": API_VERSION,
            "kind": "Rendered",
            "fleet": fleet,
            "clusters": [
                {"name": name, "objects": [_shown(one) for one in objects]} for name, objects in chosen.items()
            ],
        }
    )


def _write(directory: Path, chosen: dict[str, list[DesiredObject]], *, as_json: bool) -> None:
    """One file per object: DIR/MEMBER/NAME."""
    from kadm.render import file_name
    from kadm.repo.yaml_writer import to_yaml

    for name, objects in chosen.items():
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        for one in objects:
            path = folder / file_name(one.key)
            text = encode(_shown(one)) if as_json else to_yaml(_shown(one))
            (path.with_suffix(".json") if as_json else path).write_text(text, encoding="utf-8")


def _shown(one: DesiredObject) -> JsonObject:
    return shown_secret(one.object) if is_secret(one.key) else one.object
