"""KIND/NAME as people write it."""

from __future__ import annotations

import pytest

from kadm.cli.names import resolve, workloads
from kadm.errors import UsageError
from kadm.model.objects import ObjectKey
from tests.cli.builders import a_key

WEB = a_key("web")
WEB_LAB = a_key("web", namespace="lab")
CART = a_key("cart")
CONFIG = a_key("web", kind="ConfigMap", group="")
POLICY = a_key("deny", kind="NetworkPolicy", group="networking.k8s.io")
INGRESS = a_key("web", kind="Ingress", group="networking.k8s.io")
CLASS = a_key("nginx", kind="IngressClass", group="networking.k8s.io", namespace="")
ROLLOUT = a_key("web", kind="Rollout", group="argoproj.io")
KEYS = [WEB, WEB_LAB, CART, CONFIG, POLICY, INGRESS, CLASS]


@pytest.mark.parametrize(
    ("text", "namespace", "want"),
    [
        pytest.param("deploy/cart", None, [CART], id="short name"),
        pytest.param("Deployment/cart", None, [CART], id="kind as it is written"),
        pytest.param("deployments/cart", None, [CART], id="plural"),
        pytest.param("deployment.apps/cart", None, [CART], id="with its group"),
        pytest.param("deploy/web", None, [WEB_LAB, WEB], id="of every namespace"),
        pytest.param("deploy/web", "lab", [WEB_LAB], id="of one namespace"),
        pytest.param("deploy", "shop", [CART, WEB], id="a kind, for all of it"),
        pytest.param("cm/web", None, [CONFIG], id="short name of another kind"),
        pytest.param("netpol/deny", None, [POLICY], id="short name of a plural in -ies"),
        pytest.param("networkpolicies/deny", None, [POLICY], id="plural in -ies"),
        pytest.param("ingress/web", None, [INGRESS], id="a singular that ends in s"),
        pytest.param("ingresses/web", None, [INGRESS], id="its plural"),
        pytest.param("ingressclasses/nginx", None, [CLASS], id="plural in -sses"),
    ],
)
def test_resolve(text: str, namespace: str | None, want: list[ObjectKey]) -> None:
    assert resolve(text, KEYS, namespace=namespace) == want


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("deploy/", "deploy/ is not KIND/NAME (for example deploy/web)", id="an empty name"),
        pytest.param("/web", "/web is not KIND/NAME (for example deploy/web)", id="an empty kind"),
        pytest.param(
            "deploy/wep",
            "nothing in the repository is called deploy/wep (did you mean deployment/web?)",
            id="a like name",
        ),
        pytest.param(
            "sts/web", "nothing in the repository is called sts/web (did you mean deployment/web?)", id="another kind"
        ),
        pytest.param(
            "secret/zzz-far-away",
            "nothing in the repository is called secret/zzz-far-away (kadm status lists every workload)",
            id="like nothing",
        ),
    ],
)
def test_resolve_names_nothing(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve(text, [WEB, CART])
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("deploy/web", "there is one with -n lab, -n shop", id="in other namespaces"),
        pytest.param("ingressclass/nginx", "it has no namespace: leave -n out", id="in none"),
    ],
)
def test_resolve_says_in_which_namespace_it_is(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve(text, KEYS, namespace="elsewhere")
    assert str(raised.value) == f"nothing in namespace elsewhere of the repository is called {text} ({hint})"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("deploy/cart", [CART], id="a workload"),
        pytest.param("rollout/web", [ROLLOUT], id="a kind of others may be one"),
    ],
)
def test_workloads(text: str, want: list[ObjectKey]) -> None:
    assert workloads(text, [*KEYS, ROLLOUT]) == want


def test_no_workload() -> None:
    with pytest.raises(UsageError, match="--reschedule cm/web: a ConfigMap is no workload"):
        workloads("cm/web", KEYS)
