"""Calls one handler of a hosted module."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable
from typing import Any

from .. import _output
from ..models import HookResult
from ._approval import Ask
from ._coordinator import Ongoing, Refused, ongoing

log = logging.getLogger("hookrouter.amplifier")
MAX_SHOWN = 4096
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


async def run(handler: Callable[..., Any], event: str, data: dict[str, Any]) -> Any:
    """Call a handler as amplifier-core does. Its output is for the session's user."""
    now = Ongoing()
    token = ongoing.set(now)
    value, failed = None, None
    try:
        with _output.captured(True) as output:
            output.hidden = True
            value = handler(event, data)
            if inspect.isawaitable(value):
                value = await value
    except (Ask, Exception) as error:
        failed = error
    finally:
        ongoing.reset(token)
    if now.asked and getattr(value, "action", "") != "deny":  # a handler may have caught the Ask
        return now.asked[0].result()
    if failed is not None:
        raise failed
    if now.refused:
        raise Refused(now.refused[0].call)
    try:
        result = HookResult() if value is None else HookResult.of(value)
    except (ValueError, TypeError) as error:
        log.warning("a handler of %s returned what is not a HookResult: %s", event, error)
        return HookResult(action="deny", reason="Hook handler returned invalid response")
    return _with_output(_joined(result), [*now.shown, (output.text.getvalue(), "info")])


def _joined(result: HookResult) -> HookResult:
    """Join the injections in a handler's result as amplifier-core does, since a hook on the bus has
    only one."""
    if listed := result.context_injections:
        result.context_injections = None
        result.context_injection = "\n\n".join(one.content for one in listed)
        result.context_injection_role = listed[0].role
        result.ephemeral = any(one.ephemeral for one in listed)
        result.append_to_last_tool_result = any(one.append_to_last_tool_result for one in listed)
    return result


def _with_output(result: HookResult, shown: list[tuple[str, str]]) -> HookResult:
    text = "\n".join(_TERMINAL.sub("", message).strip("\n") for message, _ in shown).strip("\n")
    if text and not result.user_message and not result.suppress_output:
        result.user_message = text[:MAX_SHOWN]
        level: Any = shown[0][1]
        result.user_message_level = level if level in ("info", "warning", "error") else "info"
    return result
