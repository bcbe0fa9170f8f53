"""The key that digests of Secrets are made with: without it, nobody can guess a weak value from its digest.

It lives in the member, in Secret ``kadm-<fleet>`` of namespace ``kadm-system``, as what it protects does.
"""

from __future__ import annotations

import base64
import secrets

from kadm.errors import MemberRefused
from kadm.members.connection import Connection
from kadm.members.document import MANAGER, ensure_namespace
from kadm.members.record import record_name
from kadm.members.resources import create, get
from kadm.model.observation import ApiResource
from kadm.model.repository import RECORD_NAMESPACE

SECRETS = ApiResource(group="", version="v1", kind="Secret", plural="secrets", namespaced=True)
KEY_BYTES = 32
_FIELD = "key"


async def read_secret_key(connection: Connection, fleet: str) -> bytes | None:
    """The fleet's key in this member, or None where there is none, or the credential may not read it."""
    try:
        found = await get(connection, SECRETS, RECORD_NAMESPACE, record_name(fleet))
    except MemberRefused as refused:
        if refused.status == 403:
            return None
        raise
    text = ((found or {}).get("data") or {}).get(_FIELD, "")
    key = base64.b64decode(text)
    return key if len(key) == KEY_BYTES else None


async def ensure_secret_key(connection: Connection, fleet: str) -> bytes | None:
    """The fleet's key, made now where there is none. None where the credential may not read or make it."""
    known = await read_secret_key(connection, fleet)
    if known is not None:
        return known
    await ensure_namespace(connection)
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": record_name(fleet), "namespace": RECORD_NAMESPACE},
        "data": {_FIELD: base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()},
    }
    try:
        await create(connection, SECRETS, body, manager=MANAGER)
    except MemberRefused as refused:
        if refused.status not in (403, 409):  # 409: another run made it meanwhile
            raise
    return await read_secret_key(connection, fleet)
