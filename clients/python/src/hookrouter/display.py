"""Messages of hooks on a terminal."""

from __future__ import annotations

import sys
import unicodedata
from typing import Literal, TextIO


class TerminalDisplay:
    r"""Shows messages as lines of text: `[warning] hook:path-guard: this file is generated`.

    The text is untrusted: control characters, bidirectional controls and invisible characters are
    escaped, such as \x1b, and further lines are indented, so that they can't imitate another
    message.
    """

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out

    def show_message(self, message: str, level: Literal["info", "warning", "error"], source: str = "hook") -> None:
        """Write one message with a single write."""
        out = self._out or sys.stderr
        out.write(f"[{visible(level, ' ')}] {visible(source, ' ')}: {visible(message)}\n")
        out.flush()


def visible(text: str, newline: str = "\n    ") -> str:
    """Escape characters that a terminal would interpret or not show."""
    text = text.rstrip("\r\n").replace("\r\n", "\n")
    return "".join(_visible(c, newline) for c in text)


def _visible(c: str, newline: str) -> str:
    if c == "\n":
        return newline
    if c in "\t\u200c\u200d":  # joiners belong to letters and emoji
        return c
    kind = unicodedata.category(c)
    if kind == "Cc":
        return f"\\x{ord(c):02x}"
    if kind in ("Cf", "Zl", "Zp", "Cs"):
        return f"\\u{{{ord(c):04x}}}"
    return c
