"""File names of rendered objects never collide, not even where the file system ignores case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadm.model.objects import ObjectKey
from kadm.render import file_name


@pytest.mark.parametrize(
    ("key", "want"),
    [
        (ObjectKey("apps", "Deployment", "shop", "web"), "deployment.apps_shop_web.yaml"),
        (ObjectKey("", "ConfigMap", "shop", "kube-root-ca.crt"), "configmap_shop_kube-root-ca.crt.yaml"),
        (
            ObjectKey("rbac.authorization.k8s.io", "ClusterRole", "", "system:node"),
            "clusterrole.rbac.authorization.k8s.io__system-node_725c810a22f13470.yaml",
        ),
    ],
)
def test_readable(key: ObjectKey, want: str) -> None:
    assert file_name(key) == want


PARTS = st.one_of(st.text("aAb.-_:/", max_size=4), st.text(max_size=3), st.sampled_from(["web", "a" * 300, "a" * 301]))
KEYS = st.one_of(
    st.builds(
        ObjectKey, st.sampled_from(["", "apps", "a.k8s.io"]), st.sampled_from(["Widget", "ConfigMap"]), PARTS, PARTS
    ),
    st.builds(
        ObjectKey,
        st.sampled_from(["Apps", "e.io", "E.io"]),
        st.sampled_from(["Widget", "WidGet", "widget", "Widget.x", "Wid_get"]),
        PARTS,
        PARTS,
    ),
)
"""Kubernetes' own groups hold no kinds that differ in case alone; others may."""


@given(KEYS, KEYS)
def test_never_the_same(one: ObjectKey, other: ObjectKey) -> None:
    names = file_name(one), file_name(other)
    if one != other:
        assert names[0].casefold() != names[1].casefold()
    for name in names:
        assert len(name.encode()) < 255
        assert "/" not in name
        assert name.isascii()
