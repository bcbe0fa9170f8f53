"""JSON values as YAML text that kubectl, PyYAML and ruamel.yaml read back as the same values.

The three disagree about plain scalars (YAML 1.1 as Go has it, 1.1, and 1.2). So a string is written plain only where
none of them could see anything but text; all others are quoted, and text of several lines is a literal block where it
survives one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from kadm.model.objects import JsonObject, JsonValue

_PLAIN = re.compile(
    r"[A-Za-z/][A-Za-z0-9_./@+-]*(?:[:=][A-Za-z0-9_./@+-]+)*(?: [A-Za-z0-9(][A-Za-z0-9_./@+()-]*)*"
    r"|[0-9]+(?:\.[0-9]+)?(?:m|k|Ki|M|Mi|G|Gi|T|Ti)"  # quantities; exponents are numbers to some reader
)
_WORDS = re.compile(r"y|n|yes|no|true|false|on|off|null|nan|inf", re.IGNORECASE)
# NEL, LS, PS and the byte order mark are line breaks or nothing to some reader; the rest is what YAML calls printable.
_LITERAL = re.compile(r"[\n\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LONGEST_KEY = 1000
"""Parsers look 1024 characters ahead for the colon of a key; a longer one is written behind a ``?``."""


def to_yaml(obj: JsonObject) -> str:
    """``obj`` as a YAML document without separator lines, keys in the order that they have, ending in a line break.

    Raises ValueError for what JSON cannot hold: NaN, infinities, lone surrogates.
    """
    return "".join(_mapping(obj, "")) if obj else "{}\n"


def _mapping(obj: JsonObject, indent: str) -> Iterator[str]:
    """The lines of a mapping that is not empty, the first one without its indent."""
    lead = ""
    for key, value in obj.items():
        name = _one_line(key)
        if len(name) > _LONGEST_KEY:
            yield f"{lead}? {name}\n{indent}:"
        else:
            yield f"{lead}{name}:"
        lead = indent
        if isinstance(value, dict) and value:
            yield f"\n{indent}  "
            yield from _mapping(value, indent + "  ")
        elif isinstance(value, list) and value:
            yield f"\n{indent}"
            yield from _items(value, indent)
        else:
            yield f" {_leaf(value, indent)}\n"


def _items(items: list[JsonValue], indent: str) -> Iterator[str]:
    """The lines of a list that is not empty, the first one without its indent."""
    lead = ""
    for item in items:
        yield f"{lead}- "
        lead = indent
        if isinstance(item, dict) and item:
            yield from _mapping(item, indent + "  ")
        elif isinstance(item, list) and item:
            yield from _items(item, indent + "  ")
        else:
            yield f"{_leaf(item, indent)}\n"


def _leaf(value: JsonValue, indent: str) -> str:
    """What has no lines of its own, less the last line break. ``indent`` is that of the line it stands on."""
    if isinstance(value, str):
        return _block(value, indent + "  ") if _survives_as_block(value) else _one_line(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    return "{}" if isinstance(value, dict) else "[]"


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("JSON has no infinity and no NaN")
    mantissa, mark, exponent = repr(value).partition("e")
    if not mark:
        return mantissa
    # PyYAML sees a number only where there is a point, and a sign in the exponent.
    sign = "" if exponent[0] in "+-" else "+"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{sign}{exponent}"


def _one_line(text: str) -> str:
    if _PLAIN.fullmatch(text) and not _WORDS.fullmatch(text):
        return text
    return _ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("JSON text has no lone surrogates")
    return f"\\u{code:04x}"


def _survives_as_block(text: str) -> bool:
    """Whether every reader returns ``text`` from a literal block without an indentation indicator."""
    if "\n" not in text or text[0] in " \n\t" or not _LITERAL.fullmatch(text):
        return False
    return not any(line.isspace() for line in text.split("\n"))


def _block(text: str, indent: str) -> str:
    """``text`` as a literal block, less its last line break."""
    content = text.rstrip("\n")
    breaks = len(text) - len(content)
    lines = "\n".join(indent + line if line else "" for line in content.split("\n"))
    return f"|{'-' if breaks == 0 else '' if breaks == 1 else '+'}\n{lines}" + "\n" * max(breaks - 1, 0)
