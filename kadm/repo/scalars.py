"""What one YAML scalar means, read as kubectl reads it.

kubectl reads YAML with a Go parser that follows YAML 1.1 for booleans, octal numbers and ``_``, leaves base 60 and
dates as text, and turns the result into JSON, where every number is an int64 or a double. Source: kubectl's answers,
recorded in the golden file of this package's tests.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from datetime import date
from decimal import Decimal

from kadm.model.objects import JsonValue

ScalarValue = bool | int | float | str | None
"""What a scalar means to YAML: integers without limit, floats with NaN and infinities."""

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
_UINT64_MAX = 2**64 - 1

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}

_FIRST_OF_NUMBER = frozenset("+-.0123456789")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_POINT_FLOAT = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)"
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*))"
)
_SINGLE = struct.Struct("<f")
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_EXPECTED = re.compile(r"true|false|null||-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?")
_TIMESTAMP = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:Z|[-+][0-9]{2}:[0-9]{2}))"
    r"|(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?))?"
)

_STANDARD = "tag:yaml.org,2002:"
MERGE_TAG = _STANDARD + "merge"


class ScalarError(ValueError):
    """The scalar contradicts its tag, or JSON cannot hold it. The message does not quote it, for it may be secret."""


def plain_scalar(text: str) -> ScalarValue:
    """The value of a scalar written without quotes and without a tag. NaN and infinities are returned as floats."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first not in _FIRST_OF_NUMBER:
        return text
    number: int | float | None
    if first == ".":
        number = float(text.replace("_", "")) if _POINT_FLOAT.fullmatch(text) else None
    else:
        number = _number(text.replace("_", ""))
    # Go reports a float out of range as an error, and the text then stays text.
    return text if number is None or number in (math.inf, -math.inf) else number


def tagged_scalar(tag: str, text: str) -> ScalarValue:
    """The value of a scalar with an explicit ``tag``, in its long form, quoted or not. Foreign tags leave text.

    Raises ScalarError where the text is nothing of that tag.
    """
    name = tag.removeprefix(_STANDARD) if tag.startswith(_STANDARD) else ""
    if name == "binary":
        return _binary_text(text)
    if name not in ("bool", "int", "float", "null", "timestamp"):
        return text
    if name == "timestamp" and _is_timestamp(text):
        return text
    value = plain_scalar(text)
    if name == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    found = _kind(value)
    if found != name:
        raise ScalarError(f"the text is no !!{name}")
    return value


def json_scalar(value: ScalarValue) -> JsonValue:
    """``value`` as an API server receives it: an integer of 64 bits where one has that value, else a double.

    So ``1.0`` is 1, and integers beyond 64 bits lose digits. Raises ScalarError for NaN and infinities.
    """
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            raise ScalarError("JSON has no infinity and no NaN")
        return _whole(value)
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        return _whole(float(value))
    return value


def key_scalar(value: ScalarValue) -> str:
    """``value`` as the key of a JSON object. Raises ScalarError where kubectl has none: null, integers above int64."""
    if isinstance(value, str):
        return value
    if value is None:
        raise ScalarError("null cannot be a key")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_key(value)
    if value > INT64_MAX:
        raise ScalarError("the key is an integer beyond 64 bits")
    return str(value)


def reads_as_written(text: str) -> bool:
    """Whether a plain scalar that is no text is written in one of the ways that every YAML reader reads alike.

    These are ``true``, ``false``, ``null``, nothing at all, integers of 64 bits in decimal, and decimal fractions.
    """
    if not _EXPECTED.fullmatch(text):
        return False
    return "." in text or not text.strip("-").isdecimal() or INT64_MIN <= int(text) <= INT64_MAX


def _number(text: str) -> int | float | None:
    """Integer, else float, else None, of ``text`` without underscores."""
    if text.startswith(("0b-", "0b+")) and _INTEGER.fullmatch(text[2:]):
        text = text[2] + "0b" + text[3:]  # the Go parser reads what follows its own ``0b`` as a signed number
    if match := _INTEGER.fullmatch(text):
        base = match.lastgroup or ""
        digits = match[base]
        # 22 octal and 64 binary digits make 64 bits; int() of long digit strings is quadratic.
        if len(digits.lstrip("0")) <= 64:
            number = int(match["sign"] + (digits.lstrip("0") or "0"), _BASES[base])
            # Beyond int64 an integer is unsigned, and the grammar of unsigned ones has no sign.
            if INT64_MIN <= number <= INT64_MAX or (not match["sign"] and number <= _UINT64_MAX):
                return number
    return float(text) if _FLOAT.fullmatch(text) else None


def _kind(value: ScalarValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "str"


def _is_timestamp(text: str) -> bool:
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        return False
    try:
        date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return False
    return True


def _binary_text(text: str) -> str:
    try:
        data = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        raise ScalarError("the !!binary value is no base64") from None
    try:
        return data.decode()
    except UnicodeDecodeError:
        # kubectl goes on here, with U+FFFD in place of the bytes.
        raise ScalarError("the !!binary value is no UTF-8 text, and JSON can hold nothing else") from None


def _whole(value: float) -> int | float:
    """The integer that the shortest decimal text of ``value`` states, if it has no exponent and fits an int64."""
    if not value.is_integer() or abs(value) >= 1e21:
        return value
    # Decimal, because the shortest text of a large double ends in zeros that its exact value has not.
    number = int(Decimal(repr(value)))
    return number if INT64_MIN <= number <= INT64_MAX else value


def _float_key(value: float) -> str:
    """The text of a float key: the shortest that a float of 32 bits needs, in Go's format ``g``.

    kubectl formats float keys with 32 bits, so that large ones become ``.inf`` and long ones lose digits.
    """
    try:
        single: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        single = math.copysign(math.inf, value)
    if math.isnan(single):
        return ".nan"
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    packed = _SINGLE.pack(single)
    text = next(text for text in (f"{single:.{n}e}" for n in range(9)) if _SINGLE.pack(float(text)) == packed)
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    digits, power = mantissa.strip("-").replace(".", ""), int(exponent)
    if power < -4 or power >= 6:
        fraction = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole, fraction = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return sign + whole + ("." + fraction if fraction else "")
