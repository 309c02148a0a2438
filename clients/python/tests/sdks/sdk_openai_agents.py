from __future__ import annotations

from typing import Any

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from hookrouter.adapters.openai_agents import RouterHooks

from .lab import PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False
set_tracing_disabled(True)


def stub_agent(lab: Lab, *tools: Any) -> Agent[Any]:
    """Return an agent that asks the stub model."""
    client = AsyncOpenAI(base_url=lab.model.url + "/v1", api_key="dummy")
    return Agent(name="a", model=OpenAIResponsesModel("stub", client), tools=list(tools))


async def turn(lab: Lab, *more: str, first: Any = PROMPT) -> str:
    @function_tool(failure_error_function=None)
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    hooks = RouterHooks(**lab.options)
    agent = stub_agent(lab, bash)
    config = hooks.run_config(lab.session)
    for prompt in (first, *more):
        result = await Runner.run(hooks.guard(agent), prompt, run_config=config)
    return result.final_output


async def turn_with_note(lab: Lab) -> str:
    return await turn(lab, first=[{"role": "user", "content": PROMPT}, {"role": "developer", "content": "a note"}])


async def turn_with_file(lab: Lab) -> str:
    image = {"type": "input_image", "image_url": "https://example.com/one.gif", "detail": "auto"}
    return await turn(lab, first=[{"role": "user", "content": [image]}])


async def turn_twice(lab: Lab, second: str) -> str:
    return await turn(lab, second)
