"""An object of another tool, taken apart field by field. What nobody takes is noted: nothing is dropped in silence."""

from __future__ import annotations

from typing import TypeVar

from kadm.model.objects import JsonObject, JsonValue

T = TypeVar("T", str, int, bool)

NO_COUNTERPART = "has no counterpart, and is left out"


class Fields:
    """The fields of one object. ``notes`` is shared with the objects inside of it."""

    def __init__(self, value: JsonObject, path: str, notes: list[str]) -> None:
        self.path = path
        self.notes = notes
        self._left = dict(value)

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        return self._scalar(name, str, default)

    def flag(self, name: str) -> bool:
        """A bool; absent ones are False."""
        return self._scalar(name, bool, False)

    def number(self, name: str) -> int | None:
        """A whole number, None where it is absent."""
        return None if self._left.get(name) is None else self._scalar(name, int, 0)

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        return [one for one in self._list(name) if isinstance(one, str)]

    def map(self, name: str) -> dict[str, str]:
        """A map of texts."""
        value = self._left.pop(name, None)
        found = {}
        for key, one in value.items() if isinstance(value, dict) else ():
            if isinstance(one, str):
                found[str(key)] = one
            else:
                self.notes.append(f"{self._inner(name)}.{key} is no text, and is left out")
        return found

    def any(self, name: str) -> JsonValue:
        """Whatever it is; None where it is absent."""
        return self._left.pop(name, None)

    def has(self, name: str) -> bool:
        """Whether the field is there and says something."""
        return self._left.get(name) not in (None, {}, [], "")

    def part(self, name: str) -> Fields:
        """An object inside; an absent one has no fields."""
        value = self._left.pop(name, None)
        return Fields(value if isinstance(value, dict) else {}, self._inner(name), self.notes)

    def parts(self, name: str) -> list[Fields]:
        """The objects of a list."""
        return [
            Fields(one, f"{self._inner(name)}[{index}]", self.notes)
            for index, one in enumerate(self._list(name))
            if isinstance(one, dict)
        ]

    def note(self, name: str, text: str) -> None:
        """Note something about a field, which counts as taken."""
        self._left.pop(name, None)
        self.notes.append(f"{self._inner(name)} {text}")

    def close(self) -> None:
        """Note every field that nobody took."""
        for name in sorted(self._left):
            if self.has(name) and self._left[name] is not False:
                self.note(name, NO_COUNTERPART)

    def _scalar(self, name: str, kind: type[T], default: T) -> T:
        value = self._left.pop(name, None)
        if value is None:
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.notes.append(f"{self._inner(name)} is no {kind.__name__}, and is left out")
            return default
        return value

    def _list(self, name: str) -> list[JsonValue]:
        value = self._left.pop(name, None)
        return value if isinstance(value, list) else []

    def _inner(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name
