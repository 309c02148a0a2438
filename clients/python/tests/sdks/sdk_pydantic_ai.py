from __future__ import annotations

from typing import Any

from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from hookrouter.adapters.pydantic_ai import HookCapability

from .lab import IMAGE, PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False


async def turn(lab: Lab, prompt: Any = PROMPT) -> str:
    provider = OpenAIProvider(base_url=lab.model.url + "/v1", api_key="dummy")
    agent = Agent(OpenAIChatModel("stub", provider=provider), capabilities=[HookCapability(**lab.options)])

    @agent.tool_plain
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    return (await agent.run(prompt, conversation_id=lab.session)).output


async def turn_with_file(lab: Lab) -> str:
    return await turn(lab, [BinaryContent(IMAGE, media_type="image/gif")])
