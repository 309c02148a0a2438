"""LangChain and LangGraph: middleware for create_agent.

    agent = create_agent(model, tools, middleware=[HookMiddleware()])

Give it as the last one, so that no other middleware changes a tool's input after the hooks have seen it.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from ..errors import Denied
from ._hooks import Hooks, Outcome, Prompt, ToolFailed, joined


class HookState(AgentState[Any]):
    """The context that hooks added at the prompt, for each model request of the turn."""

    hookrouter_context: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class HookMiddleware(AgentMiddleware[HookState, Any, Any]):
    """Lets a router decide on prompts and tool calls; options are those of Hooks.

    The session is the thread_id of the run's configuration. A denied prompt is removed from the
    state, and the agent ends with the reason as its answer.
    """

    state_schema = HookState

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.hooks = Hooks("langchain", signals=(GraphBubbleUp,), **options)

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: HookState, runtime: Any) -> dict[str, Any]:
        """Ask about the prompt."""
        if not (asked := _asked(state)):
            return {"hookrouter_context": ""}
        try:
            return _prompted(asked, await self.hooks.prompt(_session(), _text(asked)))
        except Denied as denied:
            return _refused(asked, denied)

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: HookState, runtime: Any) -> dict[str, Any]:
        """Ask about the prompt."""
        if not (asked := _asked(state)):
            return {"hookrouter_context": ""}
        try:
            return _prompted(asked, self.hooks.prompt_now(_session(), _text(asked)))
        except Denied as denied:
            return _refused(asked, denied)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Add what hooks said at the prompt."""
        return await handler(_told(request))

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[Any], Any]) -> Any:
        """Add what hooks said at the prompt."""
        return handler(_told(request))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run a tool behind its hooks."""
        returned: list[Any] = []

        async def run(given: dict[str, Any]) -> Any:
            returned.append(await handler(request.override(tool_call={**request.tool_call, "args": given})))
            return _content(request, returned[0])

        return _answer(request, returned, await self.hooks.tool(_session(), _call(request), run))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[Any], Any]) -> Any:
        """Run a tool behind its hooks."""
        returned: list[Any] = []

        def run(given: dict[str, Any]) -> Any:
            returned.append(handler(request.override(tool_call={**request.tool_call, "args": given})))
            return _content(request, returned[0])

        return _answer(request, returned, self.hooks.tool_now(_session(), _call(request), run))


def _session() -> str:
    return str(get_config().get("configurable", {}).get("thread_id") or "")


def _asked(state: HookState) -> list[HumanMessage]:
    """Return the last message of the user. Instructions or the start of an answer may follow it."""
    asked: list[HumanMessage] = []
    for message in reversed(state["messages"]):
        begun = isinstance(message, AIMessage) and not message.tool_calls and not asked
        if isinstance(message, HumanMessage):
            asked.insert(0, message)
        elif not begun and not isinstance(message, SystemMessage):
            break
    return asked


def _text(asked: list[HumanMessage]) -> str:
    return joined(*(str(message.text) for message in asked))


def _prompted(asked: list[HumanMessage], prompt: Prompt) -> dict[str, Any]:
    messages: list[AnyMessage] = []
    if prompt.text != _text(asked):
        if len(asked) != 1 or not isinstance(asked[0].content, str):
            return _refused(asked, Denied("The prompt was denied: hooks changed it, and it is not one text"))
        messages.append(asked[0].model_copy(update={"content": prompt.text}))
    # Models accept system instructions only before the conversation. A message with a lesser role must not become one.
    messages += [HumanMessage(m["content"]) for m in prompt.heard if m["role"] != "system"]
    return {"messages": messages, "hookrouter_context": prompt.heard.of("system").text}


def _refused(asked: list[HumanMessage], denied: Denied) -> dict[str, Any]:
    gone = [RemoveMessage(id=str(message.id)) for message in asked]
    return {"messages": [*gone, AIMessage(str(denied))], "hookrouter_context": "", "jump_to": "end"}


def _told(request: ModelRequest[Any]) -> ModelRequest[Any]:
    more = request.state.get("hookrouter_context")
    if not isinstance(more, str) or not more:
        return request
    if request.system_message is None:
        return request.override(system_message=SystemMessage(more))
    blocks = [*request.system_message.content_blocks, {"type": "text", "text": more}]
    return request.override(system_message=SystemMessage(content_blocks=blocks))


def _call(request: ToolCallRequest) -> dict[str, Any]:
    call = request.tool_call
    return {"tool_name": call["name"], "tool_input": call["args"], "tool_call_id": call["id"]}


def _message(request: ToolCallRequest, returned: Any) -> ToolMessage | None:
    """Return the message that answers the call. A tool may also return commands for the graph."""
    update = returned.update if isinstance(returned, Command) else {"messages": [returned]}
    messages = update.get("messages") if isinstance(update, dict) else None
    found = [m for m in messages or [] if isinstance(m, ToolMessage) and m.tool_call_id == request.tool_call["id"]]
    return found[0] if found else None


def _alone(request: ToolCallRequest, returned: Any, message: ToolMessage) -> bool:
    """Report whether the model will see only the answer: a command may add other messages."""
    update = returned.update if isinstance(returned, Command) else None
    known = request.state.get("messages", []) if isinstance(request.state, dict) else []
    return update is None or all(m is message or m in known for m in update["messages"])


def _content(request: ToolCallRequest, returned: Any) -> Any:
    message = _message(request, returned)
    if message is None or not _alone(request, returned, message):
        return str(returned)
    if message.status == "error":
        raise ToolFailed(message.content, str(message.text))
    return message.content


def _answer(request: ToolCallRequest, returned: list[Any], outcome: Outcome) -> Any:
    call, refusal = request.tool_call, outcome.refusal
    if not outcome.denied:
        message = _message(request, returned[0])
        if message is not None and (not outcome.changed or _alone(request, returned[0], message)):
            return _with(returned[0], message, outcome)
        if not outcome.changed:
            return returned[0]
        refusal = f"{call['name']} has run, and its result was withheld: a hook changed it, and it is not a message"
    return ToolMessage(refusal, tool_call_id=call["id"], name=call["name"], status="error")


def _with(returned: Any, message: ToolMessage, outcome: Outcome) -> Any:
    content: Any = message.content
    if outcome.changed:
        content = outcome.result if isinstance(outcome.result, str) else json.dumps(outcome.result)
    if outcome.text:
        content = joined(content, outcome.text) if isinstance(content, str) else [*content, outcome.text]
    new = message.model_copy(update={"content": content, **({"artifact": None} if outcome.changed else {})})
    if not isinstance(returned, Command):
        return new
    update: dict[str, Any] = dict(returned.update)
    update["messages"] = [new if m is message else m for m in update["messages"]]
    return replace(returned, update=update)
