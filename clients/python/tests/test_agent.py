from __future__ import annotations

import asyncio
import hashlib
import json

import nats
import pytest

from hookrouter import (
    Agent,
    ConnectionLost,
    DeadlineExceeded,
    Denied,
    HookRegistry,
    HookResult,
    InvalidReply,
    NoRouter,
    OtherData,
    PendingError,
    Session,
    ToolCall,
    connect,
)


async def test_a_hook_is_called_like_its_id(hook_router):
    registry = HookRegistry()

    @registry.on("tool:pre", id="no-force-push")
    async def no_force_push(event, data):
        return HookResult()

    @registry.on("tool:pre")
    async def other(event, data):
        return HookResult()

    assert registry.list_handlers() == {"tool:pre": ["no-force-push", "other"]}
    await registry.close()


async def test_the_registry_is_amplifier_cores(hook_router):
    registry = HookRegistry()
    seen = []

    async def first(event, data):
        seen.append(("first", data))
        return HookResult(action="modify", data={**data, "by": "first"})

    async def second(event, data):
        seen.append(("second", data))
        return HookResult(action="continue")

    registry.register(HookRegistry.TOOL_PRE, second, priority=10)
    unregister = registry.register("tool:pre", first, priority=0, name="enrich")
    registry.set_default_fields(session_id="abc123", user_id="user456")
    result = await registry.emit("tool:pre", {"tool_name": "calculator"})
    assert [name for name, _ in seen] == ["first", "second"]
    assert seen[1][1]["by"] == "first"
    assert result.action == "continue"
    assert {k: v for k, v in result.data.items() if k != "timestamp"} == {
        "session_id": "abc123", "user_id": "user456", "tool_name": "calculator", "by": "first",
    }  # fmt: skip
    assert registry.list_handlers() == {"tool:pre": ["enrich", "second"]}
    unregister()
    unregister()
    assert registry.list_handlers("tool:pre") == {"tool:pre": ["second"]}
    assert "by" not in (await registry.emit("tool:pre", {"tool_name": "x"})).data
    assert (await registry.emit("unknown:event", {"data": "value"})).data == {"data": "value"}
    registry.register_contributor("status", lambda: {"ok": True})
    registry.register_contributor("status", "none", lambda: None)
    assert await registry.collect_contributions("status") == [{"ok": True}]
    await registry.close()


async def test_a_guard_needs_an_id():
    with pytest.raises(ValueError, match="id="):
        HookRegistry().register("tool:pre", lambda e, d: None, on_failure="deny")


async def test_no_event_is_sent_past_a_hook_that_could_not_be_registered(hook_router):
    async with HookRegistry() as hooks:
        hooks.register("tool:pre", lambda e, d: None, match="(((")
        with pytest.raises(Exception, match="match"):
            await hooks.emit("tool:pre", {})


class Talk:
    def __init__(self, *messages):
        self.messages, self.shown = list(messages), []

    async def add_message(self, message):
        self.messages.append(message)

    async def get_messages(self):
        return self.messages

    def show_message(self, message, level, source):
        self.shown.append((level, source, message))


async def test_a_session_delivers(hook_router):
    async with HookRegistry() as hooks, connect() as client:

        @hooks.on("tool:post")
        async def linter(event, data):
            return HookResult(
                action="inject_context", context_injection="3 findings", user_message="seen", user_message_level="warning",
                ephemeral=data["e"], append_to_last_tool_result=data["e"],
            )  # fmt: skip

        await hooks.ready()
        talk = Talk({"role": "tool", "content": "out"})
        session = Session(Agent(client, session="s"), context=talk, display=talk)
        await session.execute("tool:post", {"e": True})
        assert (await session.next_call())[-1]["content"] == "out\n\n3 findings"
        assert talk.messages == [{"role": "tool", "content": "out"}]
        await session.execute("tool:post", {"e": False})
        assert talk.messages[-1]["content"] == "3 findings"
        assert talk.messages[-1]["metadata"]["hook_name"] == "linter"
        assert talk.shown == [("warning", "hook:linter", "seen")] * 2


