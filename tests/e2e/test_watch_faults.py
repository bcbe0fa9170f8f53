"""The daemon while something is ill: a member, the network, the git server, a commit.

Each test asserts what becomes of it (the others go on, nothing is deleted or moved, it recovers and catches up by
itself, the last good commit stays in force), and the metric by which an operator sees it, before and after.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from kadm.sandbox.faults import Fault
from kadm.sandbox.process import inject
from tests.e2e.git_server import serving_git
from tests.e2e.relay import Relay, Relays, relayed, relaying
from tests.e2e.running import Tools
from tests.e2e.served import get
from tests.e2e.watch_scene import ILL, WELL, Scene, black_hole, identities, is_lost_and_back, refuse, scene
from tests.e2e.watched_fleet import MEMBERS, commit, config, git, migrate, web

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]
FILES = {
    "manifests/web.yaml": web(6),
    "manifests/c.yaml": config("first"),
    "policies/migrate.yaml": migrate(annotations="{kadm.io/fail-over-after: 1s}"),
}
"""A member that answers whatever it answers is not to be left, although the policy would permit it at once."""

STAYS = {**FILES, "policies/migrate.yaml": migrate()}
"""A policy that does not speak of fail-over."""


@pytest.fixture
def relays(fleet: Fleet, sandbox: Path, tmp_path: Path) -> Iterator[Relays]:
    """Relays before the members."""
    with relayed(sandbox / "kubeconfig", tmp_path) as found:
        yield found


# Members.


@pytest.mark.parametrize(
    ("vanishes", "code"),
    [
        pytest.param(black_hole, "timeout", id="black-holed: packets vanish, watches stand and bring nothing"),
        pytest.param(refuse, "unreachable", id="refusing connections"),
    ],
)
def test_a_member_that_is_lost_and_back_costs_nothing(
    fleet: Fleet, tools: Tools, relays: Relays, vanishes: Callable[[Relay], None], code: str
) -> None:
    with scene(tools, fleet(STAYS), kubeconfig=relays.kubeconfig) as it:
        is_lost_and_back(it, relays[ILL], vanishes, code)


def test_connections_that_are_half_open_are_found_and_made_anew(fleet: Fleet, tools: Tools, relays: Relays) -> None:
    with scene(tools, fleet(FILES), kubeconfig=relays.kubeconfig) as it:
        before = it.settled()
        silent = "kadm_member_watch_silent_total"
        # What plans leave idle is closed: the streams of ConfigMaps, Deployments and the record stay, and one
        # connection each for the pulse and for the Lease.
        it.until(lambda: relays[ILL].open <= 5, "idle connections stay open")
        assert it.count(silent, member=ILL) == 0
        relays[ILL].half_open()
        it.drift()
        it.until(lambda: it.count(silent, member=ILL) > 0, "the watches stay as they are")
        it.spreads_to(MEMBERS, "first")
        assert "data.v" in it.daemon.wait_for("drift")["message"]
        assert it.failures("timeout") > 0
        assert [it.count(silent, member=name) for name in WELL] == [0, 0]
        it.daemon.wait_until_settled()
        it.nothing_moved(before)
        assert (it.up(), it.daemon.of("lost")) == (True, [])


def test_a_member_that_forgot_the_place_is_read_anew(fleet: Fleet, sandbox: Path, tools: Tools, relays: Relays) -> None:
    with scene(tools, fleet(FILES), kubeconfig=relays.kubeconfig) as it:
        before = it.settled()
        expired, lists = "kadm_member_watch_expired_total", "kadm_member_lists_total"
        lists_before = it.count(lists, member=ILL)
        assert (it.count(expired, member=ILL), lists_before > 0) == (0, True)
        inject(sandbox, ILL, [Fault(mode="status", status=410, path="watch=true")])
        relays[ILL].cut()
        it.until(lambda: it.count(expired, member=ILL) > 3, "410 is not noticed")
        it.drift()
        it.daemon.wait_for("drift", "data.v")  # full lists find it while there is no watch
        it.spreads_to(MEMBERS, "first")
        inject(sandbox, ILL, [])
        it.until(lambda: it.count(lists, member=ILL) > lists_before, "it is not listed anew")
        assert it.count(expired, member="member1") == 0

        def rests() -> bool:
            counted = it.count(expired, member=ILL)
            it.daemon.wait_until_settled()
            return it.count(expired, member=ILL) == counted

        it.until(rests, "it does not watch again")
        it.write("second")
        it.spreads_to(MEMBERS, "second")
        it.nothing_moved(before)
        assert (it.up(), it.daemon.of("lost")) == (True, [])


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        pytest.param(Fault(mode="status", status=429), "429", id="a storm of 429"),
        pytest.param(Fault(mode="garble"), "garbled", id="garbled answers"),
    ],
)
def test_a_member_that_answers_badly_stops_nobody_and_catches_up(
    fleet: Fleet, sandbox: Path, tools: Tools, fault: Fault, code: str
) -> None:
    with scene(tools, fleet(FILES)) as it:
        before = it.settled()
        assert it.failures(code) == 0
        inject(sandbox, ILL, [fault])
        it.write("second")
        it.spreads_to(WELL, "second")
        it.until(lambda: it.failures(code) >= 10, "nobody counts")
        inject(sandbox, ILL, [])
        it.spreads_to(MEMBERS, "second")
        it.daemon.wait_until_settled()
        it.until(it.up, "it is not found again")
        counted = it.failures(code)
        it.write("third")
        it.spreads_to(MEMBERS, "third")
        assert it.failures(code) == counted
        it.nothing_moved(before)


def test_a_slow_member_stops_nobody(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    with scene(tools, fleet(FILES)) as it:
        before = it.settled()
        took = "kadm_member_pulse_duration_seconds"
        it.until(lambda: it.metric(took, member=ILL) is not None, "it was not asked whether it is alive")
        inject(sandbox, ILL, [Fault(mode="slow", delay_s=1.0)])
        it.write("second")
        it.spreads_to(MEMBERS, "second")
        it.until(lambda: it.count(took, member=ILL) >= 1, "nobody sees that it is slow")
        inject(sandbox, ILL, [])
        it.until(lambda: it.count(took, member=ILL) < 1, "it stays slow")
        it.nothing_moved(before)
        assert (it.up(), it.daemon.of("lost")) == (True, [])


def test_a_credential_that_is_refused_for_a_while(fleet: Fleet, sandbox: Path, tools: Tools, tmp_path: Path) -> None:
    root = fleet(FILES)
    kubeconfig = yaml.safe_load((sandbox / "kubeconfig").read_text())
    used = next(one["context"]["user"] for one in kubeconfig["contexts"] if one["name"] == ILL)
    user = next(one["user"] for one in kubeconfig["users"] if one["name"] == used)
    token, file = user.pop("token"), tmp_path / "member-token"
    user["tokenFile"] = str(file)
    file.write_text(token)
    (tmp_path / "with-token-file").touch(mode=0o600)
    (tmp_path / "with-token-file").write_text(yaml.safe_dump(kubeconfig))
    with scene(tools, root, kubeconfig=tmp_path / "with-token-file") as it:
        before = it.settled()
        assert (it.up(), it.failures("401")) == (True, 0)
        file.write_text("revoked")
        inject(sandbox, ILL, [Fault(mode="status", status=401)])
        it.write("second")
        it.spreads_to(WELL, "second")
        it.until(lambda: not it.up(), "it is not found to be lost")
        inject(sandbox, ILL, [])  # from here on the member itself refuses what stands in the file
        counted = it.failures("401")
        assert counted > 0
        assert "Unauthorized" in it.daemon.wait_for("lost")["message"]
        it.until(lambda: it.failures("401") > counted, "it is not tried again")
        it.nothing_moved(before)  # it answers: so nothing leaves it, whatever the policy permits
        assert it.value(ILL) == "first"
        file.write_text(token)
        it.until(it.up, "the token is not read again")
        it.spreads_to(MEMBERS, "second")
        it.daemon.wait_until_settled()
        it.nothing_moved(before)
        assert token not in it.daemon.text


def test_another_cluster_under_a_known_name_is_told(fleet: Fleet, sandbox: Path, tools: Tools, tmp_path: Path) -> None:
    """A kubeconfig may lead elsewhere from now on, or the cluster was made anew: it is filled, but not in silence."""
    root, (kept, elsewhere) = fleet(FILES, members=2), ("member1", "member3")
    kubeconfig = yaml.safe_load((sandbox / "kubeconfig").read_text())
    file = tmp_path / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(kubeconfig))
    with scene(tools, root, kubeconfig=file) as it:
        it.daemon.wait_for("applied")
        it.spreads_to((kept, ILL), "first")
        contexts = {one["name"]: one["context"] for one in kubeconfig["contexts"]}
        contexts[ILL].update(contexts[elsewhere])
        file.write_text(yaml.safe_dump(kubeconfig))
        inject(sandbox, ILL, [Fault(mode="refuse")])
        it.until(lambda: any("another cluster" in one["message"] for one in it.daemon.of("back")), "it is not told")
        assert [one["member"] for one in it.daemon.of("back") if "another cluster" in one["message"]] == [ILL]
        it.daemon.wait_until_settled()
        assert it.value(elsewhere) == "first"


def test_a_commit_that_names_another_way_to_a_member_is_followed(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    """Its context is another one from now on, of the same cluster: the daemon goes on, by the new way."""
    root = fleet(FILES)
    kubeconfig = yaml.safe_load((sandbox / "kubeconfig").read_text())
    contexts = {one["name"]: one["context"] for one in kubeconfig["contexts"]}
    file = tools.cwd / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(
        yaml.safe_dump({**kubeconfig, "contexts": [*kubeconfig["contexts"], {"name": "way", "context": contexts[ILL]}]})
    )
    with scene(tools, root, kubeconfig=file) as it:
        it.settled()
        name = root / f"clusters/{ILL}.yaml"
        for number, context in enumerate(("way", ILL, "way"), 1):
            name.write_text(name.read_text().partition("spec:")[0] + f"spec: {{kubeconfig: {{context: {context}}}}}\n")
            it.daemon.wait_until(lambda: len(it.daemon.of("back")) == number, "it is not watched anew")  # noqa: B023
            it.write(f"by {context} {number}")
            it.spreads_to(MEMBERS, f"by {context} {number}")
        it.drift()
        it.daemon.wait_for("drift")
        it.until(lambda: it.metric("kadm_member_pulse_duration_seconds", member=ILL) is not None, "it is asked no more")
        assert it.daemon.of("lost") == []


# The repository.


@dataclass
class Origin:
    """A repository on a git server, and a working copy to push from. ``relay`` is the way to the server."""

    root: Path
    url: str
    relay: Relay
    commits: list[str] = field(default_factory=list)

    def push(self, *flags: str, **files: str) -> str:
        """Commit these manifests, push, and give the commit."""
        self.commits.append(commit(self.root, **files))
        git(self.root, "push", "--quiet", *flags, "origin", "HEAD:main")
        return self.commits[-1]


@pytest.fixture
def origin(fleet: Fleet, tmp_path: Path) -> Iterator[Origin]:
    """A fleet in a repository that is served over ``git://``, with its first commit."""
    root, served = fleet(STAYS), tmp_path / "served"
    served.mkdir()
    git(served, "init", "--quiet", "--bare", "--initial-branch=main", "fleet.git")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "remote", "add", "origin", str(served / "fleet.git"))
    with serving_git(served) as port, relaying(("127.0.0.1", port)) as (relay,):
        found = Origin(root, f"git://127.0.0.1:{relay.port}/fleet.git", relay)
        found.push()
        yield found


