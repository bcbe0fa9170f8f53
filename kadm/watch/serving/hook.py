"""The webhook of a git server: it says that something was pushed, and shows that it is the one that may say so.

    GitHub, Gitea, Forgejo   X-Hub-Signature-256: sha256=, and the HMAC-SHA256 of the body in hex digits
    Bitbucket                X-Hub-Signature: the same
    GitLab                   X-Gitlab-Token: the secret itself
    anything else            Authorization: Bearer, and the secret

What a body says is never looked at: the daemon looks at git, and sees for itself. So a hook that is sent again, or for
another branch, costs one look.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterable, Mapping

from kadm.errors import KadmError

LARGEST_BODY = 32 << 20
"""Bytes. GitHub sends up to 25 MB (docs.github.com, "Webhook events and payloads")."""

SIGNATURES = ("X-Hub-Signature-256", "X-Hub-Signature")


class TooLarge(KadmError):
    """A body that no git server sends."""


async def is_genuine(headers: Mapping[str, str], body: AsyncIterable[bytes], secret: str) -> bool:
    """Whether whoever sent this knows the secret. The body is signed as it comes, and never kept.

    ``headers`` find a name in whatever case. Takes the same time whatever is in them. Raises TooLarge.
    """
    signed = hmac.new(secret.encode(), digestmod=hashlib.sha256)
    size = 0
    async for part in body:
        size += len(part)
        if size > LARGEST_BODY:
            raise TooLarge(f"the body is larger than {LARGEST_BODY >> 20} MiB")
        signed.update(part)
    for name in SIGNATURES:
        if (given := headers.get(name)) is not None:
            return _same(given, f"sha256={signed.hexdigest()}")
    if (given := headers.get("X-Gitlab-Token")) is not None:
        return _same(given, secret)
    scheme, _, given = headers.get("Authorization", "").partition(" ")
    return _same(given.strip(), secret) and scheme.lower() == "bearer"


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
