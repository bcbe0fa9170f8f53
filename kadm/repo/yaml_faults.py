"""libyaml's complaints, as problems that a person can act on."""

from __future__ import annotations

import yaml
from yaml.reader import ReaderError

from kadm.errors import Problem
from kadm.repo.source import Source

_WORDED: dict[str, tuple[str, str]] = {
    "mapping values are not allowed in this context": (
        "a `:` stands where no key can be",
        "check the indentation, and quote a value that holds `: `",
    ),
    "mapping keys are not allowed in this context": ("a `?` stands where no key can be", "quote the text"),
    "did not find expected key": ("the line does not line up with the keys around it", "check the indentation"),
    "did not find expected '-' indicator": (
        "the line does not line up with the list around it",
        "check the indentation and the `-`",
    ),
    "block sequence entries are not allowed in this context": ("a `-` stands where no list can be", "start a new line"),
    "block mapping entries are not allowed in this context": ("a `?` stands where no key can be", "quote the text"),
    "could not find expected ':'": ("a key without `:`", "a line of text over several lines needs quotes or `|`"),
    "found character that cannot start any token": (
        "a plain value cannot begin with this character",
        "quote the value; indent with spaces, not tabs",
    ),
    "found undefined tag handle": ("the tag's prefix is not known", "quote a value that begins with `!`"),
    "found unexpected end of stream": ("the quote that opens here is never closed", ""),
    "found unexpected document indicator": ("the document ends inside a quoted text", "close the quote"),
    "did not find expected ',' or ']'": ("a list in brackets lacks a `,` or its `]`", ""),
    "did not find expected ',' or '}'": ("a mapping in braces lacks a `,` or its `}`", ""),
    "found unknown escape character": ("no escape that YAML knows", "write `\\\\` for a backslash, or use ' quotes"),
    "found invalid Unicode character escape code": ("the escape names no character", ""),
    "did not find expected hexdecimal number": ("the escape needs hexadecimal digits", ""),
    "did not find expected alphabetic or numeric character": (
        "an anchor or alias needs a name of letters, digits, `-` and `_`",
        "quote a value that begins with `*` or `&`",
    ),
    "found a tab character where an indentation space is expected": ("a tab in the indentation", "indent with spaces"),
    "found a tab character that violates indentation": ("a tab in the indentation", "indent with spaces"),
    "did not find expected comment or line break": ("nothing but a comment may follow here", "start a new line"),
    "did not find expected <document start>": (
        "the text goes on after the document's end",
        "check the indentation, or begin the next document with `---`",
    ),
    "exceeded maximum nesting depth": ("nested too deep", ""),
    "did not find expected node content": ("a value is missing here", ""),
    "did not find expected whitespace or line break": ("a space is missing after the tag or anchor", ""),
    "control characters are not allowed": ("a control character, which YAML forbids", 'write an escape in " quotes'),
}

# For these the place where the trouble began says more than the place where it was noticed.
_BEGINS_AT_CONTEXT = {"found unexpected end of stream", "could not find expected ':'"}


def syntax_problem(fault: yaml.YAMLError, source: Source) -> Problem:
    """The one problem that ``fault``, raised while reading ``source``, stands for."""
    if isinstance(fault, ReaderError):
        reason = str(fault.reason)
        what, hint = _WORDED.get(reason, (reason, ""))
        code = fault.character if isinstance(fault.character, int) else ord(fault.character)
        where = source.at_byte(fault.position)
        return Problem(what=f"{what} (U+{code:04X})", where=where, hint=hint)
    if not isinstance(fault, yaml.MarkedYAMLError):
        return Problem(what="the YAML cannot be read", where=source.start, why=str(fault))
    reason = fault.problem or "cannot be read"
    what, hint = _WORDED.get(reason, (reason, ""))
    mark = fault.problem_mark
    why = ""
    if fault.context_mark is not None:
        if mark is None or reason in _BEGINS_AT_CONTEXT:
            mark = fault.context_mark
        elif fault.context and fault.context_mark.line != mark.line:
            began = source.at(fault.context_mark.line, fault.context_mark.column)
            why = f"{fault.context}, which began on line {began.line}"
    where = source.at(mark.line, mark.column) if mark is not None else source.start
    return Problem(what=f"no valid YAML: {what}", where=where, why=why, hint=hint)
