"""A member's answer that is no success, as an error that says what, where, why and what to do.

Values of Secrets never come through: what the API server says about a Secret is reduced to the path of the field, for
its messages quote values (``expected string, got …{Value:987654}``).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from kadm.errors import MemberRefused
from kadm.model.objects import JsonObject

_MANIFEST_FAULTS = ("failed to create typed", "failed to convert")
_SECRETS = re.compile(r"/api/v1/(?:watch/)?(?:namespaces/[^/]+/)?secrets(?:/|$)")
_QUOTES_NOTHING = re.compile(
    r'secrets(?: "[^"]*")? is forbidden: User "[^"]*" cannot [a-z]+ resource "secrets" in API group ""'
    r'(?: in the namespace "[^"]*"| at the cluster scope)?'
    r'|secrets "[^"]*" (?:not found|already exists)'
    r'|namespaces "[^"]*" not found'
    r'|admission webhook "[^"]*" does not support dry run'
)
"""Messages about Secrets that hold names alone: they say what somebody must do, and code tells cases apart by them."""
_DENIED = re.compile(
    r'admission webhook "[^"]*" denied the request'
    r"|secrets \"[^\"]*\" is forbidden: ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request"
)
"""Who denied a Secret: the words of whoever wrote the policy come after it."""
_REASONS = {
    "FieldValueRequired": "it is required",
    "FieldValueInvalid": "it is invalid",
    "FieldValueForbidden": "it is forbidden",
    "FieldValueNotSupported": "it is not supported",
    "FieldValueDuplicate": "it is there twice",
    "FieldValueTooLong": "it is too long",
}
_SECRET_FIELD = re.compile(r"\.(?:data|stringData)(?:\.[-._a-zA-Z0-9]+)?")
_READS = ("GET", "HEAD")
_LONGEST_WHY = 600
_LONGEST_VALUE = 80
_INVALID = re.compile(r"Invalid value: (?=[\w.*]*\{)")
_NO_PERMISSION = re.compile(
    r'user "[^"]*" cannot '
    r'|user "[^"]*" \(groups=.*\) is attempting to grant ',  # RBAC lets nobody give what they do not have
    re.IGNORECASE,
)
"""What authorization says, with 403. Any other 403 is one of admission: the credential lacks nothing."""
_ADMISSION_HINTS = {
    "exceeded quota: ": "raise this ResourceQuota in the member, or ask for less",
    "failed quota: ": "raise this ResourceQuota in the member, or ask for less",
    "because it is being terminated": "wait until the namespace is gone, then apply again; its status.conditions say "
    "what it waits for",
}
"""What admission plugins say, with 403, and what to do about it."""
_ADMISSION_HINT = "the member's admission refuses it: change the manifest, or what forbids it there"

_HINTS = {
    401: "the member does not accept this credential: renew it, or check the context",
    403: "grant this permission to the credential's user in the member",
    410: "the member has forgotten this version: read again",
    500: "the member's own fault: try again, or look at the log of its API server",
    429: "the member is overloaded or limits this client: try again later, or lower --parallel",
}


class ManifestRefused(MemberRefused):
    """The member cannot read the object as its kind at all: the manifest's fault, whatever is tried again.

    API servers answer 500 without a reason here: unknown fields, wrong types, duplicate keys of a list.
    """

    @property
    def blames_member(self) -> bool:
        return False


def is_secret_path(path: str) -> bool:
    """Whether a request's path names Secrets, one or many."""
    return _SECRETS.search(path) is not None


def refusal(
    *, status: int, text: bytes, path: str, method: str, member: str, about: str = "", hint: str = ""
) -> MemberRefused:
    """The error for one answer. ``about`` names the object (empty: the path does), ``hint`` replaces the usual one."""
    body = _status_object(text)
    message = str(body.get("message") or "") if body is not None else _plain_text(text)
    reason = str(body.get("reason") or "") if body is not None else ""
    fault = status == 500 and not reason and message.startswith(_MANIFEST_FAULTS)
    if status == 403 and body is not None and _is_of_admission(message, method):
        hint = next((told for words, told in _ADMISSION_HINTS.items() if words in message), _ADMISSION_HINT)
    if is_secret_path(path):
        message = _masked(message, _told_by_causes(body), fault=fault)
        body = None if body is None else _masked_status(body, message)
    error = ManifestRefused if fault else MemberRefused
    return error(
        _what(status, reason, method, fault=fault),
        status=status,
        reason=reason,
        body=body,
        member=member,
        object=about or path.partition("?")[0],
        why=_without_dumps(message)[:_LONGEST_WHY],
        hint=hint or ("" if fault else _HINTS.get(status, "")),
    )


def is_not_found(refused: MemberRefused) -> bool:
    """Whether the member says that the object asked for does not exist.

    A 404 without a Status object means something else (a type that is not served, a proxy in between) and is no proof
    of absence.
    """
    return refused.status == 404 and refused.reason == "NotFound" and refused.body is not None


