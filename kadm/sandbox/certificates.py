"""A certificate authority for one sandbox, and server certificates from it.

Why at all: kubectl sends no credentials over plain HTTP (client-go reads a user's token only for TLS servers), so
members serve TLS. Why by hand: the standard library reads certificates but makes none, and a sandbox needs nothing but
keys on P-256, which take a page. The keys guard a loopback port for as long as the process lives; they are no use
elsewhere, and the arithmetic is not hardened against timing.

Sources: SEC 1 and FIPS 186-4 (the curve, ECDSA), RFC 5280 (certificates), RFC 5480 and RFC 5915 (keys), X.690 (DER).
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
GENERATOR = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

SEQUENCE, SET, INTEGER, BIT_STRING, OCTET_STRING, OID, BOOLEAN = 0x30, 0x31, 0x02, 0x03, 0x04, 0x06, 0x01
UTF8, UTC_TIME = 0x0C, 0x17

VALID_FOR = timedelta(days=3650)

Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its private key, both as PEM."""

    certificate: str
    key: str


class Authority:
    """A certificate authority that exists in memory only."""

    def __init__(self, name: str, now: datetime) -> None:
        self._name = _name(name)
        self._key = _new_key()
        self._now = now
        self.certificate = _pem("CERTIFICATE", self._issue(self._name, _public(self._key), authority=True, hosts=()))

    def serve(self, *hosts: str) -> Certificate:
        """A server certificate for these DNS names and IP addresses."""
        key = _new_key()
        issued = self._issue(_name(hosts[0]), _public(key), authority=False, hosts=hosts)
        return Certificate(_pem("CERTIFICATE", issued), _pem("EC PRIVATE KEY", _private(key)))

    def _issue(self, subject: bytes, public: Point, *, authority: bool, hosts: tuple[str, ...]) -> bytes:
        validity = _der(SEQUENCE, _time(self._now - timedelta(minutes=5)), _time(self._now + VALID_FOR))
        algorithm = _der(SEQUENCE, _oid("1.2.840.10045.4.3.2"))  # ecdsa-with-SHA256
        point = b"\x04" + public[0].to_bytes(32, "big") + public[1].to_bytes(32, "big")
        curve = _der(SEQUENCE, _oid("1.2.840.10045.2.1"), _oid("1.2.840.10045.3.1.7"))
        body = _der(
            SEQUENCE,
            _der(0xA0, _integer(2)),  # version 3
            _integer(secrets.randbits(127) | 1),
            algorithm,
            self._name,
            validity,
            subject,
            _der(SEQUENCE, curve, _der(BIT_STRING, b"\0" + point)),
            _der(0xA3, _der(SEQUENCE, *self._extensions(point, authority=authority, hosts=hosts))),
        )
        return _der(SEQUENCE, body, algorithm, _der(BIT_STRING, b"\0" + _signature(self._key, body)))

    def _extensions(self, point: bytes, *, authority: bool, hosts: tuple[str, ...]) -> list[bytes]:
        own = _public(self._key)
        issuer = b"\x04" + own[0].to_bytes(32, "big") + own[1].to_bytes(32, "big")
        key_usage = b"\x01\x06" if authority else b"\x07\x80"  # sign certificates and CRLs, or digital signatures
        extensions = [
            _extension("2.5.29.19", _der(SEQUENCE, *([_der(BOOLEAN, b"\xff")] if authority else [])), critical=True),
            _extension("2.5.29.15", _der(BIT_STRING, key_usage), critical=True),
            _extension("2.5.29.14", _der(OCTET_STRING, _fingerprint(point))),
            _extension("2.5.29.35", _der(SEQUENCE, _der(0x80, _fingerprint(issuer)))),
        ]
        if hosts:
            names = _der(SEQUENCE, *(_general_name(host) for host in hosts))
            extensions.append(_extension("2.5.29.17", names))
            extensions.append(_extension("2.5.29.37", _der(SEQUENCE, _oid("1.3.6.1.5.5.7.3.1"))))
        return extensions


def _new_key() -> int:
    return secrets.randbelow(ORDER - 1) + 1


def _public(key: int) -> Point:
    point = _times(key, GENERATOR)
    assert point is not None, "0 < key < order"
    return point


def _add(one: Point | None, other: Point | None) -> Point | None:
    """The sum of two points of the curve; None is the point at infinity."""
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % P == 0:
            return None
        slope = 3 * (one[0] * one[0] - 1) * pow(2 * one[1], -1, P) % P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P) % P
    x = (slope * slope - one[0] - other[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def _times(factor: int, point: Point) -> Point | None:
    result: Point | None = None
    step: Point | None = point
    while factor:
        if factor & 1:
            result = _add(result, step)
        step = _add(step, step)
        factor >>= 1
    return result


def _signature(key: int, data: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(data).digest(), "big")
    while True:
        nonce = _new_key()
        r = _public(nonce)[0] % ORDER
        s = pow(nonce, -1, ORDER) * (digest + r * key) % ORDER
        if r and s:
            return _der(SEQUENCE, _integer(r), _integer(s))


def _private(key: int) -> bytes:
    public = _public(key)
    point = b"\0\x04" + public[0].to_bytes(32, "big") + public[1].to_bytes(32, "big")
    curve, encoded = _der(0xA0, _oid("1.2.840.10045.3.1.7")), _der(0xA1, _der(BIT_STRING, point))
    return _der(SEQUENCE, _integer(1), _der(OCTET_STRING, key.to_bytes(32, "big")), curve, encoded)


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def _integer(value: int) -> bytes:
    return _der(INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _oid(text: str) -> bytes:
    first, second, *rest = (int(part) for part in text.split("."))
    content = bytearray([40 * first + second])
    for part in rest:
        groups = [part & 0x7F]
        while part := part >> 7:
            groups.append(part & 0x7F | 0x80)
        content += bytes(reversed(groups))
    return _der(OID, bytes(content))


def _name(common_name: str) -> bytes:
    attribute = _der(SEQUENCE, _oid("2.5.4.3"), _der(UTF8, common_name.encode()))
    return _der(SEQUENCE, _der(SET, attribute))


def _time(moment: datetime) -> bytes:
    return _der(UTC_TIME, moment.astimezone(UTC).strftime("%y%m%d%H%M%SZ").encode())


def _extension(oid: str, value: bytes, *, critical: bool = False) -> bytes:
    marked = _der(BOOLEAN, b"\xff") if critical else b""
    return _der(SEQUENCE, _oid(oid), marked, _der(OCTET_STRING, value))


def _general_name(host: str) -> bytes:
    try:
        return _der(0x87, ipaddress.ip_address(host).packed)
    except ValueError:
        return _der(0x82, host.encode())


def _fingerprint(point: bytes) -> bytes:
    return hashlib.sha256(point).digest()[:20]


def _pem(label: str, der: bytes) -> str:
    text = base64.b64encode(der).decode()
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"