@pytest.mark.parametrize("merged", [False, True])
async def test_a_session_delivers_each_injection_as_its_hook_wants(hook_router, merged):
    async with HookRegistry() as hooks, connect() as client:

        @hooks.on("tool:post", priority=1, name="linter")
        async def linter(event, data):
            return HookResult(
                action="inject_context", context_injection="3 findings", context_injection_role="user", user_message="seen",
                user_message_source="ruff",
            )  # fmt: skip

        @hooks.on("tool:post", priority=2, name="todos")
        async def todos(event, data):
            return HookResult(
                action="inject_context", context_injection="2 open", ephemeral=True, append_to_last_tool_result=True
            )

        await hooks.ready()
        talk = Talk({"role": "tool", "content": "out"})
        session = Session(Agent(client, session="s"), context=talk, display=talk, merged=merged)
        verdict = await session.execute("tool:post", {})
        listed = [
            (i.content, i.role, i.ephemeral, i.append_to_last_tool_result, i.hook_name, i.event)
            for i in verdict.context_injections
        ]
        assert listed == [
            ("3 findings", "user", False, False, "linter", "tool:post"),
            ("2 open", "system", True, True, "todos", "tool:post"),
        ]
        assert talk.shown == [("info", "hook:linter (ruff)", "seen")]
        stored = [(m["role"], m["content"], m.get("metadata", {}).get("hook_name")) for m in talk.messages]
        assert len(stored) == 2
        if merged:
            assert stored[1][0] == "user"
            assert stored[1][2] == "composite"
            assert "2 open" in stored[1][1]
        else:
            assert stored[1] == ("user", "3 findings", "linter")
            assert talk.messages[1]["metadata"]["timestamp"]
            assert [m["content"] for m in await session.next_call()] == ["out", "3 findings", "2 open"]
            assert [m["content"] for m in await session.next_call()] == ["out", "3 findings"]
        emitted = await session.emit("tool:post", {})
        assert emitted.context_injections == list(verdict.context_injections)
        assert emitted.context_injection == "3 findings\n\n2 open"


async def test_run_tool(hook_router):
    async with HookRegistry() as hooks:
        events = []

        @hooks.on(["tool:pre", "tool:post", "tool:error"], priority=-1)
        async def policy(event, data):
            events.append((event, data))
            if event == "tool:pre" and data["tool_input"].get("x") == "no":
                return HookResult(action="deny", reason="no means no")
            if event == "tool:pre" and data["tool_input"].get("x") == "other":
                return HookResult(action="modify", data={**data, "tool_name": "Rm"})
            if event == "tool:pre":
                return HookResult(action="modify", data={**data, "tool_input": {"x": "changed"}})
            if event == "tool:post" and data["tool_result"] == {"output": "secret changed"}:
                return HookResult(action="modify", data={**data, "tool_result": {"output": "masked"}})
            if event == "tool:post" and data["tool_result"] == {"output": "bad"}:
                return HookResult(action="deny", reason="keep it")
            return HookResult()

        ran = []

        async def tool(given):
            ran.append(given)
            return "secret " + given["x"]

        call = ToolCall("Echo", {"x": "yes"}, {"tool_call_id": "1"})
        assert await hooks.run_tool(call, tool) == "masked"
        assert ran == [{"x": "changed"}]
        assert events[1][1]["tool_call_id"] == "1"
        assert await hooks.run_tool(call, lambda i: {"plain": i}) == {"plain": {"x": "changed"}}
        for word in ("no", "other"):
            with pytest.raises(Denied):
                await hooks.run_tool({"tool_name": "Echo", "tool_input": {"x": word}}, tool)
        assert len(ran) == 1
        with pytest.raises(Denied, match="keep it") as denied:
            await hooks.run_tool(call, lambda i: "bad")
        assert "has run" in denied.value.__notes__[0]
        with pytest.raises(ZeroDivisionError):
            await hooks.run_tool(call, lambda i: 1 / 0)
        assert events[-1][0] == "tool:error"
        assert events[-1][1]["error"]["type"] == "ZeroDivisionError"


async def test_waiting_for_a_person(hook_router):
    async with HookRegistry() as hooks, connect() as client:

        @hooks.on("tool:pre")
        async def ask(event, data):
            return HookResult(action="ask_user", approval_prompt="Deploy?", approval_options=["Allow once", "Deny"])

        await hooks.ready()
        pending = asyncio.Queue()
        agent = Agent(client, session="s", on_pending=pending.put_nowait)
        with pytest.raises(PendingError) as waiting:
            await agent.execute("tool:pre", {"n": 1}, timeout=0.5)
        assert waiting.value.approval.prompt == "Deploy?"
        asking = asyncio.create_task(agent.execute("tool:pre", {"n": 2}))
        await pending.get()
        approval = await pending.get()
        body = json.dumps({"option": "Allow once", "data_sha256": approval.data_sha256}).encode()
        nc = await nats.connect(hook_router.url)
        await nc.request(f"hooks.approve.{approval.id}", body, timeout=5)
        verdict = await asking
        assert verdict.permitted
        assert verdict.data["n"] == 2
        assert hashlib.sha256(verdict.data_json).hexdigest() == approval.data_sha256
        await nc.close()


