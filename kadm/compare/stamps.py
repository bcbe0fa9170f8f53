"""The proof of "nothing to do", without schemas (design, section 6; api-servers, 4).

An object needs nothing if the digest of the desired object, kadm's entry in managedFields byte for byte, and the live
values at the desired fields (with list order) are those that were stamped when the last apply had settled, and it is
not being deleted. Raw bytes are compared first: that decides thousands of objects in milliseconds. Where they differ
(somebody's sidecar, another manager's label), the values at the desired fields decide. Anything else costs a dry run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kadm.model.desired import DesiredObject
from kadm.model.live import RawObject
from kadm.model.objects import JsonObject, JsonValue, ObjectKey
from kadm.model.stamps import Stamp, Stamps
from kadm.render.digest import digest_of

_ENCODER = msgspec.json.Encoder(order="sorted")
_HASH_BYTES = 9
_NOT_COMPARED = frozenset({"apiVersion", "kind", "metadata", "status"})
_ABSENT = "\0absent"


class Prover:
    """Proves objects of one member unchanged, and stamps them after an apply.

    ``manager`` is the fleet's field manager. ``secret_key`` None: Secrets are neither stamped nor proved, for their
    digests would help to guess their values.
    """

    def __init__(self, stamps: Stamps, *, manager: str, set_id: str, secret_key: bytes | None) -> None:
        self._stamps = stamps
        self._manager = manager
        self._set_id = set_id
        self._secret_key = secret_key

    def unchanged(self, wanted: DesiredObject, live: RawObject) -> bool:
        """Whether the stamps prove that an apply of ``wanted`` would change nothing of the live object."""
        known = self._stamps.of(wanted.key)
        key = self._key(wanted.key)
        if known is None or key is None or live.deleting:
            return False
        entry = live.own_entry(self._manager)
        if entry is None:
            return False
        digest = self._digest(wanted, key)
        return known.raw == self._raw(digest, wanted, live, entry, key) or known.projected == self._projected(
            digest, wanted, live, entry, key
        )

    def stamp(self, wanted: DesiredObject, live: RawObject) -> Stamp | None:
        """The stamp of an object that has settled, or None where nothing could be proved by one."""
        key = self._key(wanted.key)
        entry = live.own_entry(self._manager)
        if key is None or entry is None or live.deleting:
            return None
        digest = self._digest(wanted, key)
        return Stamp(self._raw(digest, wanted, live, entry, key), self._projected(digest, wanted, live, entry, key))

    def _key(self, key: ObjectKey) -> bytes | None:
        return self._secret_key if (key.group, key.kind) == ("", "Secret") else b""

    def _digest(self, wanted: DesiredObject, key: bytes) -> str:
        return digest_of(wanted.object, secret=key) if key else wanted.digest

    def _raw(self, digest: str, wanted: DesiredObject, live: RawObject, entry: bytes, key: bytes) -> str:
        annotations = live.annotations
        own = {name: annotations.get(name) for name in sorted(wanted.object["metadata"].get("annotations") or {})}
        parts = [digest.encode(), live.uid.encode(), entry, bytes(live.labels), _ENCODER.encode(own)]
        for name in sorted(live.fields.keys() - _NOT_COMPARED):
            parts += [name.encode(), bytes(live.fields[name])]
        return _hash(parts, key)

    def _projected(self, digest: str, wanted: DesiredObject, live: RawObject, entry: bytes, key: bytes) -> str:
        owned = msgspec.json.decode(entry).get("fieldsV1") or {}
        whole = live.decoded
        desired = with_set(wanted.object, self._set_id)
        values = {name: project(desired[name], whole.get(name), owned.get(f"f:{name}") or {}) for name in desired}
        return _hash([digest.encode(), live.uid.encode(), entry, _ENCODER.encode(values)], key)


def project(desired: JsonValue, live: JsonValue, owned: Mapping[str, Any]) -> JsonValue:
    """The live values where ``desired`` has values.

    Of a list whose items kadm's entry knows by key: the keys of all live items, in order, and the projections of the
    desired ones. Of every other list, and where the shapes differ: the live value, whole.
    """
    if isinstance(desired, dict) and isinstance(live, dict):
        return {
            name: project(desired[name], live[name], owned.get(f"f:{name}") or {}) if name in live else _ABSENT
            for name in desired
        }
    if isinstance(desired, list) and isinstance(live, list):
        keys = _key_fields(owned)
        if keys:
            return _project_keyed(desired, live, owned, keys)
    return live


def with_set(obj: JsonObject, set_id: str) -> JsonObject:
    """The desired object as it was sent, reduced to what a live one can be compared with."""
    from kadm.model.applyset import with_membership

    sent = with_membership(obj, set_id)
    metadata = {name: sent["metadata"][name] for name in ("labels", "annotations") if sent["metadata"].get(name)}
    return {**{name: value for name, value in sent.items() if name not in _NOT_COMPARED}, "metadata": metadata}


def _key_fields(owned: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields by which kadm's entry knows a list's items, or none: it owns the list whole."""
    for name in owned:
        if name.startswith("k:"):
            return tuple(sorted(msgspec.json.decode(name[2:])))
    return ()


def _project_keyed(
    desired: list[Any], live: list[Any], owned: Mapping[str, Any], keys: tuple[str, ...]
) -> dict[str, JsonValue]:
    entries = [(msgspec.json.decode(name[2:]), rest) for name, rest in owned.items() if name.startswith("k:")]
    projected = []
    for item in desired:
        mine = {field: item[field] for field in keys if isinstance(item, dict) and field in item}
        found = next((one for one in live if _matches(one, mine)), _ABSENT)
        fields: Mapping[str, Any] = next((rest for key, rest in entries if _matches(key, mine)), {})
        projected.append(project(item, found, fields))
    order = [[item.get(field) for field in keys] if isinstance(item, dict) else item for item in live]
    wanted = [[item.get(field) for field in keys] for item in desired if isinstance(item, dict)]
    # Items of others may come and go; the order of kadm's own is part of what was applied.
    return {"order": [one for one in order if _is_wanted(one, wanted)], "items": projected}


def _is_wanted(key: list[Any], wanted: Iterable[list[Any]]) -> bool:
    return any(all(part is None or part == own for part, own in zip(one, key, strict=True)) for one in wanted)


def _matches(item: JsonValue, key: Mapping[str, Any]) -> bool:
    return isinstance(item, dict) and all(item.get(field) == value for field, value in key.items())


def _hash(parts: Iterable[bytes], key: bytes) -> str:
    state = hashlib.blake2b(digest_size=_HASH_BYTES, key=key)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return base64.urlsafe_b64encode(state.digest()).decode()
