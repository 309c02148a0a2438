"""OpenAI Agents SDK: function tools with hooks, and a run configuration that asks about the prompt.

    hooks = RouterHooks()
    result = await Runner.run(hooks.guard(agent), prompt, run_config=hooks.run_config("session-1"))

The SDK's guardrails can refuse a tool's input but not change it, so the tools themselves are
wrapped.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from agents import Agent, FunctionTool, RunConfig
from agents.run import ModelInputData

from ..errors import Denied
from ._hooks import MAX_OPEN, Hooks, Prompt, joined

_ROLES = {"system": "developer", "user": "user", "assistant": "assistant"}


class RouterHooks:
    """Lets a router decide on prompts and tool calls; options are those of Hooks."""

    def __init__(self, **options: Any) -> None:
        self.hooks = Hooks("openai-agents", **options)
        self._changed: dict[tuple[str, str], str] = {}  # by session and prompt: the SDK's session keeps the original

    def guard(self, agent: Any) -> Any:
        """Return the agent, and those that it hands over to, with hooks around their tools.

        ValueError if an agent has tools that can't be gated: hosted tools of the model's provider,
        MCP servers (use hook-agent mcp-proxy), a shell, a computer, ready-made handoffs, the
        capabilities of a SandboxAgent.
        """
        return self._guarded(agent, {})

    def run_config(self, session: str = "", **options: Any) -> Any:
        """Return the configuration of one run, which asks about its prompt; a denied prompt raises
        Denied."""
        if options.get("call_model_input_filter") is not None:
            raise ValueError("run_config: call_model_input_filter is taken by the hooks")
        if options.get("nest_handoff_history"):
            raise ValueError("run_config: nest_handoff_history would repeat a prompt as it was before hooks changed it")
        options.setdefault("group_id", session or None)
        return RunConfig(call_model_input_filter=_Turn(self.hooks, session, self._changed).prepare, **options)

    def _guarded(self, agent: Any, done: dict[int, Any]) -> Any:
        if id(agent) in done:
            return done[id(agent)]
        odd = [type(tool).__name__ for tool in agent.tools if not isinstance(tool, FunctionTool)]
        odd += [type(server).__name__ for server in agent.mcp_servers]
        odd += [type(capability).__name__ for capability in getattr(agent, "capabilities", [])]
        odd += [type(handoff).__name__ for handoff in agent.handoffs if not isinstance(handoff, Agent)]
        if odd:
            raise ValueError(f"agent {agent.name!r} has what can't be put behind hooks: {', '.join(odd)}")
        new = agent.clone(tools=[self.tool(tool) for tool in agent.tools], mcp_servers=[])  # a clone shares other lists
        done[id(agent)] = new
        new.handoffs = [self._guarded(other, done) for other in agent.handoffs]
        return new

    def tool(self, tool: Any) -> Any:
        """Return a function tool with hooks."""

        async def invoke(ctx: Any, arguments: str) -> Any:
            try:
                given = json.loads(arguments or "{}")
            except ValueError:
                return f"The call of {tool.name} was denied: its input is not JSON"
            session = getattr(getattr(ctx, "run_config", None), "group_id", None) or ""
            call = {"tool_name": tool.name, "tool_input": given, "tool_call_id": getattr(ctx, "tool_call_id", "")}

            def run(new: dict[str, Any]) -> Any:
                ctx.tool_arguments = json.dumps(new)  # tools may read them there
                return tool.on_invoke_tool(ctx, ctx.tool_arguments)

            outcome = await self.hooks.tool(session, call, run)
            if outcome.denied:
                return outcome.refusal
            shown = outcome.judged  # the model would get the str() of an object, which hooks did not see
            if not outcome.text:
                return shown
            return joined(shown if isinstance(shown, str) else str(shown), outcome.text)

        return dataclasses.replace(tool, on_invoke_tool=invoke)


class _Turn:
    """The state of one run: the outcome for its prompt."""

    def __init__(self, hooks: Hooks, session: str, changed: dict[tuple[str, str], str]) -> None:
        self._hooks, self._session, self._changed = hooks, session, changed
        self._prompt: Prompt | None = None

    async def prepare(self, call: Any) -> Any:
        """Add the context that hooks added at the prompts to a request."""
        items = list(call.model_data.input)
        if last := _last(items):  # a configuration may serve several runs
            await self._ask(last)
        items = [self._as_changed(item) for item in items]  # of a run that is resumed too
        heard = self._prompt.heard if self._prompt else []
        items += [{"role": _ROLES[m["role"]], "content": m["content"]} for m in heard]
        return ModelInputData(input=items, instructions=call.model_data.instructions)

    async def _ask(self, last: list[Any]) -> None:
        asked = joined(*(_text(item) for item in last))
        self._prompt = await self._hooks.prompt(self._session, asked)
        self._changed.pop((self._session, asked), None)
        if self._prompt.text == asked:
            return
        if not asked or all(_text(item) != asked for item in last):
            raise Denied("The prompt was denied: hooks changed it, and it is not one text")
        self._changed[self._session, asked] = self._prompt.text
        if len(self._changed) > MAX_OPEN:
            self._changed.pop(next(iter(self._changed)))

    def _as_changed(self, item: Any) -> Any:
        given = self._changed.get((self._session, _text(item)))
        return item if given is None else {**item, "content": given}


def _last(items: list[Any]) -> list[Any]:
    """Return the last message of the user. Instructions or the start of an answer may follow it."""
    last: list[Any] = []
    for item in reversed(items):
        if item.get("role") == "user":
            last.insert(0, item)
        elif item.get("role") not in ("system", "developer", *([] if last else ["assistant"])):
            break
    return last


def _text(item: Any) -> str:
    """Return the text of a user's message."""
    if item.get("role") != "user":
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    return joined(*(part.get("text", "") for part in content or [] if part.get("type") == "input_text"))
