"""Makes tools obey: an input that no verdict permits does not run, and a withheld result is not shown.

loop-basic, as other orchestrators, runs a tool with the input that it sent to its hooks, whatever they made of it,
and ignores a denied tool:post. amplifier-core drops a hook's changes where a later hook injects, and lets an event
pass whose handler was cancelled. So what the bus decided is enforced where the tool runs.
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
"""How many permissions of one tool are remembered."""


@dataclass(eq=False)
class Grant:
    """One permission to run a tool: for the input that was asked about, with what it became."""

    asked: str
    given: dict[str, Any]
    used: bool = False
    result: Any = None

    def permits(self, tool_input: str) -> bool:
        """Report whether a call's input is the one that was asked about, or the one that it became."""
        return tool_input in (self.asked, _text(self.given))


class ToolGuard:
    """The permissions of one session's tools."""

    def __init__(self, coordinator: Any, strict: bool) -> None:
        self._coordinator, self._strict = coordinator, strict
        self._grants: dict[str, deque[Grant]] = {}
        self._names: dict[int, tuple[Any, set[str]]] = {}  # by the tool's identity; it is kept alive

    def cover(self) -> None:
        """Guard the tools that are mounted now."""
        for name, tool in (self._coordinator.get("tools") or {}).items():
            self.covers(name, tool)

    def covers(self, name: str, tool: Any = None) -> bool:
        """Guard one tool; False where that can't be done."""
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
        """Remember what a verdict permits."""
        self._grants.setdefault(name, deque(maxlen=KEEP)).append(Grant(_text(asked), given))

    def take(self, tool: int, tool_input: Any) -> Grant | None:
        """Use up the permission for a call."""
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
        """Put another result in the place of the one that a tool gave; False where it is not known."""
        text = _text(tool_input)
        for grant in self._grants.get(name, ()):
            if grant.result is not None and grant.permits(text):
                old, grant.result = grant.result, None
                return _overwrite(old, result)
        return False

    def settle(self, name: str, tool_input: Any) -> None:
        """Forget a call that is over."""
        text, grants = _text(tool_input), self._grants.get(name)
        for grant in list(grants or ()):
            if grants is not None and grant.used and grant.permits(text):
                grants.remove(grant)
                return

    def revoke(self, name: str, tool_input: Any) -> None:
        """Take back the permissions that a call did not use, which another handler may have denied."""
        text = _text(tool_input)
        grants: deque[Grant] = self._grants.get(name, deque())
        for grant in [g for g in grants if not g.used and g.permits(text)]:
            grants.remove(grant)

    def forget(self) -> None:
        """Forget every permission: a new turn begins."""
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
    """Make the result of a tool that did not run, or whose result is withheld."""
    from amplifier_core import ToolResult

    text = f"Denied by hookrouter: {reason}"
    return ToolResult(success=False, output=text, error={"message": text})


def _overwrite(old: Any, new: Any) -> bool:
    """Change a ToolResult where it is: the orchestrator reads that one."""
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
