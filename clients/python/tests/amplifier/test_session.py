"""A whole Amplifier session behind the bus."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hookrouter import Approver, HookRegistry, HookResult, connect
from hookrouter.testing import FakeDisplay, ScriptedApprover
from hookrouter.testing.router import Router


class Amplifier:
    """A session of the real amplifier-core, loop-basic, provider-mock, tool-bash and tool-filesystem."""

    def __init__(self, router: Router, home: Path, script: list[Any], **config: Any) -> None:
        from amplifier_core import AmplifierSession

        home.mkdir(exist_ok=True)
        self.home, self.display = home, FakeDisplay()
        plan = {
            "session": {"orchestrator": "loop-basic", "context": "context-list"},
            "providers": [{"module": "provider-scripted", "config": {"script": script, "responses": ["All done."]}}],
            "tools": [
                {"module": "tool-bash", "config": {"working_dir": str(home)}},
                {"module": "tool-filesystem", "config": {"working_dir": str(home), "allowed_write_paths": [str(home)]}},
            ],
            "hooks": [{"module": "hooks-hookrouter", "config": {"url": router.url, "patience": 1.0, **config}}],
        }
        self.session = AmplifierSession(plan, session_id="whole-session", display_system=self.display)

    async def __aenter__(self) -> Amplifier:
        await self.session.initialize()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.session.cleanup()

    async def turn(self, prompt: str = "Go on") -> Any:
        return await self.session.execute(prompt)

    @property
    def coordinator(self) -> Any:
        return self.session.coordinator

    @property
    def requests(self) -> list[str]:
        """What the model was sent, request by request."""
        return self.coordinator.get("providers")["scripted"].requests

    def text(self) -> str:
        """Everything that the context holds."""
        return "\n".join(str(m["content"]) for m in self.coordinator.get("context").messages)


def bash(command: str) -> list[Any]:
    return [[{"name": "bash", "arguments": {"command": command}}]]


@contextlib.asynccontextmanager
async def hook(event: str, handler: Any, **options: Any) -> AsyncIterator[HookRegistry]:
    """Put one hook on the bus."""
    async with HookRegistry() as hooks:
        hooks.register(event, handler, id=options.pop("id", "the-hook"), **options)
        await hooks.ready()
        yield hooks


@contextlib.asynccontextmanager
async def person(answer: str) -> AsyncIterator[ScriptedApprover]:
    """Answer what hooks ask."""
    system = ScriptedApprover([answer])
    async with connect() as client:
        task = asyncio.create_task(Approver(client, system).run())
        try:
            yield system
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_pass(hook_router: Router, tmp_path: Path) -> None:
    seen: list[str] = []

    async def watch(event: str, data: dict[str, Any]) -> HookResult:
        seen.append(event)
        assert data["session_id"] == "whole-session"
        return HookResult()

    script = [
        [{"name": "write_file", "arguments": {"file_path": "a.txt", "content": "hello"}}],
        [{"name": "read_file", "arguments": {"file_path": "a.txt"}}, *bash("cat a.txt; echo ran")[0]],
    ]
    async with hook("*", watch), Amplifier(hook_router, tmp_path / "w", script) as a:
        assert await a.turn() == "All done."
        assert (tmp_path / "w/a.txt").read_text() == "hello"
        assert "hello" in a.requests[-1]
        assert "ran" in a.requests[-1]
    for event in ("session:start", "prompt:submit", "provider:request", "provider:response", "prompt:complete"):
        assert event in seen
    assert seen.count("tool:pre") == seen.count("tool:post") == 3
    assert seen[-1] == "session:end"


async def test_deny(hook_router: Router, tmp_path: Path) -> None:
    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not this one", user_message="I said no", user_message_level="warning")

    async with hook("tool:pre", deny), Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a:
        assert await a.turn() == "All done."
        assert not (tmp_path / "w/ran").exists()
        assert "not this one" in a.requests[-1]
        assert ("I said no", "warning") in [(m, level) for m, level, _ in a.display.shown]


async def test_deny_a_prompt(hook_router: Router, tmp_path: Path) -> None:
    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="no such prompts")

    async with hook("prompt:submit", deny), Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a:
        assert "no such prompts" in await a.turn()
        assert a.requests == []


async def test_modify(hook_router: Router, tmp_path: Path) -> None:
    """loop-basic runs the input that it sent; what the bus made of it runs all the same."""

    async def modify(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"command": "touch changed"}})

    async with hook("tool:pre", modify), Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a:
        await a.turn()
        assert sorted(p.name for p in (tmp_path / "w").iterdir()) == ["changed"]


async def test_modify_with_an_injecting_hook_in_the_session(hook_router: Router, tmp_path: Path) -> None:
    """amplifier-core drops changed data where another hook injects."""
    from amplifier_core import HookResult as Core

    async def modify(event: str, data: dict[str, Any]) -> HookResult:
        if event == "tool:pre":
            return HookResult(action="modify", data={**data, "tool_input": {"command": "echo c-h-a-n-g-e-d"}})
        return HookResult(action="modify", data={**data, "result": {"success": True, "output": "m-a-s-k-e-d"}})

    async def inject(event: str, data: dict[str, Any]) -> Core:
        return Core(action="inject_context", context_injection="by the way")

    async with hook(["tool:pre", "tool:post"], modify), Amplifier(hook_router, tmp_path / "w", bash("echo old")) as a:
        for event in ("tool:pre", "tool:post"):
            a.coordinator.hooks.register(event, inject, priority=2000, name="injects")
        await a.turn()
        assert "m-a-s-k-e-d" in a.requests[-1]
        assert "old\\n" not in a.requests[-1]
        assert "c-h-a-n-g-e-d" not in a.requests[-1]


async def test_inject(hook_router: Router, tmp_path: Path) -> None:
    async def inject(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(
            action="inject_context", context_injection=f"note of {event}", ephemeral=event in ("tool:pre", "tool:post")
        )

    events = ["session:start", "prompt:submit", "tool:pre", "tool:post"]
    async with hook(events, inject), Amplifier(hook_router, tmp_path / "w", bash("echo x")) as a:
        await a.turn()
        assert "note of session:start" in a.requests[0]
        assert "note of prompt:submit" in a.requests[0]
        assert "note of tool:pre" in a.requests[1]
        assert "note of tool:post" in a.requests[1]
        assert "note of prompt:submit" in a.text()
        assert "note of tool:pre" not in a.text()


async def test_inject_twice(hook_router: Router, tmp_path: Path) -> None:
    """A reminder for the next request is not kept because another hook's text is."""

    async def keep(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="inject_context", context_injection="to keep", context_injection_role="user")

    async def forget(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="inject_context", context_injection="to forget", ephemeral=True)

    async def forget_too(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(
            action="inject_context", context_injection="as well", context_injection_role="user", ephemeral=True
        )

    async with (
        hook("prompt:submit", keep, id="keep"),
        hook("prompt:submit", forget, id="forget", priority=1),
        hook("prompt:submit", forget_too, id="forget-too", priority=2),
        Amplifier(hook_router, tmp_path / "w", bash("echo x")) as a,
    ):
        emit = a.coordinator.hooks.emit
        await a.turn()
        kept = [(m["role"], m["content"]) for m in a.coordinator.get("context").messages if "to " in str(m["content"])]
        assert kept == [("user", "to keep")]
        assert "to forget" in a.requests[0]
        assert "as well" in a.requests[0]
        assert "to forget" not in a.requests[1]
        await emit("prompt:submit", {"prompt": "again"})
        listed = (await emit("provider:request", {})).context_injections
        assert [(i.content, i.role, i.ephemeral) for i in listed] == [
            ("to forget", "system", True),
            ("as well", "user", True),
        ]


@pytest.mark.parametrize(("answer", "runs"), [("Allow once", True), ("Deny", False)])
async def test_ask(hook_router: Router, tmp_path: Path, answer: str, runs: bool) -> None:
    async def ask(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="Run it?", approval_options=["Allow once", "Deny"])

    async with (
        hook("tool:pre", ask),
        person(answer) as system,
        Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a,
    ):
        await a.turn()
        assert len(system.requests) == 1
        assert (tmp_path / "w/ran").exists() is runs


@pytest.mark.parametrize("dies", ["before", "within"])
async def test_router_dead(hook_router: Router, tmp_path: Path, dies: str) -> None:
    """Nothing passes, whether the router was never there or goes before the tool."""
    async with Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a:
        if dies == "before":
            hook_router.kill()
        else:

            async def kill(event: str, data: dict[str, Any]) -> None:
                hook_router.kill()

            a.coordinator.hooks.register("provider:response", kill, name="kills")
        answer = await a.turn()
        assert not (tmp_path / "w/ran").exists()
        if dies == "before":
            assert "hookrouter decided nothing" in answer
        assert "decided nothing" in answer or "decided nothing" in a.text()


async def test_router_restarted(hook_router: Router, tmp_path: Path) -> None:
    """An event that waits for a person outlives the router; the session goes on by itself."""

    async def ask(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="Run it?", approval_options=["Allow once", "Deny"])

    async with (
        hook("tool:pre", ask, on_failure="deny"),
        connect() as client,
        Amplifier(hook_router, tmp_path / "w", bash("touch ran"), patience=20.0) as a,
    ):
        turn = asyncio.create_task(a.turn())
        while not await Approver(client).open():
            assert not turn.done()
        hook_router.kill()
        hook_router.start()
        async with person("Allow once"):
            assert await turn == "All done."
        assert (tmp_path / "w/ran").exists()
        assert await a.turn("And again") == "All done."


async def test_a_tool_needs_a_verdict(hook_router: Router, tmp_path: Path) -> None:
    """Code of the session that calls a tool past its hooks gets no further."""
    async with Amplifier(hook_router, tmp_path / "w", []) as a:
        await a.turn()
        result = await a.coordinator.get("tools")["bash"].execute({"command": "touch ran"})
        assert not result.success
        assert "no verdict" in result.output
        assert not (tmp_path / "w/ran").exists()


async def test_another_hook_changes_what_was_judged(hook_router: Router, tmp_path: Path) -> None:
    """A permission is for one input, once."""
    async with Amplifier(hook_router, tmp_path / "w", []) as a:
        tool = a.coordinator.get("tools")["bash"]
        data = {"tool_name": "bash", "tool_input": {"command": "touch ran"}}
        assert (await a.coordinator.hooks.emit("tool:pre", data)).action == "continue"
        assert not (await tool.execute({"command": "touch other"})).success
        assert (await tool.execute(data["tool_input"])).success
        assert not (await tool.execute(data["tool_input"])).success


async def test_a_denial_takes_an_unused_permission_back(hook_router: Router, tmp_path: Path) -> None:
    """A call that another handler denied leaves no permission for a later one, which is denied."""
    answers = ["", "not now", ""]

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        reason = answers.pop(0)
        return HookResult(action="deny" if reason else "continue", reason=reason)

    async def local(event: str, data: dict[str, Any]) -> Any:
        from amplifier_core import HookResult as Result

        return Result(action="deny", reason="of this session") if len(answers) == 2 else Result()

    async with hook("tool:pre", judge), Amplifier(hook_router, tmp_path / "w", []) as a:
        emit, tool = a.coordinator.hooks.emit, a.coordinator.get("tools")["bash"]
        a.coordinator.hooks.register("tool:pre", local, priority=2000, name="local")
        data = {"tool_name": "bash", "tool_input": {"command": "touch ran"}}
        assert (await emit("tool:pre", data)).reason == "of this session"
        assert (await emit("tool:pre", data)).reason == "not now"
        assert not (await tool.execute(data["tool_input"])).success
        assert (await emit("tool:pre", data)).action == "continue"
        assert (await tool.execute(data["tool_input"])).success


@pytest.mark.parametrize("change", [{"tool_name": "read_file"}, {"tool_input": "touch ran"}, {"tool_input": None}])
async def test_a_call_that_can_not_be_made(hook_router: Router, tmp_path: Path, change: dict[str, Any]) -> None:
    async def modify(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, **change})

    async with hook("tool:pre", modify), Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a:
        await a.turn()
        assert "one that can't be made" in a.requests[-1]
        assert not (tmp_path / "w/ran").exists()