class Fake:
    """A router that answers what a test says, on a prefix of its own."""

    def __init__(self, nc, replies):
        self.nc, self.replies, self.requests = nc, replies, []

    async def serve(self):
        async def answer(msg):
            self.requests.append(dict(msg.headers))
            for headers, body in self.replies(msg, len(self.requests)):
                await self.nc.publish(msg.reply, body, headers=headers)

        await self.nc.subscribe("fake.>", cb=answer)
        await self.nc.flush()


PERMIT = b'{"action":"continue","injected_tokens":0,"data":{"forged":true}}'


def echo(msg, **more):
    return {"Hook-Nonce": msg.headers["Hook-Nonce"], "Hook-Event-Id": msg.headers["ce-id"], **more}


async def forged(router, replies, patience=0.3, **options):
    async with connect(router.url, prefix="fake", patience=patience) as client:
        nc = await nats.connect(router.url)
        fake = Fake(nc, replies)
        await fake.serve()
        try:
            return fake, await Agent(client).execute("tool:pre", {"a": 1}, **options)
        finally:
            await nc.close()


async def test_replies_that_prove_nothing_are_dropped_and_waited_on(hook_router):
    def replies(msg, n):
        yield None, PERMIT
        yield {"Hook-Event-Id": msg.headers["ce-id"]}, PERMIT
        yield echo(msg, **{"Hook-Nonce": "x"}), PERMIT
        yield echo(msg, **{"Hook-Event-Id": "another"}), PERMIT
        yield {"Hook-Nonce": msg.headers["Hook-Nonce"]}, PERMIT
        yield {"Nats-Service-Error-Code": "409"}, b""
        yield echo(msg), b'{"action":"deny","reason":"genuine","injected_tokens":0}'

    _, verdict = await forged(hook_router, replies)
    assert verdict.reason == "genuine"
    with pytest.raises(DeadlineExceeded):
        await forged(hook_router, lambda msg, n: [(None, PERMIT)], timeout=0.3)


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"action":"Continue"}', PERMIT[:-1], b'{"action":"pending"}'])
async def test_a_verdict_that_can_not_be_read_permits_nothing(hook_router, body):
    with pytest.raises(InvalidReply):
        await forged(hook_router, lambda msg, n: [(echo(msg), body)])


async def test_data_that_was_not_approved_permits_nothing(hook_router):
    body = b'{"action":"continue","data":{"a":1},"approval":{"id":"x","data_sha256":"00"}}'
    with pytest.raises(OtherData):
        await forged(hook_router, lambda msg, n: [(echo(msg), body)])


async def test_unserved_events_are_sent_again_with_the_same_id(hook_router):
    def replies(msg, n):
        if n < 3:
            return [(echo(msg, **{"Nats-Service-Error-Code": "503", "Nats-Service-Error": "busy"}), b"")]
        return [(echo(msg), b'{"action":"continue","data":{},"injected_tokens":0}')]

    fake, verdict = await forged(hook_router, replies, patience=20)
    assert verdict.permitted
    assert len({r["ce-id"] for r in fake.requests}) == 1
    assert len({r["Hook-Nonce"] for r in fake.requests}) == 3
    assert [r.get("Hook-Retry") for r in fake.requests] == [None, "1", "1"]


async def test_no_router(hook_router):
    async with connect(prefix="nobody", patience=0.2) as client:
        with pytest.raises(NoRouter, match="hook-router"):
            await Agent(client).execute("tool:pre")
    assert not issubclass(NoRouter, ConnectionLost)


async def test_a_sub_agent_says_whose_it_is(hook_router):
    below = "lineage.parent == 'größe' && lineage.root == 's0' && lineage.depth > 0"
    async with HookRegistry() as hooks, connect() as client:
        hooks.register("tool:pre", lambda e, d: HookResult(action="deny"), name="guard", match=below)
        await hooks.ready()
        assert (await Agent(client, session="s1").execute("tool:pre", {})).permitted
        assert not (await Agent(client, session="s2", parent="größe", root="s0").execute("tool:pre", {})).permitted
        with pytest.raises(ValueError, match="session above"):
            Agent(client, parent="x" * 513)
