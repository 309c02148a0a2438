from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from hookrouter.adapters.langchain import HookMiddleware

from .lab import PROMPT, Lab

CANNOT_CHANGE_PROMPTS = False


def agent_of(lab: Lab) -> Any:
    @tool
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        return lab.bash(command)

    model = ChatOpenAI(model="stub", base_url=lab.model.url + "/v1", api_key="dummy")
    agent = create_agent(model, [bash], middleware=[HookMiddleware(**lab.options)])
    return agent.with_config({"configurable": {"thread_id": lab.session}})


async def turn(lab: Lab) -> str:
    return (await agent_of(lab).ainvoke({"messages": [("user", PROMPT)]}))["messages"][-1].content


async def turn_with_note(lab: Lab) -> str:
    messages = [("user", PROMPT), ("system", "a note")]
    return (await agent_of(lab).ainvoke({"messages": messages}))["messages"][-1].content


def turn_now(lab: Lab) -> str:
    return agent_of(lab).invoke({"messages": [("user", PROMPT)]})["messages"][-1].content