async def test_a_denied_result_is_withheld(hook_router: Router, tmp_path: Path) -> None:
    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="it holds a secret")

    async with hook("tool:post", deny), Amplifier(hook_router, tmp_path / "w", bash("echo s-e-c-r-e-t | tr -d -")) as a:
        await a.turn()
        assert "it holds a secret" in a.requests[-1]
        assert '"secret' not in a.requests[-1]


async def test_a_changed_prompt_is_not_sent_as_it_was(hook_router: Router, tmp_path: Path) -> None:
    async def mask(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "prompt": "****"})

    async with hook("prompt:submit", mask), Amplifier(hook_router, tmp_path / "w", []) as a:
        assert "changed the prompt" in await a.turn("my password is x")
        assert a.requests == []


@pytest.mark.parametrize(
    "config",
    [
        {"closd": ["tool:pre"]}, {"patience": "long"}, {"events": ["session:start"]},
        {"closed": ["tool:pre", None]}, {"events": [["tool:pre"]]}, {"priority": 2**31},
    ],
)  # fmt: skip
async def test_a_config_that_means_nothing_denies(hook_router: Router, tmp_path: Path, config: Any) -> None:
    async with Amplifier(hook_router, tmp_path / "w", bash("touch ran"), **config) as a:
        assert "can't be used" in await a.turn()


async def test_another_event_loop(hook_router: Router, tmp_path: Path) -> None:
    """A session that goes on in another loop connects anew."""

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="heard in both")

    async with hook("tool:pre", deny), Amplifier(hook_router, tmp_path / "w", []) as a:

        async def emit() -> Any:
            return await a.coordinator.hooks.emit("tool:pre", {"tool_name": "bash", "tool_input": {}})

        assert (await emit()).reason == "heard in both"
        assert (await asyncio.to_thread(asyncio.run, emit())).reason == "heard in both"


async def test_open_where_the_config_says_so(hook_router: Router, tmp_path: Path) -> None:
    async with Amplifier(hook_router, tmp_path / "w", bash("touch ran"), closed=[]) as a:
        hook_router.kill()
        assert await a.turn() == "All done."
        assert (tmp_path / "w/ran").exists()
