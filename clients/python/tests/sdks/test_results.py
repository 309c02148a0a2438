"""What tools return in other forms than text, and what a changed input reaches: hooks decide about what models see."""

import asyncio
import dataclasses
import enum
import json
from typing import Annotated, Any

import pytest

from hookrouter import HookResult

from .lab import Lab
from .test_cases import lab, model, rewrites  # noqa: F401  fixtures
from .test_paths import only


class Kind(enum.Enum):
    SECRET = "secret value"


@dataclasses.dataclass
class Row:
    name: str
    token: str = dataclasses.field(repr=False)


ROW = {"row": Row("n", "secret token")}
KIND = {"kind": Kind.SECRET}
SEEN = [{"row": {"name": "n", "token": "secret token"}}, {"kind": "secret value"}]


def sees(seen: list[Any]) -> Any:
    def guard(event: str, data: dict[str, Any]) -> HookResult:
        if event == "tool:post":
            seen.append(data["tool_result"])
        return HookResult()

    return guard


@only("pydantic-ai")
async def test_hooks_see_results_as_pydantic_ai_shows_them(lab: Lab) -> None:  # noqa: F811
    import pydantic
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from hookrouter.adapters.pydantic_ai import HookCapability

    told: list[str] = []
    seen: list[Any] = []

    @pydantic.dataclasses.dataclass
    class Page:
        title: str = "t"

        @pydantic.computed_field
        def text(self) -> str:
            return "secret page"

        @pydantic.field_serializer("title")
        def show(self, _: str) -> str:
            return "secret title"

    def calls(messages: Any, info: Any) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart(name, {}) for name in ("row", "kind", "page", "twice")])
        told.extend(part.model_response_str() for part in messages[-1].parts)
        return ModelResponse(parts=[TextPart("finished")])

    lab.start(sees(seen))
    agent = Agent(FunctionModel(calls), capabilities=[HookCapability(**lab.options)])
    agent.tool_plain(lambda: ROW, name="row")
    agent.tool_plain(lambda: KIND, name="kind")
    agent.tool_plain(lambda: [Page()], name="page")
    agent.tool_plain(lambda: {1: "secret", "1": "fine"}, name="twice")
    await agent.run("go")
    page = [{"title": "secret title", "text": "secret page"}]
    assert sorted(seen, key=str) == sorted([*SEEN, {"output": page}], key=str)
    assert [json.loads(text) for text in told[:3]] == [*SEEN, page]
    assert "withheld" in told[3]


@only("google-adk")
async def test_hooks_see_results_as_adk_shows_them(lab: Lab) -> None:  # noqa: F811
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from hookrouter.adapters.google_adk import HookPlugin

    told: list[Any] = []
    seen: list[Any] = []

    class Calls(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            parts = [part for content in request.contents for part in content.parts]
            told.extend(json.loads(part.model_dump_json())["function_response"]["response"] for part in parts[3:])
            names = [] if told else ["row", "kind"]
            asked = [types.Part(function_call=types.FunctionCall(name=name, args={})) for name in names]
            yield LlmResponse(content=types.Content(role="model", parts=asked or [types.Part(text="finished")]))

    def row() -> dict[str, Any]:
        return ROW

    def kind() -> dict[str, Any]:
        return KIND

    lab.start(sees(seen))
    agent = LlmAgent(name="a", model=Calls(model="m"), tools=[row, kind])
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin(**lab.options)])
    await runner.session_service.create_session(app_name="app", user_id="u", session_id=lab.session)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=lab.session, new_message=message):
        pass
    assert sorted(seen, key=str) == sorted(SEEN, key=str)
    assert told == SEEN


