from __future__ import annotations

from typing import Any

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from hookrouter.adapters.strands import HookHandler

from .lab import IMAGE, PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False


async def turn(lab: Lab, prompt: Any = PROMPT) -> str:
    @tool
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    model = OpenAIModel(client_args={"base_url": lab.model.url + "/v1", "api_key": "dummy"}, model_id="stub")
    handler = HookHandler(session=lab.session, **lab.options)
    agent = Agent(model=model, tools=[bash], interventions=[handler], callback_handler=None)
    return str(await agent.invoke_async(prompt))


async def turn_with_file(lab: Lab) -> str:
    return await turn(lab, [{"image": {"format": "gif", "source": {"bytes": IMAGE}}}])
