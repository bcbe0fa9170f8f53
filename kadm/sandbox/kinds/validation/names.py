"""What may stand as a name, a label, a port name, …, and the texts that say why something may not.

Each function returns the texts of all faults, none if the value is right. Source: apimachinery ``util/validation`` and
``api/validation`` at 1.36; RFC 1123 and RFC 6335 behind them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

NameRule = Callable[[str], tuple[str, ...]]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"

_LABEL_RE, _SUBDOMAIN_RE = re.compile(_LABEL), re.compile(_SUBDOMAIN)
_QUALIFIED_RE, _LABEL_VALUE_RE, _CONFIG_KEY_RE = (
    re.compile(_QUALIFIED),
    re.compile(_LABEL_VALUE),
    re.compile(_CONFIG_KEY),
)
_WILDCARD_RE = re.compile(rf"\*\.{_SUBDOMAIN}")
_PORT_NAME_RE = re.compile("[-a-z0-9]+")
_ENV_NAME_RE = re.compile("[ -<>-~]+")

_ALNUM = "must start and end with an alphanumeric character"
_LABEL_TEXT = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ALNUM} "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_TEXT = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {_ALNUM} "
    f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
    rf"regex used for validation is '\*\.{_SUBDOMAIN}')"
)
_QUALIFIED_TEXT = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_ALNUM} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
_LABEL_VALUE_TEXT = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {_ALNUM} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
)
_CONFIG_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    f"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_ENV_NAME_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"

_MAX_LABEL = 63
_MAX_SUBDOMAIN = 253
_MAX_PORT_NAME = 15


@lru_cache(maxsize=4096)
def dns_label(value: str) -> tuple[str, ...]:
    """RFC 1123 label."""
    faults = []
    if len(value) > _MAX_LABEL:
        faults.append(f"must be no more than {_MAX_LABEL} characters")
    if not _LABEL_RE.fullmatch(value):
        faults.append("must not contain dots" if _SUBDOMAIN_RE.fullmatch(value) else _LABEL_TEXT)
    return tuple(faults)


@lru_cache(maxsize=4096)
def dns_subdomain(value: str) -> tuple[str, ...]:
    """RFC 1123 subdomain: labels joined by dots."""
    faults = []
    if len(value) > _MAX_SUBDOMAIN:
        faults.append(f"must be no more than {_MAX_SUBDOMAIN} characters")
    if not _SUBDOMAIN_RE.fullmatch(value):
        faults.append(_SUBDOMAIN_TEXT)
    return tuple(faults)


def wildcard_subdomain(value: str) -> tuple[str, ...]:
    """``*.`` and a subdomain."""
    return () if _WILDCARD_RE.fullmatch(value) else (_WILDCARD_TEXT,)


def path_segment(value: str) -> tuple[str, ...]:
    """Anything that can be one segment of a URL path; names of RBAC objects."""
    if value in (".", ".."):
        return (f"may not be '{value}'",)
    return tuple(f"may not contain '{mark}'" for mark in ("/", "%") if mark in value)


@lru_cache(maxsize=4096)
def qualified_name(value: str) -> tuple[str, ...]:
    """Key of a label: an optional subdomain and ``/``, then the name part."""
    prefix, slash, name = value.partition("/")
    if not slash:
        prefix, name = "", value
    elif "/" in name:
        extra = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a qualified name {_QUALIFIED_TEXT} {extra}",)
    faults = []
    if slash:
        if not prefix:
            faults.append("prefix part must be non-empty")
        else:
            faults += [f"prefix part {fault}" for fault in dns_subdomain(prefix)]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name) > _MAX_LABEL:
        faults.append(f"name part must be no more than {_MAX_LABEL} bytes")
    if not _QUALIFIED_RE.fullmatch(name):
        faults.append(f"name part {_QUALIFIED_TEXT}")
    return tuple(faults)


@lru_cache(maxsize=4096)
def label_value(value: str) -> tuple[str, ...]:
    """Value of a label."""
    faults = []
    if len(value) > _MAX_LABEL:
        faults.append(f"must be no more than {_MAX_LABEL} bytes")
    if not _LABEL_VALUE_RE.fullmatch(value):
        faults.append(_LABEL_VALUE_TEXT)
    return tuple(faults)


def config_key(value: str) -> tuple[str, ...]:
    """Key in the data of a ConfigMap or Secret."""
    faults = []
    if len(value) > _MAX_SUBDOMAIN:
        faults.append(f"must be no more than {_MAX_SUBDOMAIN} characters")
    if not _CONFIG_KEY_RE.fullmatch(value):
        faults.append(_CONFIG_KEY_TEXT)
    elif value in (".", ".."):
        faults.append(f"must not be '{value}'")
    elif value.startswith(".."):
        faults.append("must not start with '..'")
    return tuple(faults)


def env_name(value: str) -> tuple[str, ...]:
    """Name of an environment variable."""
    return () if _ENV_NAME_RE.fullmatch(value) else (_ENV_NAME_TEXT,)


def port_number(value: int) -> tuple[str, ...]:
    """Number of a port."""
    return () if 1 <= value <= 65535 else ("must be between 1 and 65535, inclusive",)


def port_name(value: str) -> tuple[str, ...]:
    """IANA service name (RFC 6335)."""
    faults = []
    if len(value) > _MAX_PORT_NAME:
        faults.append(f"must be no more than {_MAX_PORT_NAME} characters")
    if not _PORT_NAME_RE.fullmatch(value):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any(mark.isalpha() for mark in value):
        faults.append("must contain at least one letter (a-z)")
    if "--" in value:
        faults.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        faults.append("must not begin or end with a hyphen")
    return tuple(faults)
