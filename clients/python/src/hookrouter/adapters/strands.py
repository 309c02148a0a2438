"""Strands Agents: an intervention handler.

    agent = Agent(model=model, tools=tools, interventions=[HookHandler()])

Give it as the last handler, so that no other one changes a tool's input after the hooks have seen it.
"""

from __future__ import annotations

from typing import Any

from strands.interventions import Deny, InterventionHandler, Proceed, Transform

from ..errors import Denied
from ._hooks import Hooks, ToolFailed, joined

_ANSWERS = {"toolResult", "interruptResponse", "cachePoint"}
"""Kinds of content in a user's message that are not a prompt."""


class HookHandler(InterventionHandler):
    """Lets a router decide on prompts and tool calls; options are those of Hooks.

    The session is the agent's. A denied prompt ends the invocation with the reason as its answer.
    """

    name = "hookrouter"
    on_error = "throw"  # an error ends the invocation

    def __init__(self, **options: Any) -> None:
        self.hooks = Hooks("strands", **options)

    async def before_invocation(self, event: Any, **kwargs: Any) -> Any:
        """Ask about the prompt."""
        if event.messages is None:
            raise Denied("The prompt was denied: structured_output does not show it; call the agent instead")
        messages = event.messages or event.agent.messages[-1:]  # without a prompt, the agent answers its last message
        blocks = [block for m in messages if m["role"] == "user" for block in m["content"]]
        if all(_ANSWERS & block.keys() for block in blocks):
            return Proceed()
        texts = [block for block in blocks if "text" in block]
        asked = joined(*(block["text"] for block in texts))
        try:
            prompt = await self.hooks.prompt(event.agent.session_id, asked)
        except Denied as denied:
            return Deny(reason=str(denied))
        if prompt.text != asked and len(texts) != 1:
            return Deny(reason="The prompt was denied: hooks changed it, and it is not one text")

        def apply(event: Any) -> None:
            if prompt.text != asked:
                texts[0]["text"] = prompt.text
            if prompt.heard:
                messages[-1]["content"].append({"text": prompt.heard.text})

        return Transform(apply=apply)

    async def before_tool_call(self, event: Any, **kwargs: Any) -> Any:
        """Ask whether a tool may run."""
        use, session = event.tool_use, event.agent.session_id
        call = {"tool_name": use["name"], "tool_input": use["input"], "tool_call_id": use["toolUseId"]}
        outcome = await self.hooks.before(session, call)
        if outcome.denied:
            return Deny(reason=outcome.refusal)
        self.hooks.remember(outcome, session, use["toolUseId"])
        return Transform(apply=lambda event: event.tool_use.__setitem__("input", outcome.call.tool_input))

    async def after_tool_call(self, event: Any, **kwargs: Any) -> Any:
        """Report the result of a tool."""
        if event.cancel_message is not None:  # it did not run
            return Proceed()
        session, result = event.agent.session_id, event.result
        use = event.tool_use
        outcome = self.hooks.recall(use["name"], use["input"], session, use["toolUseId"])
        content, status = result["content"], result["status"]
        texts = [block["text"] for block in content if "text" in block]
        failed = event.exception is not None or status == "error"
        if failed:
            await self.hooks.failed(session, outcome, event.exception or ToolFailed(content, joined(*texts)))
        if not outcome.denied:
            shown = texts[0] if len(content) == 1 and content[0].keys() == {"text"} else content
            await self.hooks.after(session, outcome, shown, success=not failed)
        if outcome.denied:
            content, status = [{"text": outcome.denied}], "error"
        elif outcome.changed:
            content = outcome.result if isinstance(outcome.result, list) else [_block(outcome.result)]
        if outcome.text:
            content = [*content, {"text": outcome.text}]
        new = {**result, "content": content, "status": status}
        return Transform(apply=lambda event: setattr(event, "result", new))


def _block(value: Any) -> dict[str, Any]:
    return {"text": value} if isinstance(value, str) else {"json": value}
