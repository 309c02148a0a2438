"""What a chain of three hooks costs over the bus, by what it costs in one process of amplifier-core.

Both send the same event to three hooks that let it pass, in turns of a few events, so that a busy machine slows both.
Each pair of turns gives one ratio of p50; what is printed and judged is the median of these ratios.

    python bench/chain.py [ROUNDS]

Go's hooks are in the agent's process, as those of amplifier-core are, and then in one of their own; the three Python
workers are in the agent's process and then in three. The router is always a process of its own, with audit and
authentication off. Python runs in uvloop where that is installed (hookrouter[fast]). Needs amplifier-core, the router's
program (see hookrouter.testing.find_binary), and Go for the Go side.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

from amplifier_core.hooks import HookRegistry as InProcess
from amplifier_core.models import HookResult as CoreResult

from hookrouter import Agent, HookRegistry, HookResult, Registration, Worker, _loop, connect
from hookrouter.testing import Router

EVENTS = 20
DATA = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_call_id": "1"}

Send = Callable[[int], Awaitable[list[float]]]
"""Sends so many events and returns the seconds that each took."""


def turn(emit: Callable[[str, dict], Awaitable[object]]) -> Send:
    async def send(count: int) -> list[float]:
        times = []
        for _ in range(count):
            began = time.perf_counter()
            await emit("tool:pre", DATA)
            times.append(time.perf_counter() - began)
        return times

    return send


def amplifier() -> Send:
    async def passes(event: str, data: dict) -> CoreResult:
        return CoreResult(action="continue")

    core = InProcess()
    core.set_default_fields(session_id="s1")
    for n in range(3):
        core.register("tool:pre", passes, priority=n, name=f"hook{n}")
    return turn(core.emit)


@contextlib.contextmanager
def program(*command: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program until its standard input ends."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(10)


@contextlib.asynccontextmanager
async def go(binary: str, *roles: str) -> AsyncIterator[Send]:
    with contextlib.ExitStack() as stack:
        for role in roles:
            process = stack.enter_context(program(binary, role))
            if role == "hooks":
                process.stdout.readline()
        process.stdin.write(json.dumps(DATA) + "\n")

        async def send(count: int) -> list[float]:
            process.stdin.write(f"{count}\n")
            return [t / 1e9 for t in json.loads(process.stdout.readline())]

        yield send


async def passes(event: str, data: dict) -> HookResult:
    return HookResult()


@contextlib.asynccontextmanager
async def python(separate: bool) -> AsyncIterator[Send]:
    async with contextlib.AsyncExitStack() as stack:
        for n in range(3):
            if separate:
                process = stack.enter_context(program(sys.executable, __file__, f"w{n}"))
                process.stdout.readline()
            else:
                worker = Worker(await stack.enter_async_context(connect(role="worker")))
                stack.push_async_callback(worker.close)
                await worker.register(Registration(id=f"w{n}", events=["tool:pre"]), passes)
        agent = Agent(await stack.enter_async_context(connect()), session="s1")
        assert (await agent.emit("tool:pre", DATA)).run.hooks == 3
        yield turn(agent.emit)


async def compare(
    name: str, most: float | None, side: contextlib.AbstractAsyncContextManager[Send], rounds: int
) -> bool:
    core = amplifier()
    inside: list[float] = []
    bus: list[float] = []
    ratios = []
    async with side as send:
        await core(EVENTS)
        await send(EVENTS)
        for _ in range(rounds):
            here, there = await core(EVENTS), await send(EVENTS)
            ratios.append(statistics.median(there) / statistics.median(here))
            inside += here
            bus += there
    low, ratio, high = statistics.quantiles(ratios, n=4)
    verdict = "for comparison" if most is None else f"<= {most}  " + ("ok" if ratio <= most else "MISSED")
    times = f"{statistics.median(bus) * 1e6:.0f} us / {statistics.median(inside) * 1e6:.0f} us"
    print(f"{name:48} {times:>17}  {ratio:.2f} ({low:.2f} to {high:.2f})  {verdict}", flush=True)
    return most is None or ratio <= most


def worker(name: str) -> None:
    """Run one hook in a process of its own, until standard input ends."""

    async def main() -> None:
        async with HookRegistry(hide_output=False) as hooks:
            hooks.register("tool:pre", passes, id=name)
            await hooks.ready()
            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.read)

    _loop.run(main())


def main(rounds: int) -> int:
    ok = True
    with tempfile.TemporaryDirectory() as directory:
        binary = os.path.join(directory, "goside")
        if shutil.which("go"):
            subprocess.run(["go", "build", "-o", binary, "./goside"], cwd=Path(__file__).parent, check=True)
        router = Router(directory, flags=["--audit=off", "--log-level=warn"]).start()
        os.environ.update(router.env())
        sides = [
            ("Python agent, three workers in its process", 3.0, python(False)),
            ("Python agent, three workers in three processes", 3.0, python(True)),
        ]
        if os.path.exists(binary):
            sides = [
                ("Go agent, hooks in its process", 1.0, go(binary, "both")),
                ("Go agent, hooks in a process of their own", None, go(binary, "hooks", "agent")),
                *sides,
            ]
        try:
            for name, most, side in sides:
                ok &= _loop.run(compare(name, most, side, rounds))
        finally:
            router.kill()
    print("load: {:.1f} {:.1f} {:.1f}, processors: {}".format(*os.getloadavg(), os.cpu_count()))
    return 0 if ok else 1


if __name__ == "__main__":
    argument = sys.argv[1] if len(sys.argv) > 1 else "100"
    if argument.isdecimal():
        sys.exit(main(int(argument)))
    worker(argument)
