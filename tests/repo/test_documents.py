"""What files hold, where it stands, and what is said about them."""

from __future__ import annotations

import pytest

from kadm.errors import Location
from kadm.model.objects import Path
from kadm.repo.documents import read_documents
from tests.repo.reading import HEAD, document, read

TEMPLATE = "`{{ }}` is a template's: a Helm chart? kadm.yaml names the directory of its Chart.yaml, not its files"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param(
            "a: 1\nb:\n  c: 1\n  c: 2\nb: 3\n",
            [
                "error f.yaml:4:3: the key `c` is there twice: it stands first at 3:3 (remove one of them)",
                "error f.yaml:5:1: the key `b` is there twice: it stands first at 2:1 (remove one of them)",
            ],
            id="duplicate keys, all of them",
        ),
        pytest.param(
            "on: 1\ntrue: 2\n",
            [
                'warning f.yaml:1:1: the key `on` is read as "true" (put the key in quotes)',
                "error f.yaml:2:1: the key `true` is there twice: it stands first at 1:1 (remove one of them)",
            ],
            id="two spellings of one key",
        ),
        pytest.param(
            "a: [é, &x [*x]]\n",
            ["error f.yaml:1:12: the alias stands inside of what it repeats"],
            id="recursive alias, column in characters",
        ),
        pytest.param(
            "a: *x\n", ["error f.yaml:1:4: nothing that this alias names stands before it"], id="unknown alias"
        ),
        pytest.param("? [a]\n: 1\n", ["error f.yaml:1:3: a list or mapping cannot be a key"], id="complex key"),
        pytest.param(
            "~: 1\nb: .inf\n",
            [
                "error f.yaml:1:1: null cannot be a key (put the key in quotes)",
                "error f.yaml:2:4: JSON has no infinity and no NaN",
            ],
            id="faults that leave the rest readable",
        ),
        pytest.param(
            "- a\n",
            ["error f.yaml:1:1: a document must be an object, and this is a list (check the indentation)"],
            id="list",
        ),
        pytest.param(
            "# c\nweb\n",
            ["error f.yaml:2:1: a document must be an object, and this is a plain value (check the indentation)"],
            id="plain value",
        ),
        pytest.param(
            "a: 1\n...\n\n  b: 2\n",
            [
                (
                    "error f.yaml:4:3: text follows the document's end (`...`), and kubectl would leave it out"
                    " (begin the next document with `---`)"
                )
            ],
            id="text after the end",
        ),
        pytest.param(
            "a: 1\n--- b\nc: 1\n",
            [
                (
                    "error f.yaml:2:4: text stands behind `---`, on the line that separates documents"
                    " (begin it on the next line)"
                )
            ],
            id="text behind a separator",
        ),
        pytest.param(
            "# c\n%YAML 1.2\n---\na: 1\n",
            ["error f.yaml:2:1: a YAML directive (`%`), which kubectl refuses (remove the line)"],
            id="directive",
        ),
        pytest.param(
            b"a: 1\nb: \xe9\n",
            ["error f.yaml:2:4: no UTF-8 text: byte 0xe9 (save the file as UTF-8)"],
            id="Latin-1",
        ),
        pytest.param(
            "\ufeffa: 1\n".encode("utf-16-le"),
            ["error f.yaml:1:1: the file is written in UTF-16 (save it as UTF-8)"],
            id="UTF-16",
        ),
        pytest.param(
            "\ufeffé: 'é\x00'\n",
            ['error f.yaml:1:6: a control character, which YAML forbids (U+0000) (write an escape in " quotes)'],
            id="NUL after a byte order mark",
        ),
        pytest.param(
            "a: !!binary '//8='\n",
            ["error f.yaml:1:4: the !!binary value is no UTF-8 text, and JSON can hold nothing else"],
            id="binary data",
        ),
        pytest.param("a: !!int yes\n", ["error f.yaml:1:4: the text is no !!int"], id="value that contradicts its tag"),
        pytest.param(
            "a:\n\tb: 1\n",
            [
                (
                    "error f.yaml:2:1: no valid YAML: a plain value cannot begin with this character"
                    " (quote the value; indent with spaces, not tabs)"
                )
            ],
            id="tab",
        ),
        pytest.param(
            "a: b: c\n",
            [
                (
                    "error f.yaml:1:5: no valid YAML: a `:` stands where no key can be"
                    " (check the indentation, and quote a value that holds `: `)"
                )
            ],
            id="colon in a value",
        ),
        pytest.param(
            "a: {{ .Values.x }}\n",
            [f"error f.yaml:1:5: a list or mapping cannot be a key ({TEMPLATE})"],
            id="a placeholder of a template",
        ),
        pytest.param(
            "{{- if .Values.x }}\na: 1\n{{- end }}\n",
            [f"error f.yaml:1:2: a list or mapping cannot be a key ({TEMPLATE})"],
            id="a condition of a template",
        ),
        pytest.param(
            "---\na: 'x\nb: 1\n",
            ["error f.yaml:2:4: no valid YAML: the quote that opens here is never closed"],
            id="open quote, where it opens",
        ),
        pytest.param(
            "a: 1\n b: 2\n---\nc: [1\n---\nd: 4\n",
            [
                (
                    "error f.yaml:2:3: no valid YAML: a `:` stands where no key can be"
                    " (check the indentation, and quote a value that holds `: `)"
                ),
                (
                    "error f.yaml:5:1: no valid YAML: a list in brackets lacks a `,` or its `]`:"
                    " while parsing a flow sequence, which began on line 4"
                ),
            ],
            id="a fault in each of two documents",
        ),
        pytest.param(
            '{"a": 1,\n "a": 2}',
            ["error f.yaml:2:2: the key `a` is there twice: it stands first at 1:2 (remove one of them)"],
            id="duplicate key in JSON",
        ),
        pytest.param(
            '{"a": 1e400}',
            ["error f.yaml:1:1: no valid JSON: JSON has no infinity and no NaN"],
            id="number that JSON cannot hold",
        ),
    ],
)
def test_refusals(text: str | bytes, problems: list[str]) -> None:
    assert read(text)[1] == problems


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("yes", "true"),
        ("Off", "false"),
        ("N", "false"),
        ("True", "true"),
        ("~", "null"),
        ("NULL", "null"),
        ("0644", "420"),
        ("0o17", "15"),
        ("0x1F", "31"),
        ("0b11", "3"),
        ("1_000", "1000"),
        ("7e5", "700000"),
        ("+1", "1"),
        (".5", "0.5"),
        ("-0", ""),
        ("18446744073709551615", "1.8446744073709552e+19"),
        ("true", ""),
        ("null", ""),
        ("", ""),
        ("-12.50", ""),
        ("22:22", ""),
        ("2024-01-02", ""),
        ('"yes"', ""),
        ("!!bool yes", ""),
    ],
)
def test_what_does_not_read_as_written_is_warned_about(text: str, read_as: str) -> None:
    warning = f"warning f.yaml:1:4: `{text}` is read as {read_as} (put it in quotes if it means text)"
    assert read(f"a: {text}\n")[1] == ([warning] if read_as else [])


