from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from hookrouter.adapters.langchain import HookMiddleware

from .lab import PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False


async def turn(lab: Lab) -> str:
    @tool
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    model = ChatOpenAI(model="stub", base_url=lab.model.url + "/v1", api_key="dummy")
    agent = create_agent(model, [bash], middleware=[HookMiddleware(**lab.options)])
    config = {"configurable": {"thread_id": lab.session}}
    result = await agent.ainvoke({"messages": [("user", PROMPT)]}, config)
    return result["messages"][-1].content
