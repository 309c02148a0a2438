"""What the adapters for agent SDKs share; tests/sdks has the SDKs."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from hookrouter import Denied, HookRegistry, HookResult
from hookrouter.adapters._hooks import Hooks

CALL = {"tool_name": "Echo", "tool_input": {"x": 1}}


def test_hooks_serve_any_loop_and_none_and_a_fork(hook_router):
    hooks = Hooks("test")
    for _ in range(2):
        assert asyncio.run(hooks.tool("s", CALL, lambda given: given["x"])).result == 1
    assert hooks.tool_now("s", CALL, lambda given: given["x"]).result == 1
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if hooks.tool_now("s", CALL, lambda given: given["x"]).result == 1 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    hooks.close()
    assert hooks.tool_now("s", CALL, lambda given: given["x"]).result == 1  # it connects anew
    hooks.close()


def test_closing_ends_what_waits(hook_router):
    async def never(event, data):
        entered.set()
        await asyncio.sleep(60)

    def serve():
        async def main():
            async with HookRegistry() as registry:
                registry.register("tool:pre", never, id="never", on_failure="deny", timeout_ms=20_000)
                await registry.ready()
                ready.set()
                await asyncio.to_thread(done.wait)

        asyncio.run(main())

    ready, entered, done = (threading.Event() for _ in range(3))
    hooks, ran, told = Hooks("test"), [], []
    threading.Thread(target=serve, daemon=True).start()
    assert ready.wait(20)
    waits = threading.Thread(target=lambda: told.append(hooks.tool_now("s", CALL, ran.append)), daemon=True)
    waits.start()
    assert entered.wait(20)
    hooks.close()
    waits.join(10)
    done.set()
    assert "nobody could decide" in told[0].denied
    assert ran == []


async def test_what_a_tool_raises_is_raised_and_nothing_else(hook_router):
    hooks = Hooks("test", patience=0.2)
    with pytest.raises(ZeroDivisionError):
        await hooks.tool("s", CALL, lambda given: 1 / 0)
    with pytest.raises(ValueError, match="mine"):
        await hooks.tool("s", CALL, lambda given: int("mine"))
    odd = await hooks.tool("s", {**CALL, "tool_input": {"x": float("nan")}}, lambda given: 1)
    assert "denied" in odd.denied
    odd = await hooks.tool("s", CALL, lambda given: float("nan"))
    assert "withheld" in odd.denied
    assert odd.result is None
    assert "nobody was asked" in hooks.recall("Echo", {"x": 1}, "s", "an id").denied
    hook_router.kill()
    ran = []
    gone = await hooks.tool("s", CALL, ran.append)
    assert "nobody could decide" in gone.denied
    assert ran == []
    with pytest.raises(Denied, match="nobody could decide"):
        await hooks.prompt("s", "hello")
    hooks.close()


async def test_text_of_sessions_that_run_beside_each_other_is_apart(hook_router):
    async with HookRegistry() as registry:

        @registry.on("tool:pre")
        async def tell(event, data):
            return HookResult(action="inject_context", context_injection=f"for {data['session_id']}")

        await registry.ready()
        hooks = Hooks("test")
        names = [f"s{n}" for n in range(20)]
        outcomes = await asyncio.gather(*(hooks.tool(name, CALL, lambda given: 1) for name in names))
        assert [outcome.text for outcome in outcomes] == [f"for {name}" for name in names]
        hooks.close()


async def test_calls_with_one_id_are_reported_apart(hook_router):
    hooks = Hooks("test")
    for x in (1, 2):
        hooks.remember(await hooks.before("s", {**CALL, "tool_input": {"x": x}}), "s", "id")
    hooks.remember(await hooks.before("s", {**CALL, "tool_name": "Other"}), "s", "id")
    assert hooks.recall("Echo", {"x": 2}, "s", "id").call.tool_input == {"x": 2}
    assert hooks.recall("Other", "as the SDK shows it", "s", "id").call.tool_name == "Other"
    assert "nobody was asked" in hooks.recall("Other", {"x": 1}, "s", "id").denied
    assert hooks.recall("Echo", {"x": 1}, "s", "id").call.tool_input == {"x": 1}
    assert "nobody was asked" in hooks.recall("Echo", {"x": 1}, "s", "id").denied
    for x in (1, 2):
        hooks.remember(await hooks.before("s", {**CALL, "tool_input": {"x": x}}), "s", "id")
    assert "nobody was asked" in hooks.recall("Echo", {"x": 3}, "s", "id").denied
    hooks.close()


async def test_a_result_that_hooks_cannot_see_is_withheld(hook_router):
    async def later():
        yield "secret"

    hooks = Hooks("test")
    for result in ((x for x in ["secret"]), {"rows": iter(["secret"])}, later()):
        outcome = await hooks.tool("s", CALL, lambda given, result=result: result)
        assert "withheld" in outcome.denied
        assert outcome.result is None
    hooks.close()