@only("langchain")
async def test_hooks_see_the_other_messages_of_a_command(lab: Lab) -> None:  # noqa: F811
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.tools import InjectedToolCallId, tool
    from langgraph.types import Command

    from hookrouter.adapters.langchain import HookMiddleware

    told: list[Any] = []

    class Calls(GenericFakeChatModel):
        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

        def _generate(self, messages: Any, *more: Any, **options: Any) -> Any:
            told.append([message.content for message in messages])
            return super()._generate(messages, *more, **options)

    @tool
    def search(more: str, call: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Search."""
        return Command(update={"messages": [ToolMessage("fine", tool_call_id=call), HumanMessage(more)]})

    def guard(event: str, data: dict[str, Any]) -> HookResult:
        secret = event == "tool:post" and "SECRET" in str(data["tool_result"])
        return HookResult(action="deny", reason="no") if secret else HookResult()

    lab.start(guard)
    for more, shown in (("SECRET", False), ("harmless", True)):
        call = {"name": "search", "args": {"more": more}, "id": "1"}
        answers = iter([AIMessage("", tool_calls=[call]), AIMessage("finished")])
        middleware = HookMiddleware(**{**lab.options, "session": lab.session})
        agent = create_agent(Calls(messages=answers), [search], middleware=[middleware])
        await agent.ainvoke({"messages": [HumanMessage("go")]})
        assert (more in told[-1]) == shown
        assert ("fine" in told[-1]) == shown


@only("openai-agents")
async def test_a_changed_input_is_all_that_a_tool_gets(lab: Lab) -> None:  # noqa: F811
    from agents import Runner, function_tool
    from agents.tool_context import ToolContext

    from hookrouter.adapters.openai_agents import RouterHooks

    from .sdk_openai_agents import stub_agent

    got: list[Any] = []

    @function_tool
    def bash(ctx: ToolContext[Any], command: str, description: str = "") -> str:
        got.append((command, json.loads(ctx.tool_arguments)["command"]))
        return "done"

    lab.model.command("rm SECRET")
    lab.start(rewrites("tool:pre", "tool_input", "SECRET", "MASKED"))
    hooks = RouterHooks(**lab.options)
    await Runner.run(hooks.guard(stub_agent(lab, bash)), "go", run_config=hooks.run_config(lab.session))
    assert got == [("rm MASKED", "rm MASKED")]


@only("openai-agents")
async def test_hooks_see_results_as_openai_shows_them(lab: Lab) -> None:  # noqa: F811
    from agents import Runner, function_tool
    from pydantic import BaseModel, Field

    from hookrouter.adapters.openai_agents import RouterHooks

    from .sdk_openai_agents import stub_agent

    class Hidden(BaseModel):
        name: str = "n"
        token: str = Field("secret token", exclude=True)

    class Odd:
        def __str__(self) -> str:
            return "fine"

        def __repr__(self) -> str:
            return "secret token"

    seen: list[Any] = []
    lab.start(sees(seen))
    for result in (Hidden(), {"odd": Odd()}):

        @function_tool
        def bash(command: str, description: str = "") -> Any:
            return result  # noqa: B023  it runs in this turn

        lab.model.command("true")
        hooks = RouterHooks(**lab.options)
        await Runner.run(hooks.guard(stub_agent(lab, bash)), "go", run_config=hooks.run_config(lab.session))
        assert not lab.saw("secret token")
    assert lab.saw("'odd': 'fine'")
    assert seen == [{"name": "n"}, {"odd": "fine"}]


@only("openai-agents")
def test_what_an_agent_gets_later_is_not_what_was_guarded() -> None:
    from agents import Agent
    from agents.mcp import MCPServerStdio

    from hookrouter.adapters.openai_agents import RouterHooks

    agent = Agent(name="a")
    guarded = RouterHooks().guard(agent)
    agent.mcp_servers.append(MCPServerStdio({"command": "true"}))
    assert guarded.mcp_servers == []


@only("google-adk")
async def test_a_live_run_is_refused(lab: Lab) -> None:  # noqa: F811
    import contextlib

    from google.adk.agents import LiveRequestQueue, LlmAgent
    from google.adk.models import BaseLlm
    from google.adk.models.base_llm_connection import BaseLlmConnection
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from hookrouter.adapters.google_adk import HookPlugin

    sent: list[Any] = []
    reached = asyncio.Event()

    class Connection(BaseLlmConnection):
        async def send_history(self, history: Any) -> None: ...

        async def send_content(self, content: Any) -> None:
            sent.append(content)
            reached.set()

        async def send_realtime(self, blob: Any) -> None: ...

        async def receive(self) -> Any:
            await reached.wait()
            raise RuntimeError("the prompt reached the model")
            yield

        async def close(self) -> None: ...

    class Live(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            yield

        @contextlib.asynccontextmanager
        async def connect(self, request: Any) -> Any:
            yield Connection()

    lab.start(lambda event, data: HookResult(action="deny", reason="no"))
    agent = LlmAgent(name="a", model=Live(model="m"))
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin(**lab.options)])
    await runner.session_service.create_session(app_name="app", user_id="u", session_id=lab.session)
    queue = LiveRequestQueue()
    queue.send_content(types.Content(role="user", parts=[types.Part(text="go")]))
    with pytest.raises(Exception, match="run_live was denied"):
        async for _ in runner.run_live(user_id="u", session_id=lab.session, live_request_queue=queue):
            pass
    assert sent == []


@only("pydantic-ai")
async def test_hooks_see_an_input_whatever_validators_make_of_it(lab: Lab) -> None:  # noqa: F811
    from collections import deque
    from collections.abc import Iterable

    from pydantic import AfterValidator, BaseModel, Field, PrivateAttr
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from hookrouter.adapters.pydantic_ai import HookCapability

    class Opaque:
        def __init__(self, text: str) -> None:
            self.text = text

    class Private(BaseModel):
        text: str
        _kept: str = PrivateAttr("")

        def model_post_init(self, _: Any) -> None:
            self._kept, self.text = self.text, "fine"

    class Hidden(BaseModel):
        text: str = Field(exclude=True)

    @dataclasses.dataclass
    class Initial:
        text: dataclasses.InitVar[str]

        def __post_init__(self, text: str) -> None:
            self.kept = text

    kinds: list[tuple[Any, Any, Any]] = [
        (Annotated[Any, AfterValidator(Opaque)], "value", lambda given: given.text),
        (Private, {"text": "value"}, lambda given: given._kept),
        (deque[Hidden], [{"text": "value"}], lambda given: given[0].text),
        (Initial, {"text": "value"}, lambda given: given.kept),
        (Iterable[str], ["value"], lambda given: next(iter(given))),
    ]
    asked: list[Any] = []

    def guard(event: str, data: dict[str, Any]) -> HookResult:
        if event == "tool:pre":
            asked.append(data["tool_input"]["given"])
        return HookResult()

    lab.start(guard)
    for kind, sent, read in kinds:
        got: list[str] = []

        def tool(given: Any) -> str:
            got.append(read(given))  # noqa: B023  it runs in this turn
            return "done"

        def calls(messages: Any, info: Any) -> ModelResponse:
            part = TextPart("finished") if len(messages) > 1 else ToolCallPart("tool", {"given": sent})  # noqa: B023
            return ModelResponse(parts=[part])

        tool.__annotations__["given"] = kind
        agent = Agent(FunctionModel(calls), capabilities=[HookCapability(**lab.options)])
        agent.tool_plain(tool)
        await agent.run("go")
        assert got == ["value"]
    assert asked == [sent for _, sent, _ in kinds]
