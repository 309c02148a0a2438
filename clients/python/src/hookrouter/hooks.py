"""HookRegistry: the interface of amplifier-core's registry, on the bus."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar, overload

from . import _identity, _loop, _names, events, tools
from ._dial import redacted
from ._event import defaults_header
from ._serve import Contributor, Handler
from .agent import Agent, Collection, Data
from .client import Client, connect
from .interfaces import ContextManager, DisplaySystem
from .models import HookResult
from .registration import Registration
from .session import Session
from .verdict import Execution
from .worker import Worker

T = TypeVar("T")
H = TypeVar("H", bound=Callable[..., Any])


@dataclass(eq=False)
class _Entry:
    reg: Registration
    handler: Callable[..., Any]
    wanted: bool = True
    remove: Callable[[], Awaitable[None]] | None = None  # once it is on the bus


class HookRegistry:
    """Registers hooks and sends events, with the names and signatures of amplifier-core.

    register and unregister return immediately; their effects apply, in order, before the next emit,
    execute or ready(). These raise if a hook can't be registered, so that no event bypasses it.
    Without a client, the registry connects at the first use, as connect() does.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        url: str | None = None,
        prefix: str = "hooks",
        context: ContextManager | None = None,
        display: DisplaySystem | None = None,
        hide_output: bool = True,
    ) -> None:
        """Create a registry. execute delivers the messages of hooks to context and display."""
        self._client, self._url, self._prefix = client, url, prefix
        self._context, self._display, self._hide = context, display, hide_output
        self._own: list[Client] = []
        self._entries: list[_Entry] = []
        self._defaults: dict[str, Any] = {}
        self._worker: Worker | None = None
        self._session: Session | None = None
        self._settling = asyncio.Lock()
        self._background: asyncio.Task[None] | None = None
        self._closed = False

    # -- hooks

    @overload
    def register(
        self,
        event: str | Sequence[str],
        handler: None = None,
        priority: int = 0,
        name: str | None = None,
        **options: Any,
    ) -> Callable[[H], H]: ...
    @overload
    def register(
        self, event: str | Sequence[str], handler: Handler, priority: int = 0, name: str | None = None, **options: Any
    ) -> Callable[[], None]: ...
    def register(
        self,
        event: str | Sequence[str],
        handler: Any = None,
        priority: int = 0,
        name: str | None = None,
        **options: Any,
    ) -> Any:
        """Register a hook and return the function that removes it; without a handler, a decorator.

        options are members of Registration. Without an id, the hook belongs to this registry only,
        and is removed with its process. A hook with on_failure="deny" needs an id, since it stays
        registered while no process serves it.
        """
        if handler is None:

            def decorate(fn: H) -> H:
                self.register(event, fn, priority, name, **options)
                return fn

            return decorate
        if not callable(handler):
            raise TypeError("the handler of a hook must be a function")
        name = str(name or options.get("id") or getattr(handler, "__name__", type(handler).__name__))
        if options.get("on_failure") == "deny" and not options.get("id"):
            raise ValueError(f"hook {name!r}: on_failure='deny' needs an id of its own on the bus: id='path-guard'")
        patterns = [event] if isinstance(event, str) else list(event)
        options["id"] = options.get("id") or _names.slug(name)
        return self._add(Registration(events=patterns, priority=priority, name=name, **options), handler)

    on = register

    def unregister(self, name: str) -> None:
        """Remove this registry's hooks with a name."""
        for entry in self._entries:
            if entry.reg.name == name:
                entry.wanted = False
        self._soon()

    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """List this registry's own hooks by pattern, in order. Agent.list_handlers lists those on
        the bus."""
        found: dict[str, list[str]] = {}
        for entry in sorted(self._entries, key=lambda e: e.reg.priority):
            for pattern in entry.reg.events if entry.wanted else ():
                if event in (None, pattern):
                    found.setdefault(pattern, []).append(entry.reg.name)
        return found

    def register_contributor(
        self, channel: str, name: str | Contributor, callback: Contributor | None = None
    ) -> Callable[[], None]:
        """Contribute the result of callback() to a channel; the name may be omitted."""
        if callback is None:
            if not callable(name):
                raise TypeError("a contributor must be a function")
            callback, name = name, getattr(name, "__name__", type(name).__name__)
        name = str(name)
        return self._add(Registration(id=_names.slug(name), name=name, channels=[channel]), callback)

    def _add(self, reg: Registration, handler: Callable[..., Any]) -> Callable[[], None]:
        if self._closed:
            raise RuntimeError("the registry is closed")
        if any(e.wanted and e.reg.id == reg.id for e in self._entries):
            raise ValueError(f"hook id {reg.id!r} is taken in this registry")
        entry = _Entry(reg, handler)
        self._entries.append(entry)
        self._soon()

        def unregister() -> None:
            entry.wanted = False
            self._soon()

        return unregister

    # -- events

    def set_default_fields(self, **fields: Any) -> None:
        """Set the default members of the data of every event; session_id is the events' session."""
        defaults_header(fields)
        self._defaults = dict(fields)
        if self._session is not None:
            self._session.agent.set_default_fields(**fields)

    async def emit(self, event: str, data: Data = None) -> HookResult:
        """Run the hooks of an event and return their decision, which the caller must act on."""
        return await (await self._ready()).emit(event, data)

    async def emit_and_collect(self, event: str, data: Data = None, timeout: float | None = 1.0) -> Collection:
        """Call all hooks of an event concurrently and return their data in hook order."""
        return await (await self._ready()).emit_and_collect(event, data, timeout)

    async def execute(self, event: str, data: Data = None, *, timeout: float | None = None) -> Execution:
        """Run the hooks, let the router act on their results, and return the verdict; see
        Session.execute."""
        return await (await self._ready()).execute(event, data, timeout=timeout)

    async def run_tool(
        self, call: tools.ToolCall | Mapping[str, Any], fn: Callable[[dict[str, Any]], Awaitable[T] | T]
    ) -> T | Any:
        """Run a tool with its hooks; see tools.run_tool."""
        return await (await self._ready()).run_tool(call, fn)

    async def collect_contributions(self, channel: str, timeout: float | None = None) -> Collection:
        """Call all contributors of a channel and return their values in order."""
        return await (await self._ready()).agent.collect_contributions(channel, timeout)

    # -- life

    async def ready(self) -> None:
        """Wait until all requested changes are in force on the bus; raise if one fails."""
        if self._closed:
            raise RuntimeError("the registry is closed")
        async with self._settling:
            for entry in [e for e in self._entries if not e.wanted]:
                if entry.remove is not None:
                    await entry.remove()
                self._entries.remove(entry)
            for entry in self._entries:
                if entry.remove is None and entry.wanted:
                    worker = await self._the_worker()
                    start = worker.register_contributor if entry.reg.channels else worker.register
                    entry.remove = await start(entry.reg, entry.handler)

    async def serve(self, ready: Callable[[], None] | None = None) -> None:
        """Register the hooks and serve them until cancelled; ready is called once they are
        registered."""
        try:
            await self.ready()
            if ready is not None:
                ready()
            await asyncio.Event().wait()
        finally:
            await self.close()

    def run(self) -> None:
        """Serve in a new event loop until SIGTERM or SIGINT; reports on stderr what it serves, and
        where."""

        async def main() -> None:
            task, loop = asyncio.ensure_future(self.serve(self._announce)), asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                with contextlib.suppress(NotImplementedError):  # Windows
                    loop.add_signal_handler(number, task.cancel)
            with contextlib.suppress(asyncio.CancelledError):
                await task

        _loop.run(main())

    def _announce(self) -> None:
        served = [f"{e.reg.id} ({', '.join(e.reg.events or e.reg.channels)})" for e in self._entries if e.wanted]
        where = redacted(self._client.url if self._client else self._url or _identity.default_url())
        print(f"hookrouter: serving {', '.join(served) or 'no hooks'} at {where}; Ctrl-C stops", file=sys.stderr)

    async def close(self) -> None:
        """Remove the hooks, answer the calls that have arrived, and close the registry's own
        connections."""
        self._closed = True
        if self._background is not None:
            self._background.cancel()
            await asyncio.gather(self._background, return_exceptions=True)
        if self._worker is not None:
            await self._worker.close()
        for client in self._own:
            await client.close()

    async def __aenter__(self) -> HookRegistry:
        await self.ready()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _soon(self) -> None:
        """Apply changes in the background if an event loop runs; the next ready() raises errors."""
        with contextlib.suppress(RuntimeError):
            loop = asyncio.get_running_loop()
            if not self._closed and (self._background is None or self._background.done()):
                self._background = loop.create_task(self._settle())

    async def _settle(self) -> None:
        with contextlib.suppress(Exception):
            await self.ready()

    async def _ready(self) -> Session:
        await self.ready()
        if self._session is None:
            agent = Agent(await self._connected("agent"))
            agent.set_default_fields(**self._defaults)
            self._session = Session(agent, context=self._context, display=self._display)
        return self._session

    async def _the_worker(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(await self._connected("worker"), hide_output=self._hide)
        return self._worker

    async def _connected(self, role: Any) -> Client:
        """Return the given client, or one with the identity of a role. Roles with the same identity
        share a connection."""
        if self._client is not None:
            return self._client
        url = self._url or _identity.default_url()
        same = _identity.find(url, "agent") == _identity.find(url, "worker")
        if same and self._own:
            return self._own[0]
        client = await connect(url, role=role, prefix=self._prefix)
        self._own.append(client)
        return client


for _name, _value in vars(events).items():
    if _name.isupper() and isinstance(_value, str):
        setattr(HookRegistry, _name, _value)
