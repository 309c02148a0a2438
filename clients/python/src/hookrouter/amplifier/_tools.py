"""Enforces verdicts at tools: an input without a permission does not run, and a withheld result is
not shown.

loop-basic, like other orchestrators, runs a tool with the input that it sent to its hooks, ignores
their changes, and ignores a denied tool:post. amplifier-core drops a hook's changes if a later hook
injects context, and lets an event pass if its handler was cancelled. So the decision of the bus is
enforced where the tool runs.
"""

from __future__ import annotations

import functools
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

log = logging.getLogger("hookrouter.amplifier")
KEEP = 64
"""The maximum number of stored permissions of one tool."""


@dataclass(eq=False)
class Grant:
    """A permission to run a tool: the input that was asked about, and the input as changed by
    hooks."""

    asked: str
    given: dict[str, Any]
    used: bool = False
    result: Any = None

    def permits(self, tool_input: str) -> bool:
        """Report whether a call's input is the one that was asked about or the changed one."""
        return tool_input in (self.asked, _text(self.given))


class ToolGuard:
    """The permissions of one session's tools."""

    def __init__(self, coordinator: Any, strict: bool) -> None:
        self._coordinator, self._strict = coordinator, strict
        self._grants: dict[str, deque[Grant]] = {}
        self._names: dict[int, tuple[Any, set[str]]] = {}  # by the tool's id(); the tool is kept alive

    def cover(self) -> None:
        """Guard all currently mounted tools."""
        for name, tool in (self._coordinator.get("tools") or {}).items():
            self.covers(name, tool)

    def covers(self, name: str, tool: Any = None) -> bool:
        """Guard one tool; False if that is not possible."""
        tool = tool if tool is not None else (self._coordinator.get("tools") or {}).get(name)
        if tool is None:
            return True  # nothing can run
        known = self._names.get(id(tool))
        if known is not None:
            known[1].add(name)
            return True
        try:
            guards = getattr(tool.execute, "_hookrouter_guards", None)
            if guards is None:
                guards = []
                tool.execute = _guarded(tool.execute, guards)
            guards.append((self, id(tool)))
        except (AttributeError, TypeError) as error:
            log.warning("tool %s can't be guarded (%s): its input can't be changed", name, error)
            return False
        self._names[id(tool)] = tool, {name}
        return True

    def permit(self, name: str, asked: Any, given: dict[str, Any]) -> None:
        """Store the permission of a verdict."""
        self._grants.setdefault(name, deque(maxlen=KEEP)).append(Grant(_text(asked), given))

    def take(self, tool: int, tool_input: Any) -> Grant | None:
        """Consume the permission for a call."""
        text = _text(tool_input)
        for name in self._names[tool][1]:
            for grant in self._grants.get(name, ()):
                if not grant.used and grant.permits(text):
                    grant.used = True
                    return grant
        return None

    @property
    def strict(self) -> bool:
        """Whether a call without a permission is refused."""
        return self._strict

    def replace(self, name: str, tool_input: Any, result: Any) -> bool:
        """Replace the result of a tool; False if the result is not known."""
        text = _text(tool_input)
        for grant in self._grants.get(name, ()):
            if grant.result is not None and grant.permits(text):
                old, grant.result = grant.result, None
                return _overwrite(old, result)
        return False

    def settle(self, name: str, tool_input: Any) -> None:
        """Delete the record of a completed call."""
        text, grants = _text(tool_input), self._grants.get(name)
        for grant in list(grants or ()):
            if grants is not None and grant.used and grant.permits(text):
                grants.remove(grant)
                return

    def revoke(self, name: str, tool_input: Any) -> None:
        """Revoke the unused permissions of a call, which another handler may have denied."""
        text = _text(tool_input)
        grants: deque[Grant] = self._grants.get(name, deque())
        for grant in [g for g in grants if not g.used and g.permits(text)]:
            grants.remove(grant)

    def forget(self) -> None:
        """Delete all permissions, since a new turn starts."""
        self._grants.clear()

    def release(self) -> None:
        """Stop guarding."""
        for tool, _ in self._names.values():
            guards = getattr(tool.execute, "_hookrouter_guards", [])
            guards[:] = [one for one in guards if one[0] is not self]
        self._names.clear()


def _guarded(execute: Callable[..., Any], guards: list[tuple[ToolGuard, int]]) -> Callable[..., Any]:
    @functools.wraps(execute)
    async def guarded(tool_input: Any = None, *args: Any, **options: Any) -> Any:
        if tool_input is None and "input" in options:
            tool_input = options.pop("input")
        grant = next((g for guard, tool in guards if (g := guard.take(tool, tool_input)) is not None), None)
        if grant is None:
            if any(guard.strict for guard, _ in guards):
                return refusal("no verdict on a tool:pre permits this call")
            return await execute(tool_input, *args, **options)
        grant.result = await execute(grant.given, *args, **options)
        return grant.result

    guarded._hookrouter_guards = guards  # type: ignore[attr-defined]
    return guarded


def refusal(reason: str) -> Any:
    """Return the result for a tool that did not run, or whose result is withheld."""
    from amplifier_core import ToolResult

    text = f"Denied by hookrouter: {reason}"
    return ToolResult(success=False, output=text, error={"message": text})


def _overwrite(old: Any, new: Any) -> bool:
    """Change a ToolResult in place, since the orchestrator reads that object."""
    parts = new if isinstance(new, dict) and "output" in new else {"output": new}
    try:
        old.content = None
        old.output = parts["output"]
        old.error = parts.get("error")
        old.success = bool(parts.get("success", old.success))
    except (AttributeError, TypeError, ValueError) as error:
        log.warning("a tool's result can't be replaced: %s", error)
        return False
    return True


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
