"""JSON for the wire protocol: values are exact, and values that Python can't represent are errors."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

MAX_DEPTH = 200
"""The maximum nesting of a value with a BeyondFloat: more than the protocol allows."""
_SPACE = re.compile(r"[ \t\r\n]*")


class BeyondFloat(float):
    """A number beyond the range of floats. It compares as infinite, and is encoded with its
    original digits."""

    text: str

    def __new__(cls, text: str) -> BeyondFloat:
        self = super().__new__(cls, "-inf" if text.startswith("-") else "inf")
        self.text = text
        return self

    def __getnewargs__(self) -> Any:  # for copies
        return (self.text,)

    def __repr__(self) -> str:
        return self.text


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is beyond the range of a float")
    return number


def _any_float(text: str) -> float:
    number = float(text)
    return BeyondFloat(text) if number in (float("inf"), float("-inf")) else number


def _any_int(text: str) -> int | float:
    return BeyondFloat(text) if len(text) > (sys.get_int_max_str_digits() or 4300) else int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members. Duplicate names are an error, since parsers could choose
    different values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it has the name {next(n for n in names if names.count(n) > 1)[:80]!r} twice")
    return found


_decoder = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
_reader = json.JSONDecoder(
    parse_constant=_refuse, parse_float=_any_float, parse_int=_any_int, object_pairs_hook=_unique
)
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def decode(text: bytes | str) -> Any:
    """Parse a JSON document; ValueError if it is invalid. A number beyond the range of floats
    becomes a BeyondFloat."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        try:
            return _decoder.decode(text)
        except ValueError:
            return _reader.decode(text)
    except RecursionError:
        raise ValueError("the JSON nests too deep") from None


def encode(value: Any, errors: str = "strict") -> bytes:
    """Encode a value; ValueError if JSON can't represent it.

    With errors="backslashreplace", a lone surrogate is encoded as its escape.
    """
    try:
        try:
            text = _encoder.encode(value)
        except ValueError:
            text = _written(value)
        return text.encode("utf-8", errors)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"it can't be written as JSON: {error}") from None


def _written(value: Any, depth: int = 0) -> str:
    """Encode a value that may contain a BeyondFloat."""
    if isinstance(value, BeyondFloat):
        return value.text
    if depth > MAX_DEPTH:
        raise ValueError("it nests too deep, or contains itself")
    if isinstance(value, dict):
        # [1:-2] of {"name":0} is the name as JSON has it
        return "{" + ",".join(_encoder.encode({n: 0})[1:-2] + _written(v, depth + 1) for n, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_written(one, depth + 1) for one in value) + "]"
    return _encoder.encode(value)


def encode_ascii(value: Any) -> str:
    """Encode a value for a header."""
    try:
        return _ascii.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"it can't be written as JSON: {error}") from None


def members(body: bytes) -> dict[str, tuple[Any, str]]:
    """Parse a JSON object: its members, each with its value and the text of the value."""
    try:
        return _members(body.decode("utf-8"))
    except RecursionError:
        raise ValueError("the JSON nests too deep") from None


def _members(text: str) -> dict[str, tuple[Any, str]]:
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("it is not a JSON object")
    found: dict[str, tuple[Any, str]] = {}
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return _end(text, at, found)
    while True:
        if text[at : at + 1] != '"':
            raise ValueError(f"a name is missing at character {at}")
        name, at = _decoder.raw_decode(text, at)
        if name in found:
            raise ValueError(f"it has the name {name[:80]!r} twice")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"a colon is missing at character {at}")
        start = _skip(text, at + 1)
        value, at = _decoder.raw_decode(text, start)
        found[name] = value, text[start:at]
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return _end(text, at, found)
        if text[at : at + 1] != ",":
            raise ValueError(f"a comma is missing at character {at}")
        at = _skip(text, at + 1)


def _end(text: str, at: int, found: dict[str, tuple[Any, str]]) -> dict[str, tuple[Any, str]]:
    if _skip(text, at + 1) != len(text):
        raise ValueError("something follows the JSON object")
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