def test_a_merge_that_replaces_earlier_keys_is_warned_about() -> None:
    assert read("b: 2\n<<: {b: 1}\n") == (
        [{"b": 1}],
        [
            (
                "warning f.yaml:2:1: the merge replaces the key `b`, which stands before it"
                " (write `<<` first in its mapping; kubectl lets what stands later win)"
            )
        ],
    )


def test_a_file_has_a_bounded_number_of_findings() -> None:
    problems = read("a: [" + "yes, " * 1000 + "]\nb: .nan\n")[1]
    assert (len(problems), problems[-2:]) == (
        52,
        [
            "error f.yaml:2:4: JSON has no infinity and no NaN",
            "warning f.yaml:1:1: 950 more findings in this file are not listed",
        ],
    )


TEXT = """\
# first
---
---
apiVersion: v1   # é
spec:
  é: {a: 1, "b": [x, z]}
  list:
  - name: a
  - name: b
    "on": yes please
base: &base
  x: 1
merged:
  <<: *base
  z: 2
again: *base
"""


@pytest.mark.parametrize(
    ("path", "value_at", "key_at"),
    [
        pytest.param((), "4:1", "4:1", id="the document"),
        pytest.param(("apiVersion",), "4:13", "4:1", id="scalar"),
        pytest.param(("spec", "é", "a"), "6:10", "6:7", id="columns are characters"),
        pytest.param(("spec", "é", "b", 1), "6:22", "6:22", id="an item is its own key"),
        pytest.param(("spec", "list", 1, "on"), "10:11", "10:5", id="item of a list"),
        pytest.param(("spec", "list", 7, "name"), "8:3", "8:3", id="absent: the nearest value around it"),
        pytest.param(("spec", "other"), "6:3", "6:3", id="absent key"),
        pytest.param(("merged", "x"), "12:6", "12:3", id="a merged key stands where it is written"),
        pytest.param(("again", "x"), "12:6", "12:3", id="so does what an alias repeats"),
    ],
)
def test_positions(path: Path, value_at: str, key_at: str) -> None:
    file = document(TEXT)
    assert (str(file.locate(path)), str(file.locate(path, key=True))) == (f"f.yaml:{value_at}", f"f.yaml:{key_at}")