def missing_namespace(refused: MemberRefused) -> bool:
    """Whether a write failed because its namespace does not exist."""
    details = refused.body.get("details") if refused.body else None
    return is_not_found(refused) and isinstance(details, dict) and details.get("kind") == "namespaces"


def _without_dumps(message: str) -> str:
    """The message without whole structs among its values: what is wrong with them comes after them."""
    parts, rest = [], message
    while found := _INVALID.search(rest):
        end = _end_of_braces(rest, found.end())
        value = rest[found.end() : end]
        parts += [rest[: found.end()], value if len(value) <= _LONGEST_VALUE else "{…}"]
        rest = rest[end:]
    return "".join(parts) + rest


def _end_of_braces(text: str, start: int) -> int:
    """Where the value ends that begins at ``start`` with a name, if any, and a brace; ``start`` where it does not end.

    JSON of newer servers, Go syntax of older ones.
    """
    depth, quoted, escaped = 0, False, False
    for place in range(text.index("{", start), len(text)):
        sign = text[place]
        if escaped or (quoted and sign == "\\"):
            escaped = not escaped
        elif sign == '"':
            quoted = not quoted
        elif not quoted:
            depth += (sign == "{") - (sign == "}")
            if depth == 0:
                return place + 1
    return start


def _is_of_admission(message: str, method: str) -> bool:
    return method not in _READS and bool(message) and not _NO_PERMISSION.search(message)


def _what(status: int, reason: str, method: str, *, fault: bool) -> str:
    if fault:
        return "the manifest does not fit its kind in this member"
    verb = "read" if method in _READS else "write"
    words = {
        400: f"the member rejected the {verb} as malformed",
        401: "not authenticated",
        403: f"{verb} forbidden",
        404: "not found",
        409: "conflict",
        410: "gone",
        413: "the object is too large",
        415: "the member does not know this kind of patch",
        422: "the object is invalid",
        429: "too many requests",
        500: f"the member failed to {verb}",
        503: "the member is not available",
        504: "the member timed out inside",
    }
    if 300 <= status < 400:
        return f"the member redirects elsewhere ({status}): this is not an API server, or a login stands in front of it"
    text = words.get(status, f"the member answered {status}")
    return f"{text} ({status} {reason})" if reason else f"{text} ({status})" if str(status) not in text else text


def _status_object(text: bytes) -> JsonObject | None:
    """The Kubernetes Status in the answer, or None where it holds none."""
    try:
        body: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return body if isinstance(body, dict) and body.get("kind") == "Status" else None


def _plain_text(text: bytes) -> str:
    """The first line of an answer that is no Status; nothing of a page of HTML, which says nothing here."""
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return "" if not lines or lines[0].lstrip().startswith("<") else lines[0].strip()


def _told_by_causes(body: JsonObject | None) -> str:
    """The fields of a Secret that are wrong, and in which way: their own words for it may quote values."""
    details = body.get("details") if body is not None else None
    causes = details.get("causes") if isinstance(details, dict) else None
    told = [
        f"{cause.get('field')}: {_REASONS[cause['reason']]}"
        for cause in (causes if isinstance(causes, list) else ())
        if isinstance(cause, dict) and cause.get("reason") in _REASONS and str(cause.get("field") or "")[:1].isalpha()
    ]
    return ", ".join(dict.fromkeys(told))


def _masked(message: str, causes: str, *, fault: bool) -> str:
    if harmless := _QUOTES_NOTHING.match(message):
        return harmless[0]
    if denied := _DENIED.match(message):
        return f"{denied[0]} (the rest is hidden: it may quote the Secret)"
    if causes and not fault:
        return f"{causes} (the rest is hidden: it may quote the Secret)"
    field = _SECRET_FIELD.search(message)
    what = message.partition(" (")[0].partition(":")[0] if fault else ""
    place = f"at {field[0]}" if field else ""
    told = ": ".join(part for part in (what, place) if part)
    return f"{told} (the rest is hidden: it may quote the Secret)".lstrip() if message else ""


def _masked_status(body: JsonObject, message: str) -> JsonObject:
    """The Status without texts: causes keep their field and reason, conflicts also who holds the field."""
    masked: JsonObject = {key: body[key] for key in ("kind", "apiVersion", "status", "reason", "code") if key in body}
    masked["message"] = message
    details = body.get("details")
    if isinstance(details, dict):
        kept = {key: details[key] for key in ("name", "group", "kind", "uid", "retryAfterSeconds") if key in details}
        causes = details.get("causes")
        if isinstance(causes, list):
            kept["causes"] = [
                {key: cause[key] for key in _harmless_keys(cause) if key in cause}
                for cause in causes
                if isinstance(cause, dict)
            ]
        masked["details"] = kept
    return masked


def _harmless_keys(cause: JsonObject) -> tuple[str, ...]:
    """What of a cause quotes no value. A conflict's message is the name of the manager that holds the field."""
    conflict = cause.get("reason") == "FieldManagerConflict"
    return ("reason", "field", "message") if conflict else ("reason", "field")
