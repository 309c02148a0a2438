"""Workers: serve hooks and keep their registrations alive."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from nats.aio.msg import Msg

from . import _names
from ._discovery import Discovery, Endpoint
from ._serve import IN_VAIN, MAX_TIMEOUT, Contributor, Handler, serve
from ._transport import Listener
from .client import Client, Request, Retry
from .errors import ConnectionLost, HookRouterError, InvalidReply, RouterError
from .registration import Registration
from .run import header

ANNOUNCE = 15.0
"""The timeout of a registration, in seconds."""
HEAD_START = 0.05
"""How long to wait for a renewal before the next one starts concurrently."""


@dataclass(eq=False)
class _Hook:
    reg: Registration
    handler: Callable[..., Any]
    limit: asyncio.Semaphore
    endpoint: Endpoint
    listeners: list[Listener] = field(default_factory=list)
    under_way: dict[str, asyncio.Task[None]] = field(default_factory=dict)  # by call; only with effect validate
    due: float | None = None  # of the next renewal; None until the first registration was answered
    renewing: bool = False
    replaced_by: str = ""  # the registration in force that was reported last; empty: its own
    talking: asyncio.Lock = field(default_factory=asyncio.Lock)  # a renewal must not overtake the end of it


class Worker:
    """A process that serves hooks."""

    def __init__(
        self,
        client: Client,
        *,
        instance: str | None = None,
        max_in_flight: int = 64,
        hide_output: bool = False,
        on_replaced: Callable[[str, dict[str, Any]], None] | None = None,
        name: str = "hook-worker",
        version: str = "0.0.0",
    ) -> None:
        """Create a worker.

        max_in_flight is the maximum number of concurrent calls of one hook; further calls wait,
        within their timeout. With hide_output, the output of a handler is captured until its result
        says whether to show it (suppress_output). on_replaced is called when a registration of
        another process has replaced one of this worker. name and version are those of the program,
        for `nats micro ls`.
        """
        self.client = client
        self.instance = instance or _names.token()[:22]
        self._max_in_flight, self._hide, self._on_replaced = max_in_flight, hide_output, on_replaced
        self._hooks: dict[str, _Hook] = {}  # in the order of registration
        self._calls: set[asyncio.Task[None]] = set()
        self._discovery = Discovery(client.transport, name, version, self.instance)
        self._renewals: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._all = False  # renew all, due or not
        self._forget_reconnects = client.transport.on_reconnect(self._reconnected)
        self._renewing: asyncio.Task[None] | None = None

    async def register(self, reg: Registration, handler: Handler) -> Callable[[], Any]:
        """Serve a hook. When this returns, every router calls the hook from the next event on.

        The handler is `async def handler(event: str, data: dict) -> HookResult`. Await the returned
        function to remove this worker from the hook. With its last worker, a hook that is not
        durable is removed as well.
        """
        if reg.channels:
            raise ValueError(f"hook {reg.id!r}: channels are for register_contributor")
        return await self._register(reg, handler)

    async def register_contributor(self, reg: Registration, contribute: Contributor) -> Callable[[], Any]:
        """Contribute to the channels of a registration: contribute() returns any JSON value, None for none."""
        if not reg.channels:
            raise ValueError(f"contributor {reg.id!r}: channels are missing")
        return await self._register(reg, contribute)

    async def _register(self, reg: Registration, handler: Callable[..., Any]) -> Callable[[], Any]:
        if not callable(handler):
            raise TypeError(f"hook {reg.id!r}: the handler is not a function")
        if reg.id in self._hooks:
            raise ValueError(f"hook {reg.id!r} is registered by this worker already")
        transport = self.client.transport
        transport.usable()
        subject = transport.subject("call", reg.id)
        hook = _Hook(reg, handler, asyncio.Semaphore(self._max_in_flight), Endpoint(reg.id, subject))
        self._hooks[reg.id] = hook
        try:
            await self._discovery.start()
            if reg.effect == "validate":
                cancel = functools.partial(self._cancel, hook)
                hook.listeners.append(await transport.listen(f"{subject}.cancel", "", cancel))
            hook.listeners.append(await transport.listen(subject, reg.id, functools.partial(self._receive, hook)))
            self._discovery.endpoints.append(hook.endpoint)
            await self._send(hook, Retry.IDEMPOTENT, ANNOUNCE)
        except BaseException as error:
            await self._undo(hook, error)
            raise
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew())
        self._wake.set()
        return lambda: self._unregister(hook)

    async def _undo(self, hook: _Hook, error: BaseException) -> None:
        """Remove a hook whose registration failed, since it may still have been stored."""
        if not isinstance(error, RouterError) or error.code >= 429:
            with contextlib.suppress(HookRouterError):
                await asyncio.shield(self._leave(hook.reg.id, 1.0))
        if self._hooks.get(hook.reg.id) is hook:
            del self._hooks[hook.reg.id]
        await self._silence(hook)

    async def retire(self, hook_id: str) -> None:
        """Remove a hook from the bus with all its processes, durable or not."""
        hook = self._hooks.pop(hook_id, None)
        subject = self.client.transport.subject("unregister", _names.check_hook_id(hook_id))
        try:
            await self.client.request_json(Request(subject, retry=Retry.NEVER), {})
        finally:
            if hook is not None:
                await self._silence(hook)

    async def close(self, timeout: float = MAX_TIMEOUT) -> None:
        """Leave all hooks, and answer the calls that have arrived. The client stays connected."""
        self._forget_reconnects()
        tasks = [t for t in (self._renewing, *self._renewals) if t is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        hooks, self._hooks = list(self._hooks.values()), {}
        failed: HookRouterError | None = None
        for hook in hooks:
            try:  # it listens until the routers know
                await self._leave(hook.reg.id, 5.0)
            except HookRouterError as error:
                failed = error
        for hook in hooks:
            await self._silence(hook)
        await self._discovery.stop()
        if self._calls:
            await asyncio.wait(self._calls, timeout=timeout)
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        await self.client.transport.flush()
        if failed is not None:
            self.client.log.warning("hooks could not be unregistered; they go when they are not renewed: %s", failed)

    async def run(self) -> None:
        """Serve until cancelled, and then close."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def _receive(self, hook: _Hook, message: Msg) -> None:
        """Start a call concurrently; must not wait."""
        reply, transport = message.reply, self.client.transport
        if reply and (not reply.startswith(("_INBOX", "_R_")) or transport.own_inbox(reply)):
            self._discovery.dropped += 1
            self.client.log.warning("call of hook %s dropped: its reply subject is not the sender's inbox", hook.reg.id)
            return
        task = _start(self._call(hook, message))
        if not task.done():
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)
            if hook.reg.effect == "validate" and (call := header(message.headers, "Hook-Call-Id")):
                hook.under_way[call] = task
                task.add_done_callback(lambda _: hook.under_way.pop(call, None))

    async def _call(self, hook: _Hook, message: Msg) -> None:
        began = time.perf_counter_ns()
        error = await serve(self.client.transport, hook.reg, hook.handler, message, self._hide, hook.limit)
        hook.endpoint.count(began, error)

    async def _cancel(self, hook: _Hook, message: Msg) -> None:
        """Cancel a call whose answer is no longer needed."""
        if task := hook.under_way.get(header(message.headers, "Hook-Call-Id")):
            task.cancel(IN_VAIN)

    async def _send(self, hook: _Hook, retry: Retry, timeout: float) -> None:
        """Register or renew a hook, and schedule its next renewal."""
        async with hook.talking:
            if self._hooks.get(hook.reg.id) is not hook:
                return
            request = Request(self.client.transport.subject("register", hook.reg.id), retry=retry)
            reply, _ = await self.client.request_json(request, hook.reg.body(self.instance), timeout)
            if not isinstance(reply, dict):
                raise InvalidReply(f"the answer to register {hook.reg.id} is not an object")
            ttl = reply.get("ttl_ms")
            ttl = max(ttl, 30) if isinstance(ttl, int) else 15_000
            if hook.due is None and reply.get("ignored"):
                unknown = ", ".join(map(str, reply["ignored"]))
                self.client.log.error("registration of hook %s: the router does not know %s", hook.reg.id, unknown)
            hook.due = asyncio.get_running_loop().time() + ttl / 3000
            self._check_in_force(hook, reply.get("in_force"))

    def _check_in_force(self, hook: _Hook, in_force: Any) -> None:
        """Report once that another registration is in force."""
        text = repr(in_force) if in_force else ""
        if text == hook.replaced_by:
            return
        hook.replaced_by = text
        if not text:
            self.client.log.info("registration of hook %s is in force again", hook.reg.id)
            return
        self.client.log.error(
            "registration of hook %s replaced by another; this one does not hold: %s", hook.reg.id, text
        )
        if self._on_replaced is not None:
            self._on_replaced(hook.reg.id, in_force)

    def _reconnected(self) -> None:
        self._all = True
        self._wake.set()

    async def _renew(self) -> None:
        """Keep all registrations alive; after a reconnect, renew all of them in order."""
        loop = asyncio.get_running_loop()
        while True:
            due = [h.due for h in self._hooks.values() if h.due is not None and not h.renewing]
            wait = max(min(due, default=loop.time() + 60) - loop.time(), 0) if self.client.connected else 60.0
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            everything, self._all = self._all, False
            for hook in list(self._hooks.values()):
                ripe = hook.due is not None and (everything or hook.due <= loop.time())
                if ripe and not hook.renewing and self.client.connected:
                    hook.renewing = True
                    task = asyncio.create_task(self._renew_one(hook))
                    self._renewals.add(task)
                    task.add_done_callback(self._renewals.discard)
                    await asyncio.wait([task], timeout=HEAD_START)

    async def _renew_one(self, hook: _Hook) -> None:
        try:
            await self._send(hook, Retry.NEVER, 5.0)
        except Exception as error:
            hook.due = asyncio.get_running_loop().time() + 0.5
            if not isinstance(error, ConnectionLost):  # a reconnect renews it
                self.client.log.warning("renewal of hook %s failed; retrying: %s", hook.reg.id, error)
        finally:
            hook.renewing = False
            self._wake.set()

    async def _unregister(self, hook: _Hook) -> None:
        if self._hooks.get(hook.reg.id) is not hook:
            return
        del self._hooks[hook.reg.id]
        try:
            async with hook.talking:
                await self._leave(hook.reg.id, 10.0)
        finally:
            await self._silence(hook)

    async def _leave(self, hook_id: str, timeout: float) -> None:
        subject = self.client.transport.subject("unregister", hook_id)
        await self.client.request_json(Request(subject, retry=Retry.NEVER), {"instance": self.instance}, timeout)

    async def _silence(self, hook: _Hook) -> None:
        for listener in hook.listeners:
            await self.client.transport.silence(listener)
        if hook.endpoint in self._discovery.endpoints:
            self._discovery.endpoints.remove(hook.endpoint)


def _start(call: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Run a call in a new task, which starts immediately if Python supports that."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(call, loop=asyncio.get_running_loop(), eager_start=True)
    return asyncio.create_task(call)
