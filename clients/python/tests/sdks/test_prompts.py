"""Prompts that are not the last message, and prompts in resumed runs."""

from typing import Any

import pytest

from hookrouter import Denied, HookResult

from .lab import Lab
from .test_cases import REASON, lab, model, rewrites  # noqa: F401  fixtures
from .test_paths import only


@only("openai-agents")
async def test_a_changed_prompt_stays_changed_in_a_resumed_run(lab: Lab) -> None:  # noqa: F811
    from agents import Runner, function_tool

    from hookrouter.adapters.openai_agents import RouterHooks

    from .sdk_openai_agents import stub_agent

    @function_tool(needs_approval=True)
    def bash(command: str, description: str = "") -> str:
        return "done"

    lab.model.command("true")
    lab.start(rewrites("prompt:submit", "prompt", "SECRET", "MASKED"))
    hooks = RouterHooks(**lab.options)
    agent = hooks.guard(stub_agent(lab, bash))
    result = await Runner.run(agent, "my SECRET word", run_config=hooks.run_config(lab.session))
    state = result.to_state()
    state.approve(result.interruptions[0])
    await Runner.run(agent, state, run_config=hooks.run_config(lab.session))
    assert len(lab.model.requests()) == 2
    assert "MASKED" in str(lab.model.requests()[1])
    assert not lab.saw("SECRET")


@only("openai-agents")
async def test_a_prompt_before_the_beginning_of_an_answer_is_asked_about(lab: Lab) -> None:  # noqa: F811
    from agents import Runner

    from hookrouter.adapters.openai_agents import RouterHooks

    from .sdk_openai_agents import stub_agent

    lab.model.command("unused")
    lab.start(rewrites("prompt:submit", "prompt", "SECRET", "MASKED"))
    hooks = RouterHooks(**lab.options)
    agent = hooks.guard(stub_agent(lab))
    said = [{"role": "user", "content": "my SECRET word"}, {"role": "assistant", "content": "It is"}]
    await Runner.run(agent, said, run_config=hooks.run_config(lab.session))
    assert lab.saw("MASKED")
    assert not lab.saw("SECRET")


@only("openai-agents")
def test_a_history_that_repeats_prompts_as_they_were_is_refused() -> None:
    from hookrouter.adapters.openai_agents import RouterHooks

    with pytest.raises(ValueError, match="nest_handoff_history"):
        RouterHooks().run_config("s", nest_handoff_history=True)


@only("langchain")
async def test_a_prompt_is_asked_about_before_the_beginning_of_an_answer(lab: Lab) -> None:  # noqa: F811
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    from hookrouter.adapters.langchain import HookMiddleware

    lab.model.command("unused")
    lab.start(rewrites("prompt:submit", "prompt", "SECRET", "MASKED"))
    chat = ChatOpenAI(model="stub", base_url=lab.model.url + "/v1", api_key="dummy")
    agent = create_agent(chat, [], middleware=[HookMiddleware(**{**lab.options, "session": lab.session})])
    await agent.ainvoke({"messages": [("user", "my SECRET word"), ("assistant", "It is")]})
    assert lab.saw("MASKED")
    assert not lab.saw("SECRET")


@only("strands")
async def test_strands_asks_about_a_prompt_among_its_messages(lab: Lab) -> None:  # noqa: F811
    from strands import Agent
    from strands.models.openai import OpenAIModel

    from hookrouter.adapters.strands import HookHandler

    lab.model.command("unused")
    lab.start(rewrites("prompt:submit", "prompt", "SECRET", "MASKED"))
    stub = OpenAIModel(client_args={"base_url": lab.model.url + "/v1", "api_key": "dummy"}, model_id="stub")
    handler = HookHandler(session=lab.session, **lab.options)
    said: Any = [{"role": "user", "content": [{"text": "my SECRET word"}]}]
    await Agent(model=stub, interventions=[handler], callback_handler=None, messages=said).invoke_async()
    assert lab.saw("MASKED")
    assert not lab.saw("SECRET")


@only("pydantic-ai")
async def test_pydantic_ai_asks_about_a_prompt_that_ends_a_history(lab: Lab) -> None:  # noqa: F811
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
    from pydantic_ai.models.function import FunctionModel

    from hookrouter.adapters.pydantic_ai import HookCapability

    told: list[str] = []

    def answers(messages: Any, info: Any) -> ModelResponse:
        told.append(str(messages))
        return ModelResponse(parts=[TextPart("finished")])

    def masks_or_denies(event: str, data: dict[str, Any]) -> HookResult:
        if event == "prompt:submit" and "deny" in data["prompt"]:
            return HookResult(action="deny", reason=REASON)
        return rewrites("prompt:submit", "prompt", "SECRET", "MASKED")(event, data)

    lab.start(masks_or_denies)
    agent = Agent(FunctionModel(answers), capabilities=[HookCapability(**lab.options)])
    before = [ModelRequest(parts=[UserPromptPart("a")]), ModelResponse(parts=[TextPart("b")])]
    await agent.run(message_history=[*before, ModelRequest(parts=[UserPromptPart("my SECRET word")])])
    assert "MASKED" in told[0]
    assert "SECRET" not in told[0]
    for parts in ([UserPromptPart("deny")], [UserPromptPart("a"), UserPromptPart("my SECRET word")]):
        with pytest.raises(Denied):
            await agent.run(message_history=[*before, ModelRequest(parts=parts)])
    assert len(told) == 1
