"""Bad repositories and ill members: one clear line, the documented exit code, and members as they were before."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, inject, up
from tests.e2e.conftest import EVERYWHERE, FLEET
from tests.e2e.running import BIN, Tools

pytestmark = pytest.mark.e2e

MEMBERS = ("member1", "member2", "member3")
MEGABYTE = 2**20
NO_PATIENCE = ("--request-timeout", "1.5")

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "app:1"}]}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {a: b}}\n"
MEMBER = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata: {{name: {name}}}
spec: {{kubeconfig: {kubeconfig}}}
"""
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{f'*a{i - 1},' * 10}]\n" for i in range(1, 12))

Break = Callable[[Path], object]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One sandbox for all tests here: none of them may change a member."""
    directory = tmp_path_factory.mktemp("bad-input") / "sandbox"
    up(directory, SandboxOptions(members=3, start_delay_s=0.05, ready_delay_s=0.05))
    yield directory
    down(directory)


@pytest.fixture(scope="module")
def applied(sandbox: Path) -> Path:
    """A fleet, applied to the sandbox; tests break copies of it."""
    tools = Tools(sandbox.parent, {"KUBECONFIG": str(sandbox / "kubeconfig")})
    root = sandbox.parent / "fleet"
    for path, text in {
        "kadm.yaml": FLEET,
        "policies/everywhere.yaml": EVERYWHERE,
        "manifests/c.yaml": CONFIG,
        "manifests/web.yaml": DEPLOYMENT,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for member in MEMBERS:
        tools.kadm("-C", root, "join", member, "--context", member)
    tools.kadm("-C", root, "apply", "--yes")
    return root


@pytest.fixture
def root(applied: Path, sandbox: Path, tools: Tools) -> Path:
    """A copy of the applied fleet."""
    tools.env["KUBECONFIG"] = str(sandbox / "kubeconfig")
    return shutil.copytree(applied, tools.cwd / "fleet")


@pytest.fixture
def untouched(applied: Path, sandbox: Path) -> Iterator[None]:
    """Checks afterwards that no object of any member, kadm's record included, was written in the meantime."""
    tools = Tools(sandbox.parent, {"KUBECONFIG": str(sandbox / "kubeconfig")})
    before = {member: versions(tools, member) for member in MEMBERS}
    yield
    for member in MEMBERS:
        inject(sandbox, member, [])
    assert {member: versions(tools, member) for member in MEMBERS} == before


def versions(tools: Tools, member: str) -> dict[str, str]:
    """Object → resourceVersion, of every kind that the fleet or kadm itself writes."""
    items = tools.get(member, "namespaces,configmaps,secrets,deployments,pods", "-A")["items"]
    assert any(one["metadata"]["name"] == "kadm-test" for one in items), "the record is among them"
    return {
        f"{one['kind']} {one['metadata'].get('namespace')}/{one['metadata']['name']}": one["metadata"][
            "resourceVersion"
        ]
        for one in items
    }


def one_line(text: str) -> str:
    """stderr, which must hold one line beside warnings."""
    (line,) = [line for line in text.splitlines() if not line.startswith("warning: ")]
    return line


def write(path: str, data: str | bytes) -> Break:
    """Breaks a fleet by writing a file; the directories around it are made."""

    def apply(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data.encode() if isinstance(data, str) else data)

    return apply


def replace(path: str, old: str, new: str) -> Break:
    """Breaks a fleet by changing a word in a file."""

    def apply(root: Path) -> None:
        text = (root / path).read_text(encoding="utf-8")
        assert old in text
        (root / path).write_text(text.replace(old, new), encoding="utf-8")

    return apply


def no_manifests(root: Path) -> None:
    shutil.rmtree(root / "manifests")


def twice_a_member(root: Path) -> None:
    shutil.copy(root / "clusters/member1.yaml", root / "clusters/other.yaml")


