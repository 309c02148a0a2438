"""A hook that misbehaves denies: nothing of a gated event passes silently."""

from __future__ import annotations

import asyncio
import io
import json
import math
import os
import subprocess
import sys
import time

import nats
import pytest

from hookrouter import Agent, HookRegistry, HookResult, Registration, RouterError, Worker, connect, current_call
from hookrouter.client import Retry
from hookrouter.testing import Router

GATE = {"on_failure": "deny", "timeout_ms": 500}


async def raises(event, data):
    raise ValueError("boom")


async def nothing(event, data):
    return None


async def wrong_type(event, data):
    return "continue"


async def wrong_value(event, data):
    return {"action": "allow"}


async def other_members(event, data):
    return {"decision": "deny"}


async def no_json(event, data):
    return HookResult(action="modify", data={"x": object()})


async def cancelled(event, data):
    raise asyncio.CancelledError


async def exits(event, data):
    asyncio.current_task().cancel()
    await asyncio.sleep(1)


async def slow(event, data):
    await asyncio.sleep(30)


async def stubborn(event, data):
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        return HookResult()


async def huge(event, data):
    return HookResult(action="modify", data={"x": "y" * 5_000_000})


async def large(event, data):
    return HookResult(action="modify", data={"x": "y" * 600_000})


async def own_timeout(event, data):
    raise TimeoutError("of its own")


def group(event, data):
    raise BaseExceptionGroup("several", [ValueError("a")])


@pytest.mark.parametrize(
    ("handler", "failure"),
    [
        (raises, "error"), (nothing, "invalid_result"), (wrong_type, "invalid_result"), (wrong_value, "invalid_result"), (other_members, "invalid_result"),
        (no_json, "invalid_result"), (cancelled, "error"), (exits, "error|timeout"), (slow, "timeout"),
        (stubborn, "timeout"), (huge, "error"), (large, "invalid_result"), (own_timeout, "error"), (group, "error"),
    ],
)  # fmt: skip
async def test_a_guard_that_fails_denies(hook_router, handler, failure):
    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="gate", events=["tool:pre"], **GATE), handler)
        verdict = await Agent(client).execute("tool:pre", {"tool_name": "Bash"})
        assert not verdict.permitted
        assert verdict.run.denied_by == "gate"
        assert any(f"({one})" in verdict.reason for one in failure.split("|"))
        # The worker lives on, and answers the next call.
        await worker.register(Registration(id="other", events=["b"]), lambda e, d: HookResult(reason="here"))
        assert (await Agent(client).execute("b")).run.hooks == 1
        await worker.retire("gate")
        await worker.close(1)


