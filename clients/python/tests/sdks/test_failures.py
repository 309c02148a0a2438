"""What models get of tools that fail, and of results that are withheld."""

from typing import Any

import pytest

from hookrouter import HookResult
from hookrouter.adapters._hooks import Outcome
from hookrouter.tools import ToolCall

from .lab import Lab
from .test_cases import REASON, lab, model, rewrites  # noqa: F401  fixtures
from .test_paths import only


def denies_failures(event: str, data: dict[str, Any]) -> HookResult:
    failed = event == "tool:post" and not data["success"]
    return HookResult(action="deny", reason=REASON) if failed else HookResult()


masks = rewrites("tool:post", "tool_result", "SECRET-WORD", "MASKED-WORD")


@only("strands")
@pytest.mark.parametrize("guard", [denies_failures, masks])
async def test_strands_errors_are_results(lab: Lab, guard: Any) -> None:  # noqa: F811
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    from hookrouter.adapters.strands import HookHandler

    @tool
    def bash(command: str, description: str = "") -> dict[str, Any]:
        """Run a command."""
        if "raise" in command:
            raise RuntimeError("SECRET-WORD")
        return {"status": "error", "content": [{"text": "SECRET-WORD"}, {"json": {"more": "SECRET-WORD"}}]}

    lab.start(guard)
    for command in ("return it", "raise it"):
        lab.model.command(command)
        stub = OpenAIModel(client_args={"base_url": lab.model.url + "/v1", "api_key": "dummy"}, model_id="stub")
        handler = HookHandler(session=lab.session, **lab.options)
        await Agent(model=stub, tools=[bash], interventions=[handler], callback_handler=None).invoke_async("go")
        assert not lab.saw("SECRET-WORD")
        assert lab.saw(REASON if guard is denies_failures else "MASKED-WORD")
    assert lab.recorded("tool:error", "continue")


@only("langchain")
@pytest.mark.parametrize("guard", [denies_failures, masks])
async def test_langchain_errors_are_results(lab: Lab, guard: Any) -> None:  # noqa: F811
    from langchain.agents import create_agent
    from langchain_core.tools import ToolException, tool
    from langchain_openai import ChatOpenAI

    from hookrouter.adapters.langchain import HookMiddleware

    @tool
    def bash(command: str, description: str = "") -> str:
        """Run a command."""
        raise ToolException("SECRET-WORD")

    bash.handle_tool_error = True  # as the tools of MCP servers have it
    lab.model.command("fail")
    lab.start(guard)
    chat = ChatOpenAI(model="stub", base_url=lab.model.url + "/v1", api_key="dummy")
    agent = create_agent(chat, [bash], middleware=[HookMiddleware(**{**lab.options, "session": lab.session})])
    await agent.ainvoke({"messages": [("user", "go")]})
    assert not lab.saw("SECRET-WORD")
    assert lab.saw(REASON if guard is denies_failures else "MASKED-WORD")
    assert lab.recorded("tool:error", "continue")


@only("pydantic-ai")
@pytest.mark.parametrize("guard", [denies_failures, masks])
@pytest.mark.parametrize("kind", ["ModelRetry", "ToolFailed"])
async def test_pydantic_ai_errors_are_results(lab: Lab, guard: Any, kind: str) -> None:  # noqa: F811
    from pydantic_ai import Agent, exceptions
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from hookrouter.adapters.pydantic_ai import HookCapability

    told: list[str] = []

    def calls(messages: Any, info: Any) -> ModelResponse:
        told.append(str(messages))
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("finished")])
        return ModelResponse(
            parts=[ToolCallPart(info.output_tools[0].name if info.output_tools else "run", {"x": "1"})]
        )

    def run(x: str) -> str:
        """Run."""
        raise getattr(exceptions, kind)("SECRET-WORD")

    lab.start(guard)
    capability = HookCapability(**lab.options)
    await Agent(FunctionModel(calls), tools=[run], capabilities=[capability]).run("go")
    if kind == "ModelRetry":
        await Agent(FunctionModel(calls), output_type=[run, str], capabilities=[capability]).run("go")
        assert len(told) == 4
    assert "SECRET-WORD" not in "".join(told)
    assert all((REASON if guard is denies_failures else "MASKED-WORD") in one for one in told[1::2])


@only("claude-agent-sdk")
@pytest.mark.parametrize(
    ("tool", "result", "withheld"),
    [
        ("Bash", {"stdout": "X", "isImage": False}, {"stdout": "", "isImage": False}),
        ("Grep", {"mode": "content", "content": "X", "numLines": 1}, {"mode": "content", "content": "", "numLines": 1}),
        ("Grep", {"mode": "X y", "filenames": ["X"]}, {"mode": "", "filenames": [""]}),
        ("mcp__s__t", [{"type": "text", "text": "X"}, {"type": "image"}], [{"type": "text", "text": ""}]),
        ("mcp__s__t", {"type": "X"}, {"type": ""}),
    ],
)
def test_a_withheld_result_has_the_form_of_its_tool(tool: str, result: Any, withheld: Any) -> None:
    from hookrouter.adapters.claude_agent_sdk import _withheld

    assert _withheld(tool, result) == withheld


@only("claude-agent-sdk")
@pytest.mark.parametrize(
    "result",
    [
        {"type": "text", "file": {"filePath": "/a", "content": "X", "numLines": 1, "startLine": 1, "totalLines": 1}},
        {"type": "image", "file": {"base64": "X", "type": "image/png", "originalSize": 70}},
    ],
)
def test_a_withheld_file_is_an_empty_one(result: Any) -> None:
    from hookrouter.adapters.claude_agent_sdk import _withheld

    file = {"filePath": "", "content": "", "numLines": 0, "startLine": 1, "totalLines": 0}
    assert _withheld("Read", result) == {"type": "text", "file": file}


@only("claude-agent-sdk")
@pytest.mark.parametrize(
    ("tool", "changed", "takes"),
    [
        ("Bash", {"stdout": "MASKED", "isImage": False, "lines": [1, 2]}, True),
        ("Bash", {"stdout": "MASKED", "isImage": True, "lines": [3]}, True),
        ("Bash", {"stdout": None, "isImage": False, "lines": [1, 2]}, False),
        ("Bash", {"stdout": "X", "isImage": False, "lines": ["1"]}, False),
        ("Bash", {"redacted": True}, False),
        ("mcp__s__t", {"redacted": True}, True),
    ],
)
async def test_claude_withholds_a_result_of_another_form(tool: str, changed: Any, takes: bool) -> None:
    from hookrouter.adapters.claude_agent_sdk import RouterHooks

    async def before(session: str, call: Any) -> Any:
        return Outcome(ToolCall(call["tool_name"], call["tool_input"]))

    async def after(session: str, outcome: Outcome, result: Any) -> Outcome:
        outcome.result, outcome.changed = changed, True
        return outcome

    router = RouterHooks()
    router.hooks.before, router.hooks.after = before, after  # type: ignore[method-assign, assignment]
    told = {"session_id": "s", "tool_use_id": "t", "tool_name": tool, "tool_input": {}}
    await router.before(told, "t", None)
    answer = await router.after(
        {**told, "tool_response": {"stdout": "X", "isImage": False, "lines": [1, 2]}}, "t", None
    )
    assert ("decision" not in answer) is takes
    assert (answer["hookSpecificOutput"]["updatedToolOutput"] == changed) is takes
