"""Captures the output of a hook's call until its result says whether to show it."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, TextIO


class _Stream:
    """A replacement for sys.stdout or sys.stderr that separates the output of calls."""

    def __init__(self, real: TextIO) -> None:
        self.real = real

    def write(self, text: str) -> int:
        output = _output.get()
        return self.real.write(text) if output is None or output.over else output.text.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class Output:
    """The output of one call."""

    def __init__(self) -> None:
        self.text = io.StringIO()
        self.hidden = False  # rather than shown in the end
        self.over = False  # the call; a task that it left behind prints at once


_output: ContextVar[Output | None] = ContextVar("hookrouter_output", default=None)
_ignored = Output()
_calls = 0


@contextlib.contextmanager
def captured(on: bool) -> Iterator[Output]:
    """Capture the output of this task; at the end, show it unless it is suppressed.

    Does nothing unless on is set. If the program replaces sys.stdout meanwhile, its own stays.
    """
    global _calls
    output = _ignored
    if not on:
        yield output
        return
    output = Output()
    if _calls == 0:
        sys.stdout, sys.stderr = _Stream(sys.stdout), _Stream(sys.stderr)
    _calls += 1
    token = _output.set(output)
    try:
        yield output
    finally:
        _output.reset(token)
        output.over = True
        _calls -= 1
        if _calls == 0:
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if isinstance(stream, _Stream):
                    setattr(sys, name, stream.real)
        if not output.hidden:
            with contextlib.suppress(Exception):  # an agent must not end a hook with a text that stdout can't show
                sys.stdout.write(output.text.getvalue())
