"""Claude Agent SDK: its hooks, which block on failure.

options = ClaudeAgentOptions(hooks=RouterHooks().matchers())
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any

from claude_agent_sdk import HookMatcher

from ..errors import Denied
from ._hooks import Hooks, ToolFailed


class RouterHooks:
    """Lets a router decide on prompts and tool calls; options are those of Hooks.

    timeout is how many seconds the program waits for an answer, including that of a person; then it
    blocks.
    """

    def __init__(self, *, timeout: float = 3600.0, **options: Any) -> None:
        self.hooks, self._timeout = Hooks("claude-agent-sdk", **options), timeout

    def matchers(self) -> dict[Any, list[Any]]:
        """Return the hooks for ClaudeAgentOptions."""
        every = {
            "UserPromptSubmit": self.prompt,
            "PreToolUse": self.before,
            "PostToolUse": self.after,
            "PostToolUseFailure": self.failed,
            "PreSkillShellCommand": self.skill_command,  # ignored by Claude Code before 2.1.332
            "ConfigChange": self.config_change,
        }
        return {
            event: [HookMatcher(hooks=[hook], timeout=self._timeout, on_failure="block")]
            for event, hook in every.items()
        }

    async def prompt(self, told: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Ask about the prompt."""
        try:
            prompt = await self.hooks.prompt(told["session_id"], told["prompt"])
            if prompt.text != told["prompt"]:
                raise Denied("The prompt was denied: hooks changed it, which Claude Code does not take")
        except Denied as denied:
            return {"decision": "block", "reason": str(denied)}
        return _said("UserPromptSubmit", prompt.heard.text)

    async def before(self, told: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Ask whether a tool may run. The program's own rules still apply: this allows nothing."""
        session = told["session_id"]
        outcome = await self.hooks.before(session, _call(told))
        if outcome.denied:
            decision = {"permissionDecision": "deny", "permissionDecisionReason": outcome.refusal}
            return _said("PreToolUse", "", **decision)
        text = outcome.text
        outcome.heard.clear()
        self.hooks.remember(outcome, session, told["tool_use_id"])
        given = outcome.call.tool_input
        return _said("PreToolUse", text, **({"updatedInput": given} if given != told["tool_input"] else {}))

    async def after(self, told: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Report the result of a tool."""
        session, result = told["session_id"], told["tool_response"]
        outcome = self.hooks.recall(told["tool_name"], told.get("tool_input"), session, told["tool_use_id"])
        if not outcome.denied:
            await self.hooks.after(session, outcome, result)
        if outcome.changed and not _takes(told["tool_name"], result, outcome.result):
            outcome.denied = "The result was withheld: hooks changed its form, which Claude Code does not take"
        if outcome.denied:
            answer = _said("PostToolUse", outcome.text, updatedToolOutput=_withheld(told["tool_name"], result))
            return {**answer, "decision": "block", "reason": outcome.denied}
        return _said("PostToolUse", outcome.text, **({"updatedToolOutput": outcome.result} if outcome.changed else {}))

    async def failed(self, told: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Report that a tool failed."""
        session, error = told["session_id"], told["error"]
        outcome = self.hooks.recall(told["tool_name"], told.get("tool_input"), session, told["tool_use_id"])
        await self.hooks.failed(session, outcome, ToolFailed(None, str(error)))
        return _said("PostToolUseFailure", outcome.text)

    async def skill_command(self, told: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Ask whether a shell command in the text of a skill may run."""
        denied = await self._denial(told, _call(told))
        decision = {"permissionDecision": "deny", "permissionDecisionReason": denied}
        return _said("PreSkillShellCommand", "", **(decision if denied else {}))

    async def config_change(self, told: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Ask whether changed settings or skills may take effect: as about a call that writes to the file."""
        path = told.get("file_path") or "~/.claude/settings.json"
        denied = await self._denial(
            told, {**_call(told), "tool_name": "ConfigChange", "tool_input": {"file_path": path}}
        )
        return {"decision": "block", "reason": denied} if denied else {}

    async def _denial(self, told: Any, call: dict[str, Any]) -> str:
        """Ask about a call whose input Claude Code does not let hooks change; return the denial, or nothing."""
        outcome = await self.hooks.before(told["session_id"], call)
        if not outcome.denied and outcome.call.tool_input != call["tool_input"]:
            outcome.denied = "The call was denied: hooks changed it, which Claude Code does not take"
        return outcome.refusal if outcome.denied else ""


def _call(told: Any) -> dict[str, Any]:
    return {name: told[member] for name, member in _NAMES.items() if member in told}


_NAMES = {"tool_name": "tool_name", "tool_input": "tool_input", "tool_call_id": "tool_use_id", "cwd": "cwd"}


def _said(event: str, text: str, **more: Any) -> dict[str, Any]:
    """Return an answer; without members, it has no effect."""
    said = {**({"additionalContext": text} if text else {}), **more}
    return {"hookSpecificOutput": {"hookEventName": event, **said}} if said else {}


_KINDS = {"type", "mode", "status", "cellType", "cell_type", "output_type", "edit_mode", "language", "service_tier"}
"""Members whose values are keywords of a schema."""
_WORD = re.compile(r"[A-Za-z][\w/.+-]{0,31}")
_EMPTY_FILE = {"filePath": "", "content": "", "numLines": 0, "startLine": 1, "totalLines": 0}


def _withheld(tool: str, value: Any) -> Any:
    """Return a result without its texts. Claude Code shows the original if the form is not that of
    the tool."""
    if tool.startswith("mcp__"):
        return [{"type": "text", "text": ""}] if isinstance(value, list) else _blank(value)
    if tool == "Read" and isinstance(value, dict):  # also for images and documents, whose data must not be empty
        return {"type": "text", "file": _EMPTY_FILE}
    return _blank(value, _KINDS)


def _takes(tool: str, result: Any, changed: Any) -> bool:
    """Tell whether Claude Code takes a changed result: it checks those of its own tools."""
    return tool.startswith("mcp__") or _same_form(result, changed)


def _same_form(was: Any, now: Any) -> bool:
    """Tell whether two JSON values have the same members, types and keywords; lists may differ in length."""
    if isinstance(was, dict):
        return (
            isinstance(now, dict)
            and was.keys() == now.keys()
            and all(
                _same_form(member, now[name]) and (now[name] == member or not _keyword(name, member, _KINDS))
                for name, member in was.items()
            )
        )
    if isinstance(was, list):
        return isinstance(now, list) and all(
            (i < len(was) and _same_form(was[i], one)) or any(_same_form(other, one) for other in was)
            for i, one in enumerate(now)
        )
    numbers = isinstance(was, (int, float)) and isinstance(now, (int, float))
    return type(was) is type(now) or (numbers and not isinstance(was, bool) and not isinstance(now, bool))


def _keyword(name: str, member: Any, kinds: Set[str]) -> bool:
    return name in kinds and isinstance(member, str) and _WORD.fullmatch(member) is not None


def _blank(value: Any, kinds: Set[str] = frozenset()) -> Any:
    """Remove all texts from a result, except schema keywords."""
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return {
            name: member if _keyword(name, member, kinds) else _blank(member, kinds) for name, member in value.items()
        }
    return [_blank(one, kinds) for one in value] if isinstance(value, list) else value
