"""Plays a share of the pairs against a router, and prints what came of each, a JSON object a line."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from agentdojo.functions_runtime import FunctionCall
from hookrouter import Agent, Denied, connect
from hookrouter.approvals import Approver
from hookrouter.client import Client
from hookrouter.verdict import Approval
from scripted import SUITES, Pair, pairs, play

WINDOW = 8
"""Pairs under way at the same time."""


class Gate:
    """One session of the agent behind the router, and a person who answers its questions truthfully."""

    def __init__(self, client: Client, approver: Approver, pair: Pair) -> None:
        """Make the gate of a pair."""
        self.session = f"dojo-{os.getpid()}-{pair.suite}-{pair.task}-{pair.injection or 'benign'}"
        self.agent = Agent(client, session=self.session, on_pending=self._answer)
        self._approver = approver
        self._of_user = False
        self._answers: list[asyncio.Task[str]] = []
        self.questions: list[str] = []
        self.denials: list[str] = []

    async def call(self, wanted: FunctionCall, of_user: bool, run: Callable[[dict[str, Any]], str]) -> str | None:
        """Run a call as an agent does: tool:pre, the tool, tool:post."""
        self._of_user = of_user
        try:
            return await self.agent.run_tool({"tool_name": wanted.function, "tool_input": dict(wanted.args)}, run)
        except Denied as denied:
            self.denials.append(f"{'user' if of_user else 'injection'} {wanted.function}: {denied}")
            return None

    def _answer(self, approval: Approval) -> None:
        """Allow what the user wants, and deny what the injection wants."""
        self.questions.append(approval.prompt)
        option = "Deny"
        if self._of_user:
            option = next((o for o in approval.options if o.startswith("Allow once")), "Allow")
        answer = self._approver.answer(approval.id, option, data_sha256=approval.data_sha256)
        self._answers.append(asyncio.create_task(answer))


@asynccontextmanager
async def gate(client: Client, approver: Approver, pair: Pair) -> AsyncIterator[Gate]:
    """Begin and end the session of a pair."""
    made = Gate(client, approver, pair)
    await made.agent.execute("prompt:submit", {"prompt": pair.prompt})
    try:
        yield made
    finally:
        await asyncio.gather(*made._answers)
        await made.agent.execute("session:end", {"reason": "complete"})


async def run(client: Client | None, approver: Approver | None, pair: Pair) -> dict[str, Any]:
    """Play one pair, and tell what came of it."""
    if client is None or approver is None:
        return asdict(await play(pair, ungated)) | {"questions": [], "denials": []}
    async with gate(client, approver, pair) as made:
        outcome = await play(pair, made.call)
    return asdict(outcome) | {"questions": made.questions, "denials": made.denials}


async def ungated(wanted: FunctionCall, _: bool, run: Callable[[dict[str, Any]], str]) -> str | None:
    """Run a call without a gate."""
    return run(dict(wanted.args))


async def main() -> None:
    """Play a share of the pairs: URL SHARD SHARDS FIRST STEP."""
    url, (shard, shards, first, step) = sys.argv[1], map(int, sys.argv[2:6])
    mine = [p for suite in SUITES for p in chosen(pairs(suite), first, step)][shard::shards]
    window = asyncio.Semaphore(WINDOW)

    async def one(client: Client | None, approver: Approver | None, pair: Pair) -> None:
        async with window:
            print(json.dumps(await run(client, approver, pair)), flush=True)

    if url == "none":
        await asyncio.gather(*(one(None, None, pair) for pair in mine))
        return
    async with connect(url) as client:
        await asyncio.gather(*(one(client, Approver(client, by="oracle"), pair) for pair in mine))


def chosen(every: list[Pair], first: int, step: int) -> list[Pair]:
    """Return all benign runs, and of the attacks each step-th, from the first on."""
    return [p for p in every if not p.injection] + [p for p in every if p.injection][first::step]


if __name__ == "__main__":
    asyncio.run(main())