def test_json_has_positions_too() -> None:
    text = '{"a": {"b": 1}}\n  {"c":\n [2]} {"\\ud83d\\ude00": 3}'
    file = read_documents(text.encode(), "f.json")
    assert [(document.value, document.location) for document in file.documents] == [
        ({"a": {"b": 1}}, Location("f.json", 1, 1)),
        ({"c": [2]}, Location("f.json", 2, 3)),
        ({"😀": 3}, Location("f.json", 3, 7)),
    ]
    places = [
        file.documents[0].locate(("a", "b")),
        file.documents[1].locate(("c", 0)),
        file.documents[2].locate(("😀",)),
    ]
    assert places == [Location("f.json", 1, 13), Location("f.json", 3, 3), Location("f.json", 3, 7)]


def test_line_breaks_of_windows_and_a_byte_order_mark() -> None:
    text = "\ufeff" + (HEAD + "a: |\n  x\n  y\n---\n" + HEAD + "b: 1\n").replace("\n", "\r\n")
    file = read_documents(text.encode(), "f.yaml")
    assert [(one.value.get("a"), one.value.get("b"), str(one.location)) for one in file.documents] == [
        ("x\ny\n", None, "f.yaml:1:1"),
        (None, 1, "f.yaml:8:1"),
    ]


SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: x}
stringData:
  a: 0x5ec7e7
  b: !!int 5ec7e7
  c: *5ec7e7
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SECRET, id="alone"),
        pytest.param(SECRET.replace("  c: *5ec7e7\n", ""), id="readable to its end"),
        pytest.param("kind: List\nitems:\n- " + SECRET.rstrip().replace("\n", "\n  ") + "\n", id="in a list"),
        pytest.param(SECRET.replace("  b: !!int 5ec7e7\n  c: *5ec7e7", "  d: a\n  d: 5ec7e7: 5ec7e7"), id="syntax"),
        pytest.param(SECRET.replace("*5ec7e7", '"5ec7e7'), id="open quote"),
        pytest.param(SECRET.replace("*5ec7e7", '5ec7e7\x01"'), id="control character"),
    ],
)
def test_messages_never_quote_a_secret(text: str) -> None:
    problems = read(text)[1]
    assert (len(problems) > 0, [problem for problem in problems if "5ec7e7" in problem]) == (True, [])
