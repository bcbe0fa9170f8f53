"""Joining a prefix and a path, as Go's url.JoinPath does."""

from __future__ import annotations

import pytest

from kadm.webhooks.url import joined


@pytest.mark.parametrize(
    ("prefix", "path", "want"),
    [
        ("http://h", "filter", "http://h/filter"),
        ("http://h/", "/filter", "http://h/filter"),
        ("http://h:8080/a//b/", "//filter", "http://h:8080/a/b/filter"),
        ("http://h/a/./b", "../filter", "http://h/a/filter"),
        ("http://h/a", "../../../filter", "http://h/filter"),
        ("http://h/a", "filter/", "http://h/a/filter/"),
        ("https://h/a?team=x", "filter", "https://h/a/filter?team=x"),
        ("http://h/a%2Fb", "filter", "http://h/a%2Fb/filter"),
        ("http://[::1]:80/a", "filter", "http://[::1]:80/a/filter"),
    ],
)
def test_joined(prefix: str, path: str, want: str) -> None:
    assert joined(prefix, path) == want
