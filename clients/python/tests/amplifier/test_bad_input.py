"""What goes wrong around a gated event of a session: it never passes for that."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookrouter import HookResult
from hookrouter.amplifier._approval import BusApprovals
from hookrouter.amplifier._config import Config
from hookrouter.amplifier.host import run
from hookrouter.amplifier.module import Gate
from hookrouter.testing.router import Router

from .test_session import Amplifier, bash, hook

FIVE_MB = "x" * 5_000_000


def in_child(check: Callable[[], Any]) -> bool:
    """Fork, and report whether a coroutine is true in the child, in an event loop of its own."""
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            asyncio._set_running_loop(None)
            code = 0 if asyncio.new_event_loop().run_until_complete(check()) else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


async def test_a_fork(hook_router: Router, tmp_path: Path) -> None:
    """The module connects anew in the child, and where it can't, it denies. The parent's connection goes on.

    amplifier-core's own registry does not outlive a fork, so the module is asked without it.
    """

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="heard")

    data = {"tool_name": "bash", "tool_input": {"command": "ls"}}
    async with hook("tool:pre", deny) as hooks, Amplifier(hook_router, tmp_path / "w", []) as a:
        config = Config(url=hook_router.url, patience=1.0)
        gate = Gate(a.coordinator, config)
        assert (await gate("tool:pre", data)).reason == "heard"

        async def cut_off() -> bool:
            gate.config = Config(url="nats://127.0.0.1:1", patience=0.2)
            return (await gate("tool:pre", data)).action == "deny"

        assert in_child(cut_off)
        child = asyncio.create_task(asyncio.to_thread(in_child, lambda: asks(gate, data)))
        assert await child  # the hook is here: this loop must go on
        assert (await gate("tool:pre", data)).reason == "heard"
        await gate.close()
        await hooks.ready()


async def asks(gate: Gate, data: dict[str, Any]) -> bool:
    return (await gate("tool:pre", data)).reason == "heard"


async def test_an_input_of_5_mb_does_not_run(hook_router: Router, tmp_path: Path) -> None:
    script = [[{"name": "write_file", "arguments": {"file_path": "big", "content": FIVE_MB}}]]
    async with Amplifier(hook_router, tmp_path / "w", script) as a:
        await a.turn()
        assert "413" in a.requests[-1]
        assert not (tmp_path / "w/big").exists()
        # Neither the session nor its connection is lost for that.
        assert (
            await a.coordinator.hooks.emit("tool:pre", {"tool_name": "bash", "tool_input": {}})
        ).action == "continue"


async def test_a_result_of_5_mb_is_withheld(hook_router: Router, tmp_path: Path) -> None:
    data = {"tool_name": "bash", "tool_input": {"command": "ls"}, "result": {"success": True, "output": FIVE_MB}}
    async with Amplifier(hook_router, tmp_path / "w", []) as a:
        result = await a.coordinator.hooks.emit("tool:post", data)
        assert "its result is withheld" in str(result.data["result"])
        assert FIVE_MB not in str(result.data)


async def test_a_hook_that_answers_5_mb_has_failed(hook_router: Router, tmp_path: Path) -> None:
    async def modify(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"command": "touch ran", "note": FIVE_MB}})

    async with (
        hook("tool:pre", modify, on_failure="deny"),
        Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a,
    ):
        await a.turn()
        assert "on_failure is deny" in a.requests[-1]
        assert not (tmp_path / "w/ran").exists()


@pytest.mark.parametrize("reason", ["denied by the bus"])
async def test_a_session_whose_event_loop_is_blocked(hook_router: Router, tmp_path: Path, reason: str) -> None:
    """While it waits for a verdict, for longer than its patience: it gets the verdict, or denies."""

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        asyncio.get_running_loop().call_later(0.01, time.sleep, 2.0)
        return HookResult(action="deny", reason=reason)

    async with hook("tool:pre", deny), Amplifier(hook_router, tmp_path / "w", bash("touch ran")) as a:
        assert await a.turn() == "All done."
        assert reason in a.requests[-1] or "decided nothing" in a.requests[-1]
        assert not (tmp_path / "w/ran").exists()


class Question:
    action, risk_level, timeout = "Execute: rm x", "high", float("inf")


async def swallows(event: str, data: dict[str, Any]) -> HookResult:
    try:
        await BusApprovals().request_approval(Question)
    except BaseException:
        return HookResult()
    raise AssertionError


async def gathers(event: str, data: dict[str, Any]) -> HookResult:
    await asyncio.gather(BusApprovals().request_approval(Question), return_exceptions=True)
    return HookResult()


async def goes_on(event: str, data: dict[str, Any]) -> HookResult:
    await BusApprovals().request_approval(Question)
    return HookResult()


@pytest.mark.parametrize("handler", [swallows, gathers, goes_on])
async def test_a_hosted_handler_that_asks_does_not_answer_itself(handler: Any) -> None:
    result = await run(handler, "tool:pre", {})
    assert (result.action, result.approval_prompt) == ("ask_user", "Execute: rm x (risk: high)")
    assert result.approval_timeout == 7 * 24 * 3600
    result.check()


async def test_a_hosted_handler_that_asks_may_deny() -> None:
    async def denies(event: str, data: dict[str, Any]) -> HookResult:
        await swallows(event, data)
        return HookResult(action="deny")

    assert (await run(denies, "tool:pre", {})).action == "deny"


async def test_a_hosted_handler_that_lists_injections() -> None:
    from amplifier_core import HookResult as Core
    from amplifier_core.models import ContextInjection

    def handler(event: str, data: dict[str, Any]) -> Core:
        listed = [ContextInjection(content="one", role="user"), ContextInjection(content="two", ephemeral=True)]
        return Core(action="inject_context", context_injections=listed)

    result = await run(handler, "tool:post", {})
    assert result.to_dict() == {
        "action": "inject_context",
        "context_injection": "one\n\ntwo",
        "context_injection_role": "user",
        "ephemeral": True,
    }
