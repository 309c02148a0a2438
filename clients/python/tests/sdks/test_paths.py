"""What SDKs run for a model without a tool call, and inputs that they show in another form than the tool gets."""

import os
from typing import Any

import pytest

from hookrouter import HookResult

from .lab import Lab
from .test_cases import REASON, lab, model, rewrites  # noqa: F401  fixtures


def only(sdk: str) -> Any:
    return pytest.mark.skipif(os.environ["SDK"] != sdk, reason=f"of {sdk}")


def denies(seen: list[Any]) -> Any:
    def guard(event: str, data: dict[str, Any]) -> HookResult:
        if event != "tool:pre":
            return HookResult()
        seen.append((data["tool_name"], data["tool_input"]))
        return HookResult(action="deny", reason=REASON) if "drop" in str(data["tool_input"]) else HookResult()

    return guard


@only("openai-agents")
def test_a_sandbox_agent_has_tools_that_are_not_wrapped() -> None:
    from agents.sandbox import SandboxAgent

    from hookrouter.adapters.openai_agents import RouterHooks

    with pytest.raises(ValueError, match="Shell"):
        RouterHooks().guard(SandboxAgent(name="a"))
    RouterHooks().guard(SandboxAgent(name="a", capabilities=[]))


@only("openai-agents")
async def test_a_changed_prompt_stays_changed_in_later_turns(lab: Lab) -> None:  # noqa: F811
    from agents import Runner

    from hookrouter.adapters.openai_agents import RouterHooks

    from .sdk_openai_agents import stub_agent

    lab.model.command("unused")
    lab.start(rewrites("prompt:submit", "prompt", "SECRET", "MASKED"))
    hooks = RouterHooks(**lab.options)
    agent = hooks.guard(stub_agent(lab))
    said: list[Any] = []
    for prompt in ("my SECRET word", "and again"):
        said.append({"role": "user", "content": prompt})
        said = (await Runner.run(agent, said, run_config=hooks.run_config(lab.session))).to_input_list()
    assert len(lab.model.requests()) == 2
    assert "MASKED" in str(lab.model.requests()[1])
    assert not lab.saw("SECRET")


@only("google-adk")
async def test_an_agent_that_runs_code_of_the_model_is_refused(lab: Lab) -> None:  # noqa: F811
    from google.adk.agents import LlmAgent
    from google.adk.code_executors import UnsafeLocalCodeExecutor
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from hookrouter.adapters.google_adk import HookPlugin

    class Codes(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            code = f"```tool_code\nopen({str(lab.directory / 'marker')!r}, 'w').write('ran')\n```"
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=code)]))

    lab.start(lambda event, data: HookResult())
    agent = LlmAgent(name="a", model=Codes(model="m"), code_executor=UnsafeLocalCodeExecutor(error_retry_attempts=1))
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin(**lab.options)])
    await runner.session_service.create_session(app_name="app", user_id="u", session_id=lab.session)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    with pytest.raises(RuntimeError, match="UnsafeLocalCodeExecutor can't be put behind hooks"):
        async for _ in runner.run_async(user_id="u", session_id=lab.session, new_message=message):
            if lab.marker:
                break
    assert lab.marker == ""


@only("pydantic-ai")
@pytest.mark.parametrize("query", ["drop", "select"])
async def test_an_output_function_is_asked_about(lab: Lab, query: str) -> None:  # noqa: F811
    from pydantic_ai import Agent, TextOutput, UnexpectedModelBehavior
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    from hookrouter.adapters.pydantic_ai import HookCapability

    def sql(query: str) -> str:
        ran.append(query)
        return "rows"

    def calls(messages: Any, info: Any) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"query": query})])

    def says(messages: Any, info: Any) -> ModelResponse:
        return ModelResponse(parts=[TextPart(query)])

    async def streams(messages: Any, info: Any) -> Any:
        yield {0: DeltaToolCall(name=info.output_tools[0].name, json_args=f'{{"query":"{query[:2]}')}
        yield {0: DeltaToolCall(json_args=f'{query[2:]}"}}')}

    async def turn(which: Any, kind: Any, stream: bool = False) -> Any:
        agent = Agent(which, output_type=kind, capabilities=[capability])
        if not stream:
            return (await agent.run("go")).output
        async with agent.run_stream("go") as result:
            return [one async for one in result.stream_output(debounce_by=None)][-1]

    ran: list[str] = []
    seen: list[Any] = []
    lab.start(denies(seen))
    capability = HookCapability(**lab.options)
    for argument, how in (
        ("query", (FunctionModel(calls), sql)),
        ("output", (FunctionModel(says), TextOutput(sql))),
        ("query", (FunctionModel(stream_function=streams), sql, True)),
    ):
        seen.clear()
        ran.clear()
        if query == "drop":
            with pytest.raises(UnexpectedModelBehavior):
                await turn(*how)
            assert ran == []
        else:
            assert await turn(*how) == "rows"
            assert set(ran) == {"select"}
        assert ("sql", {argument: query}) in seen
        assert len({str(one) for one in seen}) == 1


@only("pydantic-ai")
async def test_hooks_see_what_models_hide(lab: Lab) -> None:  # noqa: F811
    import dataclasses
    import enum

    from pydantic import BaseModel, Field, SecretStr
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from hookrouter.adapters.pydantic_ai import HookCapability

    class Kind(enum.Enum):
        DROP = "drop"

    @dataclasses.dataclass
    class Where:
        table: str = dataclasses.field(repr=False)

    class Command(BaseModel):
        shell: str = Field(exclude=True)
        key: SecretStr
        kind: Kind
        where: Where

    given = {"command": {"shell": "rm", "key": "k", "kind": "drop", "where": {"table": "t"}}}

    def calls(messages: Any, info: Any) -> ModelResponse:
        called = len(messages) == 1
        return ModelResponse(parts=[ToolCallPart("run", given) if called else TextPart("finished")])

    seen: list[Any] = []
    lab.start(denies(seen))
    agent = Agent(FunctionModel(calls), capabilities=[HookCapability(**lab.options)])

    @agent.tool_plain
    def run(command: Command) -> str:
        raise AssertionError("it ran")

    assert (await agent.run("go")).output == "finished"
    assert seen == [("run", given)]