def damaged_git(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".git/HEAD").write_text("nothing that git knows\n", encoding="utf-8")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("breaks", "said"),
    [
        pytest.param(
            write("manifests/c.yaml", bytes(range(128, 256))),
            r"manifests/c\.yaml:1:1: no UTF-8 text: byte 0x80 \(save the file as UTF-8\)",
            id="a binary file among the manifests",
        ),
        pytest.param(
            write("manifests/c.yaml", CONFIG + "#" * 32 * MEGABYTE),
            r"manifests/c\.yaml:1:1: the file has 33,554,\d+ bytes, and kadm reads 33,554,432 at most \(split it\)",
            id="a file over 32 MiB",
        ),
        pytest.param(
            write("manifests/w.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"),
            r"manifests/w\.yaml:1:1: .*does not serve example\.com/v1 Widget.*\(.+\)",
            id="an unknown kind",
        ),
        pytest.param(
            write("manifests/again.yaml", CONFIG),
            r"manifests/c\.yaml:1:1: ConfigMap default/c is there twice: it stands first at manifests/again\.yaml:1:1"
            r" \(remove or rename one of them\)",
            id="two objects with one name",
        ),
        pytest.param(
            write("manifests/c.yaml", CONFIG.replace("{name: c}", "{name: c, namespace: Not_A_Name}")),
            r'manifests/c\.yaml:3:32: "Not_A_Name" cannot name a namespace \(.+\)',
            id="a namespace that cannot be",
        ),
        pytest.param(
            write("manifests/n.yaml", f"{NAMESPACE}---\n{NAMESPACE.replace('a: b', 'a: c')}"),
            r"manifests/n\.yaml:5:1: Namespace team is there twice: it stands first at manifests/n\.yaml:1:1"
            r" \(remove or rename one of them\)",
            id="a namespace that is two things",
        ),
        pytest.param(
            twice_a_member,
            r"clusters/other\.yaml:1:1: member member1 is there twice: it stands first at clusters/member1\.yaml:1:1"
            r" \(remove or rename one of them\)",
            id="one name for two members",
        ),
        pytest.param(
            write("clusters/member3.yaml", MEMBER.format(name="member3", kubeconfig="{context: member1}")),
            r"member1: member1 and member3 are the same cluster: namespace kube-system has the same uid \(.+\)",
            id="one cluster for two members",
        ),
        pytest.param(
            write("manifests/c.yaml", CONFIG.replace("{a: b}", "{a: b")),
            r"manifests/c\.yaml:\d+:\d+: no valid YAML: .+",
            id="a syntax error",
        ),
        pytest.param(
            write("manifests/c.yaml", CONFIG + "data: {a: b}\n"),
            r"manifests/c\.yaml:5:1: the key `data` is there twice: it stands first at 4:1 \(remove one of them\)",
            id="a key twice",
        ),
        pytest.param(
            write("manifests/c.yaml", CONFIG.replace("kind: ConfigMap", "kind: ConfigMap\nkind2: x")),
            r"manifests/c\.yaml:1:1 in member1, member2, member3: the manifest does not fit its kind in this member: "
            r".*\.kind2: field not declared in schema",
            id="a field that the kind does not have",
        ),
        pytest.param(
            no_manifests,
            r"kadm\.yaml:5:3: manifests does not exist"
            r" \(create it, or correct the path; it is relative to kadm\.yaml\)",
            id="a missing directory of manifests",
        ),
        pytest.param(
            damaged_git,
            r"git cannot read this repository: fatal: not a git repository .* \(see what git status says .*\)",
            id="a damaged git repository",
        ),
        pytest.param(
            replace("policies/everywhere.yaml", "schedulingMode", "schedulngMode"),
            r"policies/everywhere\.yaml:4:8: `spec\.schedulngMode` is no field that kadm knows"
            r" \(did you mean `schedulingMode`\?\)",
            id="a misspelt field of a policy",
        ),
        pytest.param(
            replace("kadm.yaml", "everywhere", "everywhre"),
            r"kadm\.yaml:5:40: there is no ClusterPropagationPolicy everywhre \(did you mean `everywhere`\?\)",
            id="an unknown policy",
        ),
        pytest.param(
            write("kadm.yaml", FLEET.replace("kind: Fleet", "kind: Flet")),
            r'kadm\.yaml:2:7: `kind` must be `Fleet`, and is "Flet"',
            id="another kind in kadm.yaml",
        ),
    ],
)
def test_a_broken_repository(breaks: Break, said: str, root: Path, tools: Tools) -> None:
    breaks(root)
    for command in (["plan"], ["apply", "--yes", "--allow-empty", "--adopt-all"]):
        told = tools.kadm("-C", root, *command, code=1)
        assert re.fullmatch(f"error: (?:{said})", one_line(told.err)), told.err


@pytest.mark.usefixtures("untouched")
def test_an_alias_bomb_costs_little(root: Path, tools: Tools) -> None:
    write("manifests/c.yaml", LAUGHS)(root)
    program = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:])\nprint(resource.getrusage(-1)[:3])\n"
    said = tools.run(sys.executable, "-c", program, BIN / "kadm", "-C", root, "plan")
    user_s, system_s, peak_kib = json.loads(said.out.replace("(", "[").replace(")", "]"))
    assert (user_s + system_s <= 5, peak_kib <= 300 * 1024) == (True, True), said.out
    assert re.fullmatch(
        r"error: manifests/c\.yaml:7:\d+: the file holds too many values: .+ \(.+\)", one_line(said.err)
    )


@pytest.mark.usefixtures("untouched")
def test_no_manifests_at_all_are_held_back(root: Path, tools: Tools) -> None:
    for file in (root / "manifests").iterdir():
        file.unlink()
    plan = tools.kadm("-C", root, "plan", "-o", "json", "--detailed-exitcode", code=2).json
    assert ({(one["why"], one["flag"]) for one in plan["held"]}, plan["changes"]) == (
        {("the member would drop to nothing", "--allow-empty")},
        [],
    )
    told = tools.kadm("-C", root, "apply", "--yes", "--quiet", "--allow-deletes", "100", code=1)
    assert one_line(told.err) == (
        "error: member1, member2, member3 ConfigMap default/c, Deployment default/web: "
        "held back (delete): the member would drop to nothing (to permit it: --allow-empty)"
    )


