from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from hookrouter.adapters.pydantic_ai import HookCapability

from .lab import PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False


async def turn(lab: Lab) -> str:
    provider = OpenAIProvider(base_url=lab.model.url + "/v1", api_key="dummy")
    agent = Agent(OpenAIChatModel("stub", provider=provider), capabilities=[HookCapability(**lab.options)])

    @agent.tool_plain
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    return (await agent.run(PROMPT, conversation_id=lab.session)).output
