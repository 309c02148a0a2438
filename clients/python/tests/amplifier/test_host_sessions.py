"""Sessions of `hookrouter host`: whose they are, and what is left of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookrouter import Agent, connect
from hookrouter.amplifier import host as hosts
from hookrouter.amplifier._load import Module
from hookrouter.amplifier.host import Host
from hookrouter.testing.router import Router


def tool(name: str) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": {"path": "x"}}


async def test_an_id_of_two_senders_is_two_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one agent did in its s1 permits nothing in another's."""
    monkeypatch.delenv("NATS_CREDS", raising=False)
    router = Router(tmp_path / "router", auth=True).start()
    creds = tmp_path / "router/store/auth/creds"
    try:
        async with (
            connect(router.url, creds=str(creds / "worker.creds")) as worker,
            connect(router.url, creds=str(creds / "agent.creds")) as one,
            connect(router.url, creds=str(creds / "admin.creds")) as other,
        ):
            host = Host(worker, [Module("hooks-reads", {"more": True}, on_failure="deny")])
            await host.start()
            assert await Agent(one, session="s1").execute("tool:pre", tool("Read"))
            assert (await Agent(other, session="s1").execute("tool:pre", tool("Edit"))).reason == "read it first"
            assert await Agent(one, session="s1").execute("tool:pre", tool("Edit"))
            more = await Agent(one, session="s1").execute("more")
            assert (more.reason, more.run.hooks) == ("of this session alone", 1)
            await host.close()
    finally:
        router.kill()


async def test_what_a_session_registered_goes_with_it(hook_router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that names ever new sessions leaves no hooks behind."""
    monkeypatch.setattr(hosts, "MAX_SESSIONS", 2)
    async with connect() as client:
        host = Host(client, [Module("hooks-reads", {"more": True})])
        await host.start()
        for n in range(6):
            assert await Agent(client, session=f"s{n}").execute("tool:pre", tool("Read"))
        agent = Agent(client, session="s5")
        async with asyncio.timeout(10):  # its own, and that of the session before
            while len(await agent.registry()) != 3 or not await agent.explain("more"):
                await asyncio.sleep(0.02)
        assert (await agent.execute("more")).reason == "of this session alone"
        await host.close()
        assert await agent.registry() == []
