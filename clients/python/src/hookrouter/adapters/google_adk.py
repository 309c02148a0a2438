"""Google's Agent Development Kit: a plugin.

    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin()])

Give it as the last plugin, so that no other one changes a tool's input after the hooks have seen
it. An agent's callbacks still run after it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.load_artifacts_tool import LoadArtifactsTool
from google.adk.tools.load_mcp_resource_tool import LoadMcpResourceTool
from google.genai import types

from ..errors import Denied
from ..tools import ToolCall
from ._hooks import Hooks, Outcome, joined

_UNSEEN = (LoadArtifactsTool, LoadMcpResourceTool)
"""Tools whose result names what the SDK then adds to the request, where no hook sees it."""


class HookPlugin(BasePlugin):
    """Lets a router decide on prompts and tool calls; options are those of Hooks.

    The session is the runner's. A denied prompt raises before it is stored.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(name="hookrouter")
        self.hooks = Hooks("google-adk", **options)

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        """Ask about the prompt."""
        parts = list(user_message.parts or [])
        if all(part.function_response for part in parts):  # the result of a tool that took long
            return None
        texts = [part for part in parts if part.text]
        asked = joined(*(part.text for part in texts))
        prompt = await self.hooks.prompt(invocation_context.session.id, asked)
        if prompt.text != asked:
            if len(texts) != 1:
                raise Denied("The prompt was denied: hooks changed it, and it is not one text")
            parts = [types.Part(text=prompt.text) if part is texts[0] else part for part in parts]
        if prompt.heard:
            parts.append(types.Part(text=prompt.heard.text))
        return types.Content(role=user_message.role, parts=parts)

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Refuse run_live, since its prompts go to the model without a call of a plugin."""
        if invocation_context.live_request_queue is not None:
            raise Denied("run_live was denied: its prompts can't be put behind hooks; use run_async")

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Refuse an agent that runs code from the model's text, since it calls no tool that could
        be gated."""
        executor = getattr(agent, "code_executor", None)
        if executor is not None and not isinstance(executor, BuiltInCodeExecutor):
            raise Denied(
                f"agent {agent.name!r} was denied: its {type(executor).__name__} can't be put behind hooks; "
                "give it a tool that runs code instead"
            )

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Ask whether a tool may run; a returned result means that it may not."""
        session, key = _keys(tool_context)
        call = {"tool_name": tool.name, "tool_input": tool_args, "tool_call_id": tool_context.function_call_id}
        if isinstance(tool, _UNSEEN):
            why = f"The call of {tool.name} was denied: hooks can't see what it loads; use a tool that returns it"
            outcome = Outcome(ToolCall(tool.name, tool_args), denied=why)
        else:
            outcome = await self.hooks.before(session, call)
        self.hooks.remember(outcome, session, key)
        if outcome.denied:
            return {"error": outcome.refusal}
        given = outcome.call.tool_input
        tool_args.clear()
        tool_args.update(given)
        return None

    async def after_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any) -> Any:
        """Report the result of a tool; a returned result replaces it."""
        session, key = _keys(tool_context)
        outcome = self.hooks.recall(tool.name, tool_args, session, key)
        if not outcome.denied:
            await self.hooks.after(session, outcome, result)
        if outcome.denied:
            return {"error": outcome.refusal}
        if not outcome.changed and not outcome.text:
            return None
        new = outcome.result if isinstance(outcome.result, dict) else {"result": outcome.result}
        return {**new, "context": outcome.text} if outcome.text else new

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> None:
        """Report the exception of a tool."""
        session, key = _keys(tool_context)
        await self.hooks.failed(session, self.hooks.recall(tool.name, tool_args, session, key), error)

    async def close(self) -> None:
        """Disconnect."""
        await asyncio.to_thread(self.hooks.close)


def _keys(tool_context: Any) -> tuple[str, str]:
    context = tool_context._invocation_context
    return context.session.id, f"{context.invocation_id}/{tool_context.function_call_id}"
