"""NATS that goes away, another loop, another process, another router."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import socket
import subprocess
import time

import nats
import pytest

from hookrouter import (
    Agent,
    ConnectionLost,
    Disconnected,
    HookRegistry,
    HookResult,
    Impostor,
    NoRouter,
    NotPermitted,
    Registration,
    RouterError,
    Unreachable,
    Worker,
    WrongLoop,
    WrongProcess,
    connect,
)
from hookrouter.testing import Router, find_binary


async def test_nats_down_at_the_start():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        url = f"nats://me:secret@127.0.0.1:{sock.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(Unreachable, match=r"\*\*\*@127") as failed:
            await connect(url, timeout=1)
        assert "secret" not in str(failed.value)
        sock.listen()  # takes connections and says nothing
        with pytest.raises(Unreachable):
            await connect(url, timeout=0.5)
        assert time.monotonic() - began < 5
        with pytest.raises(Unreachable):
            await HookRegistry(url=url).emit("tool:pre", {})


async def test_nats_down_during_a_call(hook_router):
    began = asyncio.Event()

    async def slow(event, data):
        began.set()
        await asyncio.sleep(20)

    async with connect() as one, connect(patience=0.3) as two:
        worker = Worker(one)
        await worker.register(Registration(id="slow", events=["e"], on_failure="deny", timeout_ms=30_000), slow)
        asking = [asyncio.create_task(Agent(two).emit("e")), asyncio.create_task(Agent(two).execute("e"))]
        await began.wait()
        hook_router.kill()
        for task in asking:
            with pytest.raises((ConnectionLost, Disconnected)):
                await task
        with pytest.raises(Disconnected):
            await Agent(two).execute("e")
        # The worker comes back by itself, and is asked. Until then the event is denied.
        began.clear()
        hook_router.start()
        two.patience = 20
        while not began.is_set():
            asking = asyncio.create_task(Agent(two).execute("e"))
            await asyncio.wait([asking, heard := asyncio.create_task(began.wait())], return_when="FIRST_COMPLETED")
            assert began.is_set() or not asking.result()
            asking.cancel()
            heard.cancel()
        await worker.close(0.1)


async def test_a_restart_in_between_is_survived(hook_router):
    async with connect(patience=20) as client:
        worker = Worker(client)
        await worker.register(Registration(id="g", events=["e"], on_failure="deny"), lambda e, d: HookResult())
        for end in (hook_router.stop, hook_router.kill):
            assert (await Agent(client).execute("e")).permitted
            end()
            asking = asyncio.create_task(Agent(client).execute("e"))
            await asyncio.to_thread(hook_router.start)
            await asking  # permitted or denied: the hook may not be back yet
            while not (await Agent(client).execute("e")).permitted:
                await asyncio.sleep(0.05)
        await worker.close()


def test_two_event_loops(hook_router):
    async def make():
        return await connect()

    loop = asyncio.new_event_loop()
    client = loop.run_until_complete(make())

    async def use():
        with pytest.raises(WrongLoop):
            await Agent(client).execute("tool:pre")
        with pytest.raises(WrongLoop):
            await Worker(client).register(Registration(id="a", events=["e"]), lambda e, d: None)

    asyncio.run(use())
    loop.run_until_complete(client.close())
    loop.close()


async def test_a_fork(hook_router):
    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="g", events=["e"], on_failure="deny"), lambda e, d: HookResult())
        pid = os.fork()
        if pid == 0:

            async def child():
                try:
                    await Agent(client).execute("e")
                except WrongProcess:
                    return 7
                return 1

            code = 2
            try:
                asyncio._set_running_loop(None)
                code = asyncio.new_event_loop().run_until_complete(child())
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        for _ in range(20):  # the child took nothing of the parent's connection
            verdict = await Agent(client).execute("e")
            assert verdict.permitted
            assert verdict.run.hooks == 1
        assert client.transport.generation == 1
        await worker.retire("g")


async def test_events_that_are_too_large_are_refused_and_nothing_breaks(hook_router):
    async with connect() as client:
        payload = client.transport._nats.max_payload
        for size in (600_000, payload - 300, payload, 5_000_000):
            with pytest.raises(RouterError) as refused:
                await Agent(client).execute("e", {"x": "y" * size})
            assert refused.value.code == 413
        assert client.transport.generation == 1
        assert (await Agent(client).execute("e")).permitted


async def test_credentials_are_found_by_role_and_name_their_router(tmp_path, monkeypatch):
    router = Router(tmp_path / "router", auth=True).start()
    for name, value in router.env().items():
        monkeypatch.setenv(name, value)
    try:
        with pytest.raises(Unreachable, match="credentials"):
            await connect(role="nobody", timeout=2)
        with pytest.raises(Unreachable, match=r"none\.creds.*that is the credentials file"):
            await connect(creds=str(tmp_path / "none.creds"), timeout=2)
        async with HookRegistry() as hooks:
            hooks.register("e", lambda e, d: HookResult(action="deny", reason="heard"))
            assert (await hooks.execute("e")).reason == "heard"
        async with connect() as client:
            assert client.transport._identity.router.startswith("N")
            assert (await Agent(client).execute("e")).permitted
            with pytest.raises(NotPermitted):  # an agent may not answer for hooks
                await Worker(client)._leave("a", 60)
    finally:
        router.kill()


async def test_credentials_that_are_rotated_are_read_again(tmp_path, monkeypatch):
    router = Router(tmp_path / "router", auth=True).start()
    for name, value in router.env().items():
        monkeypatch.setenv(name, value)
    try:
        async with connect(patience=20) as client:
            assert (await Agent(client).execute("e")).permitted
            keys = router.directory / "store" / "auth"
            subprocess.run([find_binary("hookctl"), "auth", "rotate", "agent", "--dir", str(keys)], check=True)
            while client.transport.generation == 1:  # the server ends the connection
                with contextlib.suppress(ConnectionLost):
                    assert (await Agent(client).execute("e")).permitted
            assert (await Agent(client).execute("e")).permitted
    finally:
        router.kill()


async def test_another_program_that_took_the_port_is_not_obeyed(tmp_path, monkeypatch):
    router = Router(tmp_path / "router", auth=True).start()
    for name, value in router.env().items():
        monkeypatch.setenv(name, value)
    other = Router(tmp_path / "other")
    try:
        async with connect(patience=1) as client:
            assert (await Agent(client).execute("e")).permitted
            router.kill()
            other.url = router.url
            await asyncio.to_thread(other.start)  # it takes every credential, and permits
            while not client.connected:
                await asyncio.sleep(0.02)
            with pytest.raises(NoRouter):
                await Agent(client).execute("e")
            nc = await nats.connect(other.url)

            async def prove(msg):
                await nc.publish(msg.reply, base64.b64encode(os.urandom(64)), headers=dict(msg.headers))

            await nc.subscribe("hooks.prove", cb=prove)
            await nc.flush()
            for send in (Agent(client).execute, Agent(client).emit):
                with pytest.raises(Impostor):
                    await send("e")
            await nc.close()
    finally:
        router.kill()
        other.kill()


async def test_what_nats_does_not_permit_fails_at_once(tmp_path):
    router = Router(tmp_path, auth=True).start()
    try:
        (creds,) = tmp_path.rglob("worker.creds")
        async with connect(router.url, creds=str(creds)) as client:
            with pytest.raises(NotPermitted, match=r"hooks\.execute\.tool\.pre"):
                await Agent(client).execute("tool:pre", timeout=3600)
    finally:
        router.kill()


async def test_replies_go_to_inboxes_that_nobody_can_guess(hook_router):
    nc = await nats.connect(hook_router.url)
    seen = []

    async def note(msg):
        seen.append((msg.reply, msg.headers["Hook-Nonce"]))

    await nc.subscribe("hooks.execute.e", cb=note)
    async with connect() as client:
        for _ in range(3):
            await Agent(client).execute("e")
    await nc.close()
    assert len({nonce for _, nonce in seen}) == 3
    assert len({reply for reply, _ in seen}) == 3
    assert all(len(reply.split(".")[2]) >= 26 for reply, _ in seen)
