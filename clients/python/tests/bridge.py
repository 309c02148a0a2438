"""The bridge of the conformance suite to this package: hooks and agents through its public API.

test/conformance/hooks.go and agent.go say what its lines are.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from hookrouter import Agent, Client, HookResult, Registration, Session, Worker, connect, current_call

DATA = "data"


class Hooks:
    """The scripted hooks of one prefix."""

    def __init__(self, client: Client) -> None:
        self.worker = Worker(client)
        self.quiet = False

    async def register(self, registration: dict[str, Any], behavior: dict[str, Any]) -> None:
        served = 0

        async def handler(event: str = "", data: dict[str, Any] | None = None) -> Any:
            nonlocal served
            now = behavior
            if self.quiet or current_call().mode == "observe":
                return None
            if behavior.get("sequence"):
                now = behavior["sequence"][min(served, len(behavior["sequence"]) - 1)]
                now = {**now, "sleep_ms": now.get("sleep_ms", 0) + behavior.get("sleep_ms", 0)}
            served += 1
            await asyncio.sleep(now.get("sleep_ms", 0) / 1000)
            return behave(now, data)

        reg = Registration(**registration, none_passes=True)
        await (self.worker.register_contributor if reg.channels else self.worker.register)(reg, handler)


def behave(b: dict[str, Any], data: dict[str, Any] | None) -> Any:
    """Do what a script says with one call."""
    if "error" in b:
        raise RuntimeError(b["error"])
    for verbatim in ("return", "return_raw", "return_text", "value"):
        if verbatim in b:
            if verbatim == "return_text" and data is None:
                return {b["return_text"]}  # a contributor's: a set is not JSON
            return b[verbatim]
    if "mutate" in b:
        data.update(b["mutate"])
        return HookResult(action="continue")
    if "set" in b:
        return HookResult(action="modify", data={**data, **b["set"]})
    if "remove" in b:
        return HookResult(action="modify", data={k: v for k, v in data.items() if k != b["remove"]})
    if "increment" in b:
        old = data.get(b["increment"])
        return HookResult(action="modify", data={**data, b["increment"]: (old if type(old) is int else 0) + 1})
    if "append" in b:
        old = data.get(b["append"]["key"])
        grown = [*(old if isinstance(old, list) else []), b["append"]["value"]]
        return HookResult(action="modify", data={**data, b["append"]["key"]: grown})
    return None


class Stage:
    """A context manager and a display that keep what they get."""

    def __init__(self, context: str, messages: list[Any]) -> None:
        self.context, self.messages = context, list(messages)
        self.added: list[Any] = []
        self.shown: list[Any] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.added.append(message)
        if self.context == "failing":
            raise OSError("the context manager fails")
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        return self.messages

    def show_message(self, message: str, level: str, source: str) -> None:
        self.shown.append({"message": message, "level": level, "source": source})


class Agents:
    """The agent of one prefix."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.begin({"context": "present", "display": "present"})

    def begin(self, line: dict[str, Any]) -> None:
        self.stage = Stage(line["context"], line.get("messages") or [])
        self.context = None if line["context"] == "none" else self.stage
        self.display = None if line["display"] == "none" else self.stage

    async def run(self, op: str, line: dict[str, Any]) -> Any:
        name, timeout = line["name"], line.get("timeout_s")
        agent = Agent(self.client, session=line.get("session", ""), name_session=False)
        agent.set_default_fields(**line.get("defaults", {}))
        if op == "emit":
            result = await agent.emit(name, line[DATA].encode(), timeout=timeout)
            return {k: v for k, v in vars(result).items() if k not in ("run", "context_injections")}
        if op == "execute":
            return await self.execute(agent, name, line[DATA].encode(), timeout)
        if op == "collect":
            return await agent.emit_and_collect(name, line[DATA].encode(), timeout)
        if op == "contributions":
            return await agent.collect_contributions(name, timeout)
        if op == "handlers":
            return await agent.list_handlers(name or None)
        return await (agent.new_turn() if name == "turn" else agent.end_session())

    async def execute(self, agent: Agent, name: str, data: bytes, timeout: float | None) -> Any:
        session = Session(agent, context=self.context, display=self.display, merged=True)
        self.stage.added, self.stage.shown = [], []
        verdict = await session.execute(name, data, timeout=timeout)
        return {
            "action": verdict.action, "reason": verdict.reason or None, "data": verdict.data,
            "suppress_output": list(verdict.suppress_output), "injected_tokens": verdict.injected_tokens,
            "warnings": [vars(w) for w in verdict.warnings],
            "delivered": {
                "messages": self.stage.added, "display": self.stage.shown, "request": await session.next_call(),
                "transient": [vars(m) for m in verdict.messages if m.ephemeral],
            },
        }  # fmt: skip


async def do(hooks: Hooks, agents: Agents, op: str, line: dict[str, Any]) -> Any:
    if op == "register":
        await hooks.register(line["registration"], line["behavior"])
    elif op == "unregister":
        await hooks.worker.retire(line["id"])
    elif op == "quiet":
        hooks.quiet = line["on"]
    elif op == "begin":
        agents.begin(line)
    else:
        return await agents.run(op, line)
    return None


async def main() -> None:
    prefixes: dict[str, asyncio.Future[tuple[Hooks, Agents]]] = {}
    running: set[asyncio.Task[None]] = set()

    async def connected(prefix: str) -> tuple[Hooks, Agents]:
        client = await connect(os.environ["NATS_URL"], role="worker", prefix=prefix)
        return Hooks(client), Agents(client)

    async def answer(line: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"n": line["n"]}
        try:
            if line["prefix"] not in prefixes:
                prefixes[line["prefix"]] = asyncio.ensure_future(connected(line["prefix"]))
            answer["result"] = await do(*await prefixes[line["prefix"]], line["op"], line)
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()

    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while text := await reader.readline():
        task = asyncio.create_task(answer(json.loads(text)))
        running.add(task)
        task.add_done_callback(running.discard)


if __name__ == "__main__":
    import logging

    logging.disable()
    asyncio.run(main())
