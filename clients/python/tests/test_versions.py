"""An old and a new package version on one bus."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging

import nats
import pytest

from hookrouter import Agent, HookResult, InvalidReply, Registration, Worker, connect

GUARD = {"events": ["e"], "on_failure": "deny", "timeout_ms": 300}


@contextlib.asynccontextmanager
async def plain(router):
    """A program of a version that is not here: what it sends is written out."""
    nc = await nats.connect(router.url)
    try:
        yield nc
    finally:
        await nc.close()


async def old_worker(nc, body, answer, hook="guard"):
    """Answer as the first version of the protocol did: no instance, no protocol, no id of the call."""

    async def call(msg):
        await nc.publish(msg.reply, json.dumps(answer).encode())  # respond() would repeat the headers

    await nc.subscribe(f"hooks.call.{hook}", queue=hook, cb=call)
    return json.loads((await nc.request(f"hooks.register.{hook}", json.dumps(body).encode(), timeout=10)).data)


async def test_old_and_new_workers_share_a_hook(hook_router):
    """Both are heard; once the last old one has gone, replies must repeat the id of the call."""
    async with connect() as client, plain(hook_router) as nc:
        reply = await old_worker(nc, GUARD, {"action": "deny", "reason": "old"})
        worker, agent = Worker(client), Agent(client)
        await worker.register(Registration(id="guard", **GUARD), lambda e, d: HookResult(action="deny", reason="new"))
        heard = set()
        while heard != {"old", "new"}:
            verdict = await agent.execute("e")
            assert not verdict.permitted
            heard.add(verdict.reason)
        gone = json.dumps({"instance": reply["instance"]}).encode()
        await nc.request("hooks.unregister.guard", gone, timeout=5)
        # It answers all the same, and nobody listens to it: where its turn comes, the guard has failed.
        reasons = {v.reason for v in await asyncio.gather(*(agent.execute("e") for _ in range(5)))}
        assert reasons <= {"new", 'hook "guard" failed (timeout) and its on_failure is deny'}
        await worker.retire("guard")


async def test_a_new_registration_replaces_an_old_one_which_is_told(hook_router):
    """And cancellations mean nothing to a worker that does not know them."""
    async with connect() as client, plain(hook_router) as nc:
        await old_worker(nc, {**GUARD, "instance": "old"}, {"action": "deny", "reason": "old"})
        worker = Worker(client)
        new = Registration(id="guard", effect="validate", **GUARD)
        await worker.register(new, lambda e, d: HookResult(action="deny", reason="new"))
        body = json.dumps({**GUARD, "instance": "old"}).encode()
        renewed = json.loads((await nc.request("hooks.register.guard", body, timeout=5)).data)
        assert renewed["in_force"]["effect"] == "validate"
        await old_worker(nc, {"events": ["e"], "priority": 1}, {"action": "continue"}, "second")
        await nc.publish("hooks.call.second.cancel", b"", headers={"Hook-Call-Id": "x"})
        for _ in range(10):
            assert (await Agent(client).execute("e")).reason in ("old", "new")
        await worker.retire("guard")


async def test_an_old_agent_beside_a_new_worker(hook_router):
    """It sends no nonce, no attributes and no timeout, and reads the members that it knows."""
    async with connect() as client, plain(hook_router) as nc:
        worker = Worker(client)
        await worker.register(
            Registration(id="guard", effect="validate", **GUARD),
            lambda e, d: HookResult(action="deny", reason="no", rule="r1") if d.get("bad") else HookResult(),
        )
        for data, action in (({"bad": 1}, "deny"), ({"x": 1}, "continue")):
            reply = await nc.request("hooks.execute.e", json.dumps(data).encode(), timeout=10)
            assert json.loads(reply.data)["action"] == action
            assert "Hook-Rule" not in reply.headers
        await worker.retire("guard")


async def test_what_a_newer_agent_says_is_passed_on_or_means_nothing(hook_router):
    seen = asyncio.Queue()
    async with connect() as client, plain(hook_router) as nc:
        worker = Worker(client)
        await worker.register(Registration(id="guard", **GUARD), lambda e, d: seen.put_nowait(d) or HookResult())
        headers = {"Hook-Future": "1", "Hook-Protocol": "9", "X-Other": "y"}
        body = {"tool_name": "Bash", "a_member_of_tomorrow": {"x": [1]}}
        reply = await nc.request("hooks.execute.e", json.dumps(body).encode(), headers=headers, timeout=10)
        assert json.loads(reply.data)["action"] == "continue"
        assert (await seen.get())["a_member_of_tomorrow"] == {"x": [1]}
        # A router of tomorrow calls with headers and in ways that this worker does not know.
        reply = await nc.request("hooks.call.guard", b"{}", headers={"ce-type": "e", **headers}, timeout=5)
        assert json.loads(reply.data) == {"action": "continue"}
        await worker.retire("guard")


async def test_a_registration_with_members_that_the_router_does_not_know(hook_router):
    """Refused of protocol 1, which the router knows in full; of a newer one passed over and named."""
    async with plain(hook_router) as nc:

        async def register(**more):
            body = json.dumps({"events": ["e"], **more}).encode()
            return await nc.request("hooks.register.a", body, timeout=10)

        assert (await register(tomorrow=1)).headers["Nats-Service-Error-Code"] == "400"
        assert json.loads((await register(tomorrow=1, protocol=9)).data)["ignored"] == ["tomorrow"]


@pytest.fixture
def fake(hook_router):
    """A router of another version, under a prefix of its own: answers what it is told."""

    @contextlib.asynccontextmanager
    async def start(answers):
        async with plain(hook_router) as nc:

            async def answer(msg):
                verb = msg.subject.split(".")[1]
                echo = {"Hook-Nonce": msg.headers["Hook-Nonce"], "Hook-Tomorrow": "x"}
                if "ce-id" in msg.headers:
                    echo["Hook-Event-Id"] = msg.headers["ce-id"]
                await nc.publish(msg.reply, json.dumps(answers[verb]).encode(), headers=echo)

            await nc.subscribe("fake.>", cb=answer)
            await nc.flush()
            yield nc

    return start


@pytest.mark.parametrize(
    ("verdict", "permitted"),
    [
        ({"action": "continue", "injected_tokens": 0, "tomorrow": {"x": 1}}, True),
        ({"action": "continue"}, True),  # of an older router: no count
        ({"action": "deny", "reason": "no", "tomorrow": []}, False),
        ({"action": "allow_once", "injected_tokens": 0}, None),
        ({"verdict": "continue"}, None),
    ],
)
async def test_verdicts_of_another_version(fake, verdict, permitted):
    async with fake({"execute": verdict}), connect(prefix="fake", patience=1) as client:
        if permitted is None:
            with pytest.raises(InvalidReply):
                await Agent(client).execute("e")
        else:
            assert (await Agent(client).execute("e")).permitted is permitted


async def test_an_older_router_that_passes_over_members_is_reported(fake, caplog):
    caplog.set_level(logging.WARNING, "hookrouter")
    register = {"id": "a", "ttl_ms": 15_000, "protocol": 1, "ignored": ["effect"]}
    async with fake({"register": register, "unregister": {}}), connect(prefix="fake") as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"], effect="validate"), lambda e, d: HookResult())
        assert "the router does not know effect" in caplog.text
        await worker.close()