@pytest.mark.usefixtures("untouched")
def test_no_members_at_all(root: Path, tools: Tools) -> None:
    shutil.rmtree(root / "clusters")
    (root / "clusters").mkdir()
    told = tools.kadm("-C", root, "apply", "--yes", code=1)
    assert re.fullmatch(r"error: the fleet has no members \(kadm join .+\)", one_line(told.err))


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("in_git", [True, False])
def test_a_commit_that_is_not_there(in_git: bool, root: Path, tools: Tools) -> None:
    if in_git:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    told = tools.kadm("-C", root, "apply", "--yes", "--ref", "nosuch", code=1)
    want = "nosuch is no commit of this repository" if in_git else f"{root} is in no git repository"
    assert re.fullmatch(rf"error: {re.escape(want)}.* \(.+\)", one_line(told.err))


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("kubeconfig", "said"),
    [
        pytest.param(
            "{path: /nowhere/kubeconfig}",
            r"member2: kubeconfig /nowhere/kubeconfig does not exist \(.+\)",
            id="a kubeconfig that is not there",
        ),
        pytest.param(
            "{context: nosuch}",
            r"member2: no context nosuch in .+: it holds the contexts .+ \(.+\)",
            id="a context that is not there",
        ),
    ],
)
def test_a_member_without_a_way_to_it(kubeconfig: str, said: str, root: Path, tools: Tools) -> None:
    write("clusters/member2.yaml", MEMBER.format(name="member2", kubeconfig=kubeconfig))(root)
    for command in (["plan"], ["apply", "--yes"], ["status"]):
        told = tools.kadm("-C", root, *command, code=4)
        assert re.fullmatch(f"error: {said}", one_line(told.err)), told.err


REFUSED = r"Connection refused \(the member is down, or the address is wrong\)"


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param(Fault(mode="refuse"), rf"no connection: https://127\.0\.0\.1:\d+: {REFUSED}", id="refuses"),
        pytest.param(Fault(mode="reset"), r"the connection broke off: https://.+ \(.+\)", id="drops connections"),
        pytest.param(
            Fault(mode="hang"),
            r"no answer within 1\.5 s: asked https://127\.0\.0\.1:\d+ \(--request-timeout allows more\)",
            id="hangs",
        ),
        pytest.param(
            Fault(mode="status", status=401),
            r"not authenticated \(401 Unauthorized\): .+ \(the credential of context member2 of .+: renew it\)",
            id="401",
        ),
        pytest.param(
            Fault(mode="status", status=403),
            r"read forbidden \(403 Forbidden\): .+ \(the credential of context member2 of .+: grant it in the member\)",
            id="403",
        ),
        pytest.param(
            Fault(mode="status", status=500), r"the member failed to read \(500 InternalError\): .+ \(.+\)", id="500"
        ),
        pytest.param(
            Fault(mode="garble"),
            r"the answer is not what an API server sends: .+ \(check what answers at https://.+\)",
            id="broken JSON",
        ),
        pytest.param(
            Fault(mode="garble", path="/apis"),
            r"the answer is not what an API server sends: .+ \(check what answers at https://.+\)",
            id="broken JSON of discovery only",
        ),
        pytest.param(
            Fault(mode="garble", path="/configmaps/kadm-test"),
            r"the answer is not what an API server sends: .+ \(check what answers at https://.+\)",
            id="broken JSON of the record only",
        ),
        pytest.param(
            Fault(mode="status", status=403, path="/configmaps/kadm-test"),
            r"read forbidden \(403 Forbidden\): .+ \(.+\)",
            id="403 of the record only",
        ),
    ],
)
def test_an_ill_member(fault: Fault, said: str, root: Path, sandbox: Path, tools: Tools) -> None:
    inject(sandbox, "member2", [fault])
    for command in (["plan", "--detailed-exitcode"], ["apply", "--yes"]):
        told = tools.kadm("-C", root, *command, *NO_PATIENCE, code=4)
        assert re.fullmatch(f"error: member2(?: [^ :]+){{0,2}}: {said}", one_line(told.err)), told.err


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(mode="garble", path="/deployments"), id="broken JSON"),
        pytest.param(Fault(mode="status", status=403, path="/deployments"), id="403"),
        pytest.param(Fault(mode="status", status=500, path="/deployments"), id="500"),
        pytest.param(Fault(mode="hang", path="/deployments"), id="hangs"),
    ],
)
def test_a_kind_that_cannot_be_read_is_not_deleted(fault: Fault, root: Path, sandbox: Path, tools: Tools) -> None:
    (root / "manifests/web.yaml").unlink()
    for member in MEMBERS:
        inject(sandbox, member, [fault])
    told = tools.kadm("-C", root, "apply", "--yes", "--allow-empty", *NO_PATIENCE, code=None)
    assert told.code in (1, 4)
    assert set(re.findall(r"member\d", told.err)) == set(MEMBERS), told.err
