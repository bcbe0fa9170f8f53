"""Image references: the distribution project's grammar, split without Docker Hub's normalisation."""

from __future__ import annotations

import time

import pytest

from kadm.overrides.error import OverrideError
from kadm.overrides.image_reference import ImageReference, parse_image

SHA = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("nginx", ImageReference("", "nginx")),
        ("ealen/echo", ImageReference("", "ealen/echo")),
        ("localhost/a", ImageReference("localhost", "a")),
        ("host:5000/a/b:1", ImageReference("host:5000", "a/b", "1")),
        (f"docker.io/e/s:latest@{SHA}", ImageReference("docker.io", "e/s", "latest", SHA)),
        ("a__b/c--d.e_f", ImageReference("", "a__b/c--d.e_f")),
    ],
)
def test_parse(text: str, want: ImageReference) -> None:
    assert parse_image(text) == want
    assert str(want) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nginx",
        "nginx:",
        "nginx:-x",
        "nginx\n",
        "a//b",
        "a..b/c",
        "a@sha256:abc",
        "a@md5:" + "ab" * 16,
        "a@sha256:" + "AB" * 32,
        "a/" + "b" * 256,
        "ä/b",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(OverrideError):
        parse_image(text)


def test_a_long_wrong_name_is_refused_in_no_time() -> None:
    start = time.monotonic()
    with pytest.raises(OverrideError):
        parse_image("a" * 5000 + "!")
    assert time.monotonic() - start < 1
