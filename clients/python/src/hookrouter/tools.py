"""Runs a tool call with its hooks: tool:pre, the tool, and tool:post or tool:error."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ._reply import shorten
from .errors import Denied, HookRouterError
from .events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from .verdict import Execution

T = TypeVar("T")
Execute = Callable[[str, Mapping[str, Any]], Awaitable[Execution]]

_MAX_MESSAGE = 64 << 10  # bytes: an error must not be too large for an event

log = logging.getLogger("hookrouter")


@dataclass
class ToolCall:
    """One call of a tool."""

    tool_name: str
    tool_input: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    """Further members of the events' data: tool_call_id, prompt_id and others."""

    @classmethod
    def of(cls, call: ToolCall | Mapping[str, Any]) -> ToolCall:
        """Copy a call, or create one from the data of a tool:pre."""
        if isinstance(call, ToolCall):
            return replace(call)
        rest = {name: value for name, value in call.items() if name not in ("tool_name", "tool_input")}
        return cls(call["tool_name"], dict(call.get("tool_input") or {}), rest)

    def data(self) -> dict[str, Any]:
        """Return the data of the call's events."""
        return {**self.fields, "tool_name": self.tool_name, "tool_input": self.tool_input}


async def run_tool(
    execute: Execute, call: ToolCall | Mapping[str, Any], fn: Callable[[dict[str, Any]], Awaitable[T] | T]
) -> T | Any:
    """Run a tool with its hooks and return its result.

    tool:pre decides whether fn is called, and with which input. tool:post may deny the result, or
    change it: then the changed result is returned. Denied and any other HookRouterError mean that
    the tool did not run, or that its result must not be used. If fn raises, tool:error is sent and
    the error is raised.
    """
    call = ToolCall.of(call)
    call.tool_input = await before_tool(execute, call)
    began = time.monotonic()
    try:
        result = fn(call.tool_input)
        if inspect.isawaitable(result):
            result = await result
    except Exception as error:
        await after_error(execute, call, error)
        raise
    return await after_tool(execute, call, result, time.monotonic() - began)


async def before_tool(execute: Execute, call: ToolCall) -> dict[str, Any]:
    """Ask whether a tool may run, and return its input; raise Denied if it may not."""
    verdict = await execute(TOOL_PRE, call.data())
    data = verdict.require()
    given = data.get("tool_input")
    if data.get("tool_name") != call.tool_name or not isinstance(given, dict):
        raise Denied(f"a hook changed the call of {call.tool_name} into one that this agent can't make", verdict)
    return given


async def after_tool(execute: Execute, call: ToolCall, result: Any, seconds: float, *, success: bool = True) -> Any:
    """Report the result of a tool, and return it as changed by hooks. success says whether the tool
    succeeded."""
    sent = result if isinstance(result, dict) else {"output": result}
    data = {**call.data(), "tool_result": sent, "success": success, "duration_ms": round(seconds * 1000)}
    try:
        heard = (await execute(TOOL_POST, data)).require().get("tool_result")
    except (HookRouterError, ValueError) as error:
        error.add_note("the tool has run; its result must not be used")
        raise
    if heard == sent:
        return result
    if not isinstance(result, dict) and isinstance(heard, dict) and heard.keys() == {"output"}:
        return heard["output"]
    return heard


async def after_error(execute: Execute, call: ToolCall, error: BaseException) -> None:
    """Report that a tool failed. Errors of the report are only logged."""
    failure = {"type": type(error).__name__, "message": shorten(str(error), _MAX_MESSAGE)}
    try:
        await execute(TOOL_ERROR, {**call.data(), "error": failure})
    except (HookRouterError, ValueError) as lost:
        log.warning("tool:error of %s could not be sent: %s", call.tool_name, lost)
