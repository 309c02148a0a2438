"""What is reported of a call: models may give several of one turn the same id, and results have several parts."""

import asyncio
import json
from typing import Any

from hookrouter import HookResult

from .lab import Lab
from .test_cases import lab, model  # noqa: F401  fixtures
from .test_paths import only

CALLS = [("1", {"x": "one"}), ("1", {"x": "two"})]
"""Ids and inputs of calls of the tool echo."""


def reports(seen: list[Any]) -> Any:
    def guard(event: str, data: dict[str, Any]) -> HookResult:
        if event == "tool:post":
            seen.append((data["tool_input"].get("x"), json.dumps(data["tool_result"])))
        return HookResult()

    return guard


async def answer(x: str, both: asyncio.Barrier) -> str:
    """Return a result once both calls run."""
    await both.wait()
    return f"result of {x}"


def check(seen: list[Any], told: str) -> None:
    assert sorted(x for x, _ in seen) == ["one", "two"]
    assert all(f"result of {x}" in result for x, result in seen)
    assert "result of one" in told
    assert "result of two" in told


@only("strands")
async def test_strands_reports_calls_with_one_id_apart(lab: Lab) -> None:  # noqa: F811
    from strands import tool

    seen: list[Any] = []
    both = asyncio.Barrier(2)
    lab.start(reports(seen))

    @tool
    async def echo(x: str) -> str:
        """Echo."""
        return await answer(x, both)

    check(seen, await strands(lab, CALLS, echo))


@only("strands")
async def test_hooks_see_all_of_a_strands_block(lab: Lab) -> None:  # noqa: F811
    from strands import tool

    seen: list[Any] = []
    lab.start(reports(seen))

    @tool
    def echo(x: str) -> dict[str, Any]:
        """Echo."""
        return {"status": "success", "content": [{"text": "fine", "json": {"hidden": "secret"}}]}

    assert "secret" in await strands(lab, CALLS[:1], echo)
    assert "secret" in seen[0][1]


async def strands(lab: Lab, calls: list[Any], echo: Any) -> str:  # noqa: F811
    """Run a turn with these calls, and return what the model gets of them."""
    from strands import Agent
    from strands.models.model import Model

    from hookrouter.adapters.strands import HookHandler

    class Calls(Model):
        told = ""

        def update_config(self, **_: Any) -> None: ...

        def get_config(self) -> dict[str, Any]:
            return {}

        async def structured_output(self, *_: Any, **__: Any) -> Any:
            yield {}

        async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
            self.told = json.dumps(messages[-1])
            yield {"messageStart": {"role": "assistant"}}
            for use, given in calls if len(messages) == 1 else []:
                yield {"contentBlockStart": {"start": {"toolUse": {"name": "echo", "toolUseId": use}}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
                yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if len(messages) == 1 else "end_turn"}}

    asked = Calls()
    handler = HookHandler(session=lab.session, **lab.options)
    await Agent(model=asked, tools=[echo], interventions=[handler], callback_handler=None).invoke_async("go")
    return asked.told


@only("google-adk")
async def test_adk_reports_calls_with_one_id_apart(lab: Lab) -> None:  # noqa: F811
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from hookrouter.adapters.google_adk import HookPlugin

    told: list[str] = []
    seen: list[Any] = []
    both = asyncio.Barrier(2)

    class Calls(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            told.append(request.contents[-1].model_dump_json())
            asked = [types.Part(function_call=types.FunctionCall(id=use, name="echo", args=x)) for use, x in CALLS]
            parts = asked if len(told) == 1 else [types.Part(text="finished")]
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    async def echo(x: str) -> dict[str, Any]:
        return {"output": await answer(x, both)}

    lab.start(reports(seen))
    agent = LlmAgent(name="a", model=Calls(model="m"), tools=[echo])
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin(**lab.options)])
    await runner.session_service.create_session(app_name="app", user_id="u", session_id=lab.session)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=lab.session, new_message=message):
        pass
    check(seen, told[-1])


@only("google-adk")
async def test_adk_does_not_load_what_hooks_cannot_see(lab: Lab) -> None:  # noqa: F811
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools import load_artifacts
    from google.genai import types

    from hookrouter.adapters.google_adk import HookPlugin

    told: list[str] = []

    class Calls(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            told.append(str([content.model_dump_json() for content in request.contents]))
            asked = types.FunctionCall(id="1", name="load_artifacts", args={"artifact_names": ["page"]})
            part = types.Part(function_call=asked) if len(told) == 1 else types.Part(text="finished")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    lab.start(reports([]))
    agent = LlmAgent(name="a", model=Calls(model="m"), tools=[load_artifacts])
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[HookPlugin(**lab.options)])
    about = {"app_name": "app", "user_id": "u", "session_id": lab.session}
    await runner.session_service.create_session(**about)
    await runner.artifact_service.save_artifact(**about, filename="page", artifact=types.Part(text="secret"))
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=lab.session, new_message=message):
        pass
    assert "secret" not in told[-1]
    assert "load_artifacts was denied" in told[-1]