async def test_a_guard_that_blocks_its_event_loop_denies(hook_router):
    program = """
import asyncio, time
from hookrouter import HookRegistry
hooks = HookRegistry()
@hooks.on("tool:pre", id="gate", on_failure="deny", timeout_ms=300)
async def gate(event, data):
    time.sleep(60)
async def main():
    await hooks.ready(); print("ready", flush=True); await asyncio.sleep(60)
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ})
    try:
        assert process.stdout.readline() == b"ready\n"
        async with connect() as client:
            verdict = await Agent(client).execute("tool:pre")
            assert not verdict.permitted
            assert "timeout" in verdict.reason
            process.kill()
            process.wait()
            verdict = await Agent(client).execute("tool:pre")  # its process is dead: it is still there
            assert not verdict.permitted
    finally:
        process.kill()
        process.wait()


async def test_a_hook_that_may_return_none_lets_pass(hook_router):
    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["tool:pre"]), nothing)
        await worker.register(Registration(id="b", events=["tool:pre"], none_passes=True, **GATE), nothing)
        verdict = await Agent(client).execute("tool:pre")
        assert verdict.permitted
        assert verdict.run.hooks == 2
        await worker.close()


async def test_what_a_handler_may_know(hook_router):
    seen = []

    async def handler(event, data):
        seen.append((event, data, current_call()))

    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["*"], timeout_ms=1500), handler)
        verdict = await Agent(client, session="sé 1", source="/x").execute("my:event", {"n": 2**63})
        event, data, call = seen[0]
        assert (event, data["n"], data["session_id"]) == ("my:event", 2**63, "sé 1")
        assert (call.session, call.source, call.chain_id) == ("sé 1", "/x", verdict.run.chain_id)
        assert call.timeout == 1.5
        assert call.extensions == {}
        assert current_call() is None
        await worker.close()


async def test_a_handler_knows_who_sent_the_event(tmp_path, monkeypatch):
    seen = []

    async def handler(event, data):
        seen.append(current_call().extensions)
        return HookResult(labels=["secret"])

    monkeypatch.delenv("NATS_CREDS", raising=False)
    router = Router(tmp_path / "router", auth=True).start()
    creds = tmp_path / "router/store/auth/creds"
    try:
        async with (
            connect(router.url, creds=str(creds / "worker.creds")) as workers,
            connect(router.url, creds=str(creds / "agent.creds")) as agents,
        ):
            worker = Worker(workers)
            await worker.register(Registration(id="a", events=["*"]), handler)
            for _ in range(2):
                assert await Agent(agents, session="s1", parent="s 0").execute("b")
            assert seen[0]["hookemitter"].startswith("nats ")
            assert (seen[1]["hooklabels"], seen[1]["hookparent"]) == ("secret", "s 0")
            assert "id" not in seen[1]
            await worker.close()
    finally:
        router.kill()


async def test_a_call_that_waits_too_long_for_its_turn_is_not_run(hook_router):
    """What nobody waits for any more takes no place from what somebody does."""
    ran, holds, done = [], asyncio.Event(), asyncio.Event()

    async def holds_its_place(event, data):
        ran.append(data["n"])
        holds.set()
        await done.wait()
        return HookResult()

    async with connect() as client:
        worker = Worker(client, max_in_flight=1)
        await worker.register(Registration(id="gate", events=["a"], **GATE), holds_its_place)
        nc = await nats.connect(hook_router.url)

        async def call(n, milliseconds):
            headers = {"ce-type": "a", "Hook-Timeout-Ms": str(milliseconds)}
            reply = await nc.request("hooks.call.gate", json.dumps({"n": n}).encode(), headers=headers, timeout=30)
            return (reply.headers or {}).get("Nats-Service-Error-Code")

        first = asyncio.create_task(call(0, 30_000))
        await holds.wait()
        verdict = await Agent(client).execute("a", {"n": 1})
        assert not verdict.permitted
        assert "timeout" in verdict.reason
        # Their time ends after that of the call before, so the worker has given up on all of them.
        assert await asyncio.gather(*(call(n, 1000) for n in range(2, 10))) == ["504"] * 8
        done.set()
        assert await first is None
        assert await call(10, 30_000) is None
        assert ran == [0, 10]
        await nc.close()
        await worker.close()


async def test_unregistering(hook_router):
    async with connect() as client:
        worker = Worker(client)
        remove = await worker.register(Registration(id="a", events=["e"]), raises)
        with pytest.raises(ValueError, match="already"):
            await worker.register(Registration(id="a", events=["e"]), raises)
        assert await Agent(client).list_handlers("e") == {"e": ["a"]}
        await remove()
        await remove()
        assert await Agent(client).list_handlers() == {}
        with pytest.raises(RouterError, match="match"):
            await worker.register(Registration(id="a", events=["e"], match="((("), raises)
        await worker.close()


async def test_closing_answers_what_has_come(hook_router):
    began = asyncio.Event()

    async def handler(event, data):
        began.set()
        await asyncio.sleep(0.3)
        return HookResult(action="deny", reason="heard")

    async with connect() as client, connect() as other:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"]), handler)
        asking = asyncio.create_task(Agent(other).execute("e"))
        await began.wait()
        await worker.close()
        assert (await asking).reason == "heard"
        assert (await Agent(other).execute("e")).run.hooks == 0


async def test_output_is_shown_unless_it_is_suppressed(hook_router, capsys):
    async def handler(event, data):
        print("from", data["n"])
        await asyncio.sleep(0)
        return HookResult(suppress_output=data["n"] == 1)

    async with HookRegistry() as hooks:
        hooks.register("e", handler)
        verdicts = await asyncio.gather(*(hooks.execute("e", {"n": n}) for n in (1, 2)))
        print("the program's own")
    assert verdicts[0].suppress_output == ("handler",)
    out = capsys.readouterr().out
    assert "from 2" in out
    assert "from 1" not in out
    assert "the program's own" in out


async def test_output_that_stdout_can_not_show_ends_no_denial(hook_router, monkeypatch):
    async def deny(event, data):
        print(data["command"])
        return HookResult(action="deny", reason="no")

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    async with HookRegistry() as hooks:
        hooks.register("e", deny)
        assert (await hooks.execute("e", {"command": "rm é"})).reason == "no"


async def test_renewals_keep_a_hook(tmp_path, hook_router):
    hook_router.stop()
    hook_router._flags = ["--ttl=1s"]
    hook_router.start()
    async with connect(hook_router.url) as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"]), nothing)
        until = time.monotonic() + 3
        while time.monotonic() < until:
            assert (await Agent(client).execute("e")).run.hooks == 1
            await asyncio.sleep(0.1)
        await worker.close()


async def test_hooks_that_validate_are_called_at_the_same_time(hook_router):
    both = asyncio.Barrier(2)

    async def waits(event, data):
        await both.wait()
        return HookResult(action="continue")

    async with connect() as client:
        worker = Worker(client)
        for name in ("a", "b"):
            await worker.register(Registration(id=name, events=["e"], effect="validate", on_failure="deny"), waits)
        assert (await Agent(client).execute("e")).permitted
        await worker.close()
    with pytest.raises(ValueError, match="effect is"):
        Registration(id="c", events=["e"], effect="modify")


async def test_an_older_version_does_not_take_the_place_of_a_newer_one(hook_router):
    replaced = []
    async with connect() as one, connect() as two:
        old = Worker(one, on_replaced=lambda hook, in_force: replaced.append((hook, in_force["version"])))
        new = Worker(two)
        await old.register(Registration(id="a", events=["e"], version="1.9.0"), nothing)
        await new.register(Registration(id="a", events=["e", "f"], version="1.10.0"), nothing)
        await old._send(old._hooks["a"], Retry.NEVER, 5)
        assert replaced == [("a", "1.10.0")]
        assert (await Agent(one).registry())[0]["events"] == ["e", "f"]
        assert {i["version"] for i in (await Agent(one).registry())[0]["instances"]} == {"1.9.0", "1.10.0"}
        with pytest.raises(RouterError) as refused:
            await Worker(one).register(Registration(id="a", events=["g"], version="1.2.0"), nothing)
        assert refused.value.code == 409
        await new.retire("a")


async def test_a_trace_goes_on_through_hooks(hook_router):
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    seen = []
    async with connect() as client:
        worker, agent = Worker(client), Agent(client)

        async def outer(event, data):
            await agent.emit("inner")
            return HookResult()

        nc = await nats.connect(hook_router.url)

        async def note(msg):
            seen.append(msg.headers.get("traceparent"))

        await nc.subscribe("hooks.event.inner", cb=note)
        await nc.flush()
        await worker.register(Registration(id="a", events=["outer"]), outer)
        await nc.request("hooks.emit.outer", b"{}", headers={"traceparent": parent}, timeout=5)
        await agent.emit("inner")
        await nc.flush()
        assert seen == [parent, None]
        await nc.close()
        await worker.close()


async def test_what_a_handler_returns_after_its_time_is_no_answer(hook_router):
    """Even where it comes before the router has noticed."""
    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="gate", events=["e"], **GATE), stubborn)
        nc = await nats.connect(hook_router.url)
        reply = await nc.request("hooks.call.gate", b"{}", headers={"ce-type": "e", "Hook-Timeout-Ms": "50"}, timeout=5)
        assert reply.headers["Nats-Service-Error-Code"] == "504"
        await nc.close()
        await worker.close()


async def test_an_async_hook_injects_into_the_next_turn(hook_router):
    async with connect() as client:
        worker, agent, called = Worker(client), Agent(client, session="s1"), asyncio.Event()

        async def lint(event, data):
            await called.wait()
            return HookResult(action="inject_context", context_injection="2 warnings")

        await worker.register(Registration(id="lint", events=["tool:post"], mode="async"), lint)
        assert not (await agent.execute("tool:post", {})).messages
        called.set()
        messages = []
        while not messages:
            messages = (await agent.execute("prompt:submit", {})).messages
        assert [m.content for m in messages] == ["2 warnings"]
        assert not (await agent.execute("prompt:submit", {})).messages


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5000], ids=["large", "small", "long"])
async def test_a_number_beyond_a_float_is_no_way_around_a_hook(hook_router, number):
    async def decide(event, data):
        if data["command"] == "rm":
            return HookResult(action="deny", reason=f"not with {str(data['n'])[:6]}")
        return HookResult(action="modify", data={**data, "command": "ls"})

    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"]), decide)
        nc = await nats.connect(hook_router.url)
        reply = await nc.request("hooks.execute.e", b'{"command":"rm","n":%s}' % number.encode(), timeout=5)
        assert json.loads(reply.data)["reason"] == f"not with {number[:6]}"
        reply = await nc.request("hooks.execute.e", b'{"command":"x","n":%s}' % number.encode(), timeout=5)
        assert b'{"command":"ls","n":%s,' % number.encode() in reply.data
        await nc.close()
        await worker.close()


async def test_a_denial_that_quotes_half_a_surrogate_pair_stands(hook_router):
    async def deny(event, data):
        return HookResult(action="deny", reason="no \udcff here")

    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"]), deny)
        assert (await Agent(client).execute("e")).reason == "no \ufffd here"
        await worker.close()


LONG = "é" * 300_000


@pytest.mark.parametrize(
    ("fields", "reason", "size"),
    [
        ({"action": "deny", "reason": f"no: {LONG}"}, "no: éé", 5000),
        ({"action": "deny", "reason": "no", "user_message": LONG}, "no", 2),
        ({"action": "deny", "reason": "no", "data": {"x": LONG}}, "no", 2),
        ({"action": "deny", "reason": "no", "data": {"x": math.inf}}, "no", 2),
        ({"action": "ask_user", "approval_prompt": LONG}, "The hook's answer has 600", 100),
        ({"action": "ask_user", "approval_key": LONG}, "The hook's answer has 600", 100),
        ({"labels": ["untrusted"], "user_message": LONG}, "The hook's answer has 600", 100),
    ],
)
async def test_an_answer_that_is_too_large_still_denies(hook_router, fields, reason, size):
    async def decide(event, data):
        return HookResult(**fields)

    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="open", events=["e"], on_failure="continue"), decide)
        verdict = await Agent(client, session="s").execute("e")
        assert (verdict.run.denied_by, verdict.run.failed_open) == ("open", ())
        assert verdict.reason.startswith(reason)
        assert len(verdict.reason.encode()) <= size
        await worker.close()


@pytest.mark.parametrize("text", ["x" * 600_000, "half \ud83d"], ids=["long", "half"])
async def test_an_error_that_an_event_can_not_hold_is_reported(hook_router, text):
    def fails(given):
        raise ValueError(text)

    seen = []
    async with connect() as client:
        worker = Worker(client)

        async def label(event, data):
            seen.append(data["error"]["message"])
            return HookResult(labels=["untrusted"])

        await worker.register(Registration(id="a", events=["tool:error"]), label)
        with pytest.raises(ValueError, match=text[:5]):
            await Agent(client, session="s").run_tool({"tool_name": "Fetch"}, fails)
        await worker.close()
    assert [one[:5] for one in seen] == [text[:5]]


def test_a_number_that_no_float_holds_is_no_time():
    with pytest.raises(ValueError, match="approval_timeout"):
        HookResult(action="ask_user", approval_timeout=10**400)
