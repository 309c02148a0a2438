"""What a chain of three hooks costs over the bus, by what it costs in one process of amplifier-core.

Both send the same event to three hooks that let it pass, in turns, so that a busy machine slows both. The three
workers are in the agent's process, as those of amplifier-core are, and then in three of their own:

    python bench/chain.py

Both run in uvloop where that is installed (hookrouter[fast]). Needs amplifier-core, and the router's program: see
hookrouter.testing.find_binary.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from amplifier_core.hooks import HookRegistry as InProcess
from amplifier_core.models import HookResult as CoreResult

from hookrouter import Agent, HookRegistry, HookResult, Registration, Worker, _loop, connect
from hookrouter.testing import Router

ROUNDS, EVENTS = 40, 50
HERE = "in the agent's process"
DATA = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_call_id": "1"}


def worker(name: str) -> None:
    """Run one hook in a process of its own."""
    hooks = HookRegistry(hide_output=False)

    hooks.register("tool:pre", passes, id=name)

    async def main() -> None:
        await hooks.ready()
        print("ready", flush=True)
        await hooks.serve()

    _loop.run(main())


async def timed(emit: Callable[[str, dict], Awaitable[object]], times: list[float]) -> None:
    for _ in range(EVENTS):
        began = time.perf_counter()
        await emit("tool:pre", DATA)
        times.append(time.perf_counter() - began)


async def passes(event: str, data: dict) -> HookResult:
    return HookResult()


async def core_passes(event: str, data: dict) -> CoreResult:
    return CoreResult(action="continue")


async def compare(where: str) -> None:
    core = InProcess()
    core.set_default_fields(session_id="s1")
    for n in range(3):
        core.register("tool:pre", core_passes, priority=n, name=f"hook{n}")
    async with contextlib.AsyncExitStack() as stack:
        workers = []
        if where == HERE:
            for n in range(3):
                workers.append(Worker(await stack.enter_async_context(connect(role="worker"))))
                await workers[n].register(Registration(id=f"w{n}", events=["tool:pre"]), passes)
        agent = Agent(await stack.enter_async_context(connect()), session="s1")
        assert (await agent.emit("tool:pre", DATA)).run.hooks == 3
        inside: list[float] = []
        bus: list[float] = []
        await timed(core.emit, [])
        await timed(agent.emit, [])
        for _ in range(ROUNDS):
            await timed(core.emit, inside)
            await timed(agent.emit, bus)
        for one in workers:
            await one.close()
    here, there = statistics.median(inside), statistics.median(bus)
    print(f"workers {where}: {there * 1e6:.0f} us / {here * 1e6:.0f} us = {there / here:.2f}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        router = Router(directory, flags=["--audit=off", "--log-level=warn"]).start()
        os.environ.update(router.env())
        workers: list[subprocess.Popen[bytes]] = []
        try:
            _loop.run(compare(HERE))
            for n in range(3):
                workers.append(subprocess.Popen([sys.executable, __file__, f"w{n}"], stdout=subprocess.PIPE))  # noqa: PERF401
            for process in workers:
                assert process.stdout is not None
                process.stdout.readline()
            _loop.run(compare("in three processes"))
        finally:
            for process in workers:
                process.kill()
                process.wait()
            router.kill()


if __name__ == "__main__":
    worker(sys.argv[1]) if len(sys.argv) > 1 else main()
