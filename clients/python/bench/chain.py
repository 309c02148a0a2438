"""What a chain of three hooks costs over the bus, by what it costs in one process of amplifier-core.

Both send the same event to three hooks that let it pass, in turns, so that a busy machine slows both:

    python bench/chain.py

Both run in uvloop where that is installed (hookrouter[fast]). Needs amplifier-core, and the router's program: see
hookrouter.testing.find_binary.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from amplifier_core.hooks import HookRegistry as InProcess
from amplifier_core.models import HookResult as CoreResult

from hookrouter import Agent, HookRegistry, HookResult, _loop, connect
from hookrouter.testing import Router

ROUNDS, EVENTS = 40, 50
DATA = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_call_id": "1"}


def worker(name: str) -> None:
    """Run one hook in a process of its own."""
    hooks = HookRegistry(hide_output=False)

    @hooks.on("tool:pre", id=name)
    async def passes(event: str, data: dict) -> HookResult:
        return HookResult()

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


async def compare() -> float:
    core = InProcess()
    core.set_default_fields(session_id="s1")

    async def passes(event: str, data: dict) -> CoreResult:
        return CoreResult(action="continue")

    for n in range(3):
        core.register("tool:pre", passes, priority=n, name=f"hook{n}")
    async with connect() as client:
        agent = Agent(client, session="s1")
        assert (await agent.emit("tool:pre", DATA)).run.hooks == 3
        inside: list[float] = []
        bus: list[float] = []
        await timed(core.emit, [])
        await timed(agent.emit, [])
        for _ in range(ROUNDS):
            await timed(core.emit, inside)
            await timed(agent.emit, bus)
    for name, times in (("in one process of amplifier-core", inside), ("agent and three workers on the bus", bus)):
        cuts = statistics.quantiles(times, n=100)
        print(f"{name}: p50 {cuts[49] * 1e6:.0f} us, p99 {cuts[98] * 1e6:.0f} us")
    return statistics.median(bus) / statistics.median(inside)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        router = Router(directory, flags=["--audit=off", "--log-level=warn"]).start()
        os.environ.update(router.env())
        workers = [subprocess.Popen([sys.executable, __file__, f"w{n}"], stdout=subprocess.PIPE) for n in range(3)]
        try:
            for process in workers:
                assert process.stdout is not None
                process.stdout.readline()
            print(f"ratio of the p50s: {_loop.run(compare()):.2f}")
        finally:
            for process in workers:
                process.kill()
                process.wait()
            router.kill()


if __name__ == "__main__":
    worker(sys.argv[1]) if len(sys.argv) > 1 else main()