@contextmanager
def following(tools: Tools, origin: Origin) -> Iterator[Scene]:
    """A daemon that follows the branch, at rest, with its first commit in force."""
    arguments = ("--repo", origin.url, "--branch", "main", "--git-timeout", "2s")
    with scene(tools, origin.root, *arguments) as it:
        it.settled()
        assert in_force(it) == origin.commits[0]
        yield it


def in_force(it: Scene) -> str:
    """The commit that metrics say is in force."""
    found = re.findall(r'^kadm_commit_info\{commit="(\w+)"\} 1\.0$', get(f"{it.url}/metrics")[1], re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


def still_corrects(it: Scene) -> None:
    """The commit in force is more than a name: what others change is put back to it."""
    drifts = len(it.daemon.of("drift"))
    it.drift()
    it.until(lambda: len(it.daemon.of("drift")) > drifts, "drift is not seen")
    it.spreads_to(MEMBERS, "first")


@pytest.mark.parametrize(
    ("vanishes", "says"),
    [
        pytest.param(refuse, "git fetch failed", id="down"),
        pytest.param(black_hole, "git fetch did not end within 2 s", id="accepting and never answering"),
    ],
)
def test_a_git_server_that_is_gone_for_a_while(
    tools: Tools, origin: Origin, vanishes: Callable[[Relay], None], says: str
) -> None:
    with following(tools, origin) as it:
        before = identities(tools)
        fetches, seen = "kadm_source_fetches_total", "kadm_source_seen_timestamp_seconds"
        assert (it.metric("kadm_source_up"), it.count(fetches, result="failed")) == (1, 0)
        vanishes(origin.relay)
        it.until(lambda: it.metric("kadm_source_up") == 0, "nobody sees that it is gone")
        last = it.metric(seen)
        it.until(lambda: it.count(fetches, result="failed") >= 2, "it is not tried again")
        assert it.metric(seen) == last
        assert says in it.daemon.wait_for("source")["message"]
        second = origin.push(c=config("second"))
        still_corrects(it)
        assert in_force(it) == origin.commits[0]
        it.nothing_moved(before)
        origin.relay.heal()
        it.until(lambda: in_force(it) == second, "it is not looked at again")
        it.spreads_to(MEMBERS, "second")
        assert it.metric("kadm_source_up") == 1
        it.daemon.wait_for("source", "can be reached again")
        it.nothing_moved(before)


def running(argument: str) -> list[str]:
    """The command lines of processes that have this argument (Linux)."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            line = file.read_text(errors="replace").split("\0")
            if argument in line:
                found.append(" ".join(line))
    return found


def test_sigterm_ends_it_while_git_does_not_answer(tools: Tools, origin: Origin) -> None:
    with following(tools, origin) as it:
        origin.relay.black_hole()
        it.until(lambda: it.metric("kadm_source_up") == 0, "nobody sees that it is gone")
        it.daemon.stop()
        assert (it.daemon.process.returncode, running(origin.url)) == (0, []), "no git goes on without it"


def test_a_force_push_is_followed_and_told(tools: Tools, origin: Origin) -> None:
    with following(tools, origin) as it:
        before = identities(tools)
        second = origin.push(c=config("second"))
        it.until(lambda: in_force(it) == second, "a push is not seen")
        it.spreads_to(MEMBERS, "second")
        assert it.metric("kadm_source_rewrites_total") == 0
        git(origin.root, "reset", "--quiet", "--hard", origin.commits[0])
        forced = origin.push("--force", c=config("forced"))
        it.until(lambda: in_force(it) == forced, "a force-push is not followed")
        it.spreads_to(MEMBERS, "forced")
        assert it.metric("kadm_source_rewrites_total") == 1
        assert f"{forced[:12]} does not go on from {second[:12]}" in it.daemon.wait_for("source")["message"]
        it.daemon.wait_until_settled()
        it.nothing_moved(before)
    records = [tools.get(member, "cm/kadm-test", "-n", "kadm-system")["data"]["commit"] for member in MEMBERS]
    assert records == [forced] * 3


def remove_all(root: Path) -> None:
    git(root, "rm", "--quiet", "-r", ".")


def remove_members(root: Path) -> None:
    git(root, "rm", "--quiet", "-r", "clusters")


def break_syntax(root: Path) -> None:
    (root / "manifests/c.yaml").write_text("a: [\n")


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        pytest.param(break_syntax, "manifests/c.yaml", id="a syntax error"),
        pytest.param(remove_all, "kadm.yaml", id="an empty repository"),
        pytest.param(remove_members, "the fleet has no members", id="no members"),
    ],
)
def test_a_commit_that_cannot_be_used(tools: Tools, origin: Origin, breaks: Callable[[Path], None], says: str) -> None:
    with following(tools, origin) as it:
        before = identities(tools)
        assert (it.metric("kadm_commit_broken"), it.metric("kadm_broken_commits_total")) == (0, 0)
        breaks(origin.root)
        broken = origin.push()
        it.until(lambda: it.metric("kadm_commit_broken") == 1, "nobody sees that it is broken")
        told = it.daemon.wait_for("broken")["message"]
        assert (f"commit {broken[:12]} cannot be used" in told, says in told) == (True, True), told
        assert (in_force(it), it.metric("kadm_broken_commits_total")) == (origin.commits[0], 1)
        still_corrects(it)
        it.nothing_moved(before)
        git(origin.root, "revert", "--no-edit", broken)
        mended = origin.push(c=config("second"))
        it.until(lambda: in_force(it) == mended, "what is mended is not taken")
        it.spreads_to(MEMBERS, "second")
        assert (it.metric("kadm_commit_broken"), it.metric("kadm_broken_commits_total")) == (0, 1)
        it.nothing_moved(before)


def test_a_commit_without_any_object_deletes_nothing(tools: Tools, origin: Origin) -> None:
    with following(tools, origin) as it:
        before = identities(tools)
        held = "kadm_held_changes"
        assert [it.metric(held, member=name) for name in MEMBERS] == [0, 0, 0]
        git(origin.root, "rm", "--quiet", "-r", "manifests")
        (origin.root / "manifests").mkdir()
        (origin.root / "manifests/.keep").touch()
        emptied = origin.push()
        it.until(lambda: in_force(it) == emptied, "it is no commit that cannot be used")
        it.until(lambda: all(it.count(held, member=name) > 0 for name in MEMBERS), "nothing is held back")
        told = it.daemon.of("held")
        assert {one["member"] for one in told} == set(MEMBERS)
        assert all("released by: kadm apply --allow-empty" in one["message"] for one in told)
        it.daemon.wait_until_settled()
        assert identities(tools) == before
        git(origin.root, "revert", "--no-edit", emptied)
        restored = origin.push(c=config("second"))
        it.until(lambda: in_force(it) == restored, "what is mended is not taken")
        it.spreads_to(MEMBERS, "second")
        it.until(lambda: [it.metric(held, member=name) for name in MEMBERS] == [0, 0, 0], "it is still held back")
        it.nothing_moved(before)
