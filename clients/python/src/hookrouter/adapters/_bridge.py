"""A connection in a separate thread, for code in any event loop or in none."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from ..agent import Agent
from ..client import Client, connect
from ..interfaces import DisplaySystem
from ..session import Session
from ..verdict import Approval, Execution

T = TypeVar("T")


class Heard(list[dict[str, Any]]):
    """The messages of hooks for the model's context: role, content and metadata of each."""

    def add_message(self, message: dict[str, Any]) -> None:
        """Append a message."""
        self.append(message)

    def get_messages(self) -> list[dict[str, Any]]:
        """Return no messages: the added ones are read from this object."""
        return []

    def of(self, role: str) -> Heard:
        """Return the messages with a role."""
        return Heard(message for message in self if message["role"] == role)

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n\n".join(message["content"] for message in self)


class Bridge:
    """Executes events over a connection that it opens at the first use.

    SDKs run agents in short-lived event loops, in several at a time, and in threads without one,
    but a client belongs to one loop.
    """

    def __init__(
        self,
        source: str,
        display: DisplaySystem | None,
        on_pending: Callable[[Approval], None] | None,
        connection: Mapping[str, Any],
    ) -> None:
        self._source, self._display, self._on_pending = source, display, on_pending
        self._connection = dict(connection)
        self._lock = threading.Lock()
        self._owner = 0  # the process whose thread runs the loop: a fork has no threads
        self._loop: asyncio.AbstractEventLoop
        self._connecting: asyncio.Lock
        self._client: Client | None = None
        self._running: set[asyncio.Task[Any]] = set()

    async def execute(self, session: str, event: str, data: Mapping[str, Any], heard: Heard) -> Execution:
        """Execute an event, and collect the messages of hooks for the model."""
        return await asyncio.wrap_future(self._submit(self._execute(session, event, data, heard)))

    def execute_now(self, session: str, event: str, data: Mapping[str, Any], heard: Heard) -> Execution:
        """Execute an event in code without an event loop."""
        return self._submit(self._execute(session, event, data, heard)).result()

    def close(self) -> None:
        """Disconnect. Pending events stay undecided; the next event connects again."""
        with self._lock:
            if self._owner != os.getpid():
                return
            self._owner = 0
            asyncio.run_coroutine_threadsafe(self._disconnect(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._owner != os.getpid():
                self._client, self._connecting, self._running = None, asyncio.Lock(), set()
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._run, args=(self._loop,), name="hookrouter", daemon=True).start()
                self._owner = os.getpid()
            return asyncio.run_coroutine_threadsafe(self._tracked(work), self._loop)

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        try:
            return await task
        finally:
            self._running.discard(task)

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        loop.run_forever()
        loop.close()

    async def _execute(self, session: str, event: str, data: Mapping[str, Any], heard: Heard) -> Execution:
        async with self._connecting:
            if self._client is None:
                self._client = await connect(**self._connection)
        agent = Agent(self._client, session=session, source=self._source, on_pending=self._on_pending)
        talk = Session(agent, context=heard, display=self._display)
        try:
            return await talk.execute(event, data)
        finally:
            heard.extend(await talk.next_call())

    async def _disconnect(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client is not None:
            await self._client.close()
            self._client = None
