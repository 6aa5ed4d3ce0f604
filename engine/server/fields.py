"""Fields of a request: JSON that anybody may have written, read with one sentence for each thing that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite

from engine.json_text import read_json
from engine.sentences import legible
from engine.server.refusal import Refused

_LONGEST_NAME = 100
_LEAST_WHOLE, _MOST_WHOLE = -(1 << 63), (1 << 64) - 1


class Fields:
    """The fields of one object.

    Args:
        values: The object.
        place: Name of the object in the request; empty for the request itself.

    A field that is null counts as missing. A field of another type raises `Refused`.
    """

    def __init__(self, values: Mapping[str, object], place: str = "") -> None:
        self._values = values
        self._place = place

    @classmethod
    def of_body(cls, body: bytes) -> Fields:
        """Read the fields of a request's body."""
        try:
            values = read_json(body, _whole)
        except ValueError as error:
            raise Refused(400, "The body is not JSON: send one JSON object in UTF-8.") from error
        if not isinstance(values, dict):
            raise Refused(400, "The body is JSON, but not an object: send one JSON object.")
        try:
            json.dumps(values, allow_nan=False)
        except ValueError as error:
            name = str(legible(_endless("", values)))[:_LONGEST_NAME]
            raise Refused(400, f"The field {name} must be a finite number.", name) from error
        return cls(values)

    def with_value(self, field: str, objects: Sequence[Fields]) -> Fields:
        """Return the same object with these objects for a field."""
        return Fields({**self._values, field: [one._values for one in objects]}, self._place)

    def name(self, field: str) -> str:
        """Return a field's name in the request."""
        return f"{self._place}.{field}" if self._place else field

    def names(self) -> Iterable[str]:
        """Return the names of the fields that are there."""
        return list(self.values)

    @property
    def values(self) -> Mapping[str, object]:
        """All fields as they are, without those that are null."""
        return {name: value for name, value in self._values.items() if value is not None}

    def value(self, field: str) -> object:
        """Return a field as it is; None if it is not there."""
        return self._values.get(field)

    def has(self, path: str) -> bool:
        """Return whether a field is there, by the names that lead to it, with dots between them."""
        found: object = self._values
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found is not None

    def text(self, field: str) -> str | None:
        """Return a field that is a text."""
        value = self.value(field)
        if value is None or isinstance(value, str):
            return value
        raise self.wrong(field, "a text")

    def switch(self, field: str, default: bool = False) -> bool:
        """Return a field that is true or false; the default if it is not there."""
        value = self.value(field)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        raise self.wrong(field, "true or false")

    def number(self, field: str, least: float = -inf, most: float = inf) -> float | None:
        """Return a field that is a number between two others."""
        value = self.value(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(field, "a number")
        if not least <= value <= most:
            raise self.wrong(field, f"a number from {least:g} to {most:g}")
        try:
            return float(value)
        except OverflowError as error:
            raise self.wrong(field, "a finite number") from error

    def whole(self, field: str, least: int = _LEAST_WHOLE, most: int = _MOST_WHOLE) -> int | None:
        """Return a field that is a whole number between two others."""
        value = self.value(field)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.wrong(field, "a whole number")
        if value is not None and not least <= value <= most:
            bounds = "of 64 bits" if value > most or least == _LEAST_WHOLE else f"from {least} on"
            if most != _MOST_WHOLE:
                bounds = f"from {least} to {most}"
            raise self.wrong(field, f"a whole number {bounds}")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a field that is a text or a list of texts; empty if it is not there."""
        value = self.value(field)
        if value is None:
            return ()
        found = [value] if isinstance(value, str) else value
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return tuple(found)
        raise self.wrong(field, "a text or a list of texts")

    def inner(self, field: str) -> Fields:
        """Return a field that is an object; one without fields if it is not there."""
        value = self.value(field)
        if value is None or isinstance(value, dict):
            return Fields(value or {}, self.name(field))
        raise self.wrong(field, "an object")

    def objects(self, field: str) -> list[Fields]:
        """Return a field that is a list of objects; empty if it is not there."""
        value = self.value(field)
        if value is None:
            return []
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            return [Fields(one, f"{self.name(field)}[{at}]") for at, one in enumerate(value)]
        raise self.wrong(field, "a list of objects")

    def need(self, field: str) -> None:
        """Refuse a request without this field."""
        if self.value(field) is None:
            name = self.name(field)
            raise Refused(400, f"The field {name} is missing: send it.", name)

    def wrong(self, field: str, wanted: str) -> Refused:
        """Return the refusal of a field that must be something else."""
        name = self.name(field)
        return Refused(400, f"The field {name} must be {wanted}.", name)

    def one_of(self, field: str, choices: Iterable[str]) -> str | None:
        """Return a field that is one of some words."""
        value = self.text(field)
        if value is None or value in choices:
            return value
        raise self.wrong(field, f"one of {', '.join(choices)}")

    def refuse(self, sentences: Mapping[str, str]) -> None:
        """Refuse fields for what the server does not have; false, 0 and empty values ask for nothing."""
        for field, sentence in sentences.items():
            if self.value(field) not in (None, False, 0, "", [], {}):
                raise Refused(400, sentence, self.name(field), "not_supported")


def _whole(digits: str) -> float:
    """Return a whole number; infinity if it has more digits than Python reads."""
    try:
        return int(digits)
    except ValueError:
        return inf


def _endless(name: str, value: object) -> str | None:
    """Return the name of the first number in a value that is not finite; None if all are."""
    if isinstance(value, float):
        return None if isfinite(value) else name
    inner: Iterable[tuple[str, object]] = ()
    if isinstance(value, dict):
        inner = ((f"{name}.{field}" if name else field, of) for field, of in value.items())
    elif isinstance(value, list):
        inner = ((f"{name}[{at}]", of) for at, of in enumerate(value))
    return next((found for found in (_endless(*one) for one in inner) if found is not None), None)
