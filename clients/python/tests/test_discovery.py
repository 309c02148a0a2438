"""What a worker does besides calling handlers: the rule of a reply, calls in vain, discovery."""

from __future__ import annotations

import asyncio
import json

import nats
import pytest

from hookrouter import Agent, HookResult, Registration, Worker, connect


async def passes(event, data):
    return HookResult()


async def test_a_result_names_its_rule_in_a_header(hook_router):
    rules = iter(["policy.py:12 no-push", "two\r\nHook-Nonce: lines", "ü" * 200, None])

    async def hook(event, data):
        return HookResult(action="deny", reason="no", rule=next(rules))

    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"]), hook)
        nc = await nats.connect(hook_router.url)
        replies = [await nc.request("hooks.call.a", b"{}", headers={"ce-type": "e"}, timeout=5) for _ in range(4)]
        headers = [reply.headers or {} for reply in replies]
        assert [h.get("Hook-Rule") for h in headers[:2]] == ["policy.py:12 no-push", "two  Hook-Nonce: lines"]
        assert "Hook-Nonce" not in headers[1]
        assert len(headers[2]["Hook-Rule"].encode()) <= 256
        assert "Hook-Rule" not in headers[3]
        assert all(b"rule" not in reply.data for reply in replies)
        await nc.close()
        await worker.close()
    with pytest.raises(ValueError, match="rule must be"):
        HookResult(rule=5)


async def test_a_call_in_vain_is_cancelled(hook_router):
    waiting, ended = asyncio.Event(), asyncio.Event()

    async def denies(event, data):
        await waiting.wait()
        return HookResult(action="deny", reason="no")

    async def waits(event, data):
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with connect() as client:
        worker = Worker(client)
        options = {"events": ["e"], "effect": "validate", "on_failure": "deny", "timeout_ms": 30_000}
        await worker.register(Registration(id="first", **options), denies)
        await worker.register(Registration(id="second", priority=1, **options), waits)
        verdict = await Agent(client).execute("e")
        assert (verdict.action, verdict.run.denied_by) == ("deny", "first")
        async with asyncio.timeout(5):
            await ended.wait()
        # A cancellation of a call that is not there means nothing, and the worker goes on.
        nc = await nats.connect(hook_router.url)
        await nc.publish("hooks.call.first.cancel", b"", headers={"Hook-Call-Id": "nobody"})
        await nc.publish("hooks.call.first.cancel", b"")
        await nc.flush()
        ended.clear()
        assert (await Agent(client).execute("e")).run.denied_by == "first"
        await nc.close()
        await worker.close()


async def test_discovery(hook_router):
    async def fails(event, data):
        raise ValueError("boom")

    async with connect() as client:
        worker = Worker(client, name="my-hooks", version="1.2.3", instance="i1")
        await worker.register(Registration(id="a", events=["e"]), passes)
        await worker.register(Registration(id="b", events=["e"], priority=1), fails)
        for _ in range(2):
            await Agent(client).emit("e")
        nc = await nats.connect(hook_router.url)

        async def ask(subject):
            return json.loads((await nc.request(subject, timeout=5)).data)

        ping = await ask("$SRV.PING.my-hooks")
        assert ping["type"] == "io.nats.micro.v1.ping_response"
        assert (ping["name"], ping["version"]) == ("my-hooks", "1.2.3")
        assert ping["metadata"] == {"prefix": "hooks", "instance": "i1"}
        assert (await ask(f"$SRV.PING.my-hooks.{ping['id']}"))["id"] == ping["id"]
        info = await ask(f"$SRV.INFO.my-hooks.{ping['id']}")
        assert [(e["name"], e["subject"], e["queue_group"]) for e in info["endpoints"]] == [
            ("a", "hooks.call.a", "a"),
            ("b", "hooks.call.b", "b"),
        ]
        stats = await ask("$SRV.STATS.my-hooks")
        good, bad = stats["endpoints"]
        assert stats["started"].endswith("Z")
        assert (good["num_requests"], good["num_errors"], good["data"]["refused"]) == (2, 0, {})
        assert (bad["num_requests"], bad["num_errors"], bad["data"]["refused"]) == (2, 2, {"500": 2})
        assert bad["last_error"] == "500:ValueError: boom"
        assert good["average_processing_time"] * 2 <= good["processing_time"] < 5e9
        everybody = await nc.subscribe(inbox := nc.new_inbox())
        await nc.publish("$SRV.PING", reply=inbox)
        found = [json.loads((await everybody.next_msg(5)).data)["name"] for _ in range(2)]
        assert sorted(found) == ["hook-router", "my-hooks"]

        # Nobody has a worker publish where it should not, nor on verbs that are not there.
        seen = await nc.subscribe("hooks.emit.>")
        await nc.publish("$SRV.PING.my-hooks", reply="hooks.emit.e")
        await nc.publish("$SRV.SHUTDOWN.my-hooks", reply=inbox)
        await ask("$SRV.PING.my-hooks")
        await nc.flush()
        assert seen.pending_msgs == everybody.pending_msgs == 0
        await worker.close()
        with pytest.raises(nats.errors.NoRespondersError):
            await ask("$SRV.PING.my-hooks")
        await nc.close()
