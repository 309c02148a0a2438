"""A NATS connection that reconnects, and whose replies prove that the router has seen the request.

The client library stops reconnecting after some errors of the server, and its inboxes can be
predicted from earlier ones. So each of its connections is used once here, and replaced by a new one
when it is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import re
import ssl
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from . import _identity, _names
from ._dial import Nats, dial, hang_up, redacted
from ._replies import Accept, Replies, no_responders, read_error
from .errors import (
    ConnectionLost,
    Disconnected,
    Impostor,
    NoRouter,
    NotPermitted,
    RouterError,
    Unreachable,
    WrongLoop,
    WrongProcess,
)

Handler = Callable[[Msg], Awaitable[None]]

_FORBIDDEN = re.compile(r'permissions violation for publish to "(.*)"')  # the client library converts it to lower case


@dataclass(eq=False)
class Listener:
    """A subscription that outlives connections."""

    subject: str
    queue: str
    handle: Handler
    current: Subscription | None = None


class Transport:
    """One connection at a time to the NATS servers at a URL."""

    def __init__(
        self,
        url: str,
        identity: _identity.Identity,
        prefix: str,
        name: str,
        tls: ssl.SSLContext | None,
        log: logging.Logger,
    ) -> None:
        self.prefix = _names.check_prefix(prefix)
        self.log = log
        self.generation = 0  # changes with each connection
        self.url, self._identity, self._name, self._tls = url, identity, name, tls
        self._loop = asyncio.get_running_loop()
        self._pid = os.getpid()
        self._nats: Nats | None = None
        self._inbox = ""
        self._replies = Replies()
        self._listeners: list[Listener] = []
        self._reconnected: list[Callable[[], None]] = []
        self._redialing: asyncio.Task[None] | None = None
        self._closed = False
        self._proving = asyncio.Lock()
        self._proven = 0
        _transports.add(self)

    @property
    def connected(self) -> bool:
        """Whether the connection is up."""
        return self._nats is not None and bool(self._nats.is_connected)

    def subject(self, verb: str, name: str = "") -> str:
        """Return the subject of a verb; the colons of an event become dots."""
        return f"{self.prefix}.{verb}" + (f".{name.replace(':', '.')}" if name else "")

    async def open(self, timeout: float) -> None:
        """Connect for the first time."""
        shown = redacted(self.url)
        try:
            async with asyncio.timeout(timeout):
                await self._dial()
        except (OSError, TimeoutError, nats.errors.Error) as error:
            creds = self._identity.creds
            hint = "is a server running there? `hook-router up` starts one"
            if isinstance(error, OSError) and error.filename:
                hint = "that is the credentials file, of creds= or NATS_CREDS"
            elif creds and "authorization" in str(error).lower():
                hint = (
                    f"the server refuses the credentials in {creds}: they were rotated or revoked, have expired, or "
                    "are for another server"
                )
            elif "authorization" in str(error).lower():
                hint = (
                    "the server requires credentials: those of hookctl auth, or of the router's own server, which "
                    "only its user can read"
                )
            raise Unreachable(f"connect to NATS at {shown}: {error or 'no answer'}: {hint}") from None

    def usable(self) -> None:
        """Raise if this is not the process and the event loop of the connection."""
        if os.getpid() != self._pid:
            raise WrongProcess("this hookrouter client was made before a fork: connect anew in the child")
        if asyncio.get_running_loop() is not self._loop:
            raise WrongLoop("this hookrouter client belongs to another event loop: connect in each loop that uses one")

    def on_reconnect(self, do: Callable[[], None]) -> Callable[[], None]:
        """Call do after each reconnect until the returned function is called."""
        self._reconnected.append(do)
        return lambda: self._reconnected.remove(do) if do in self._reconnected else None

    async def listen(self, subject: str, queue: str, handle: Handler) -> Listener:
        """Subscribe, and wait until the server has the subscription."""
        self.usable()
        listener = Listener(subject, queue, handle)
        self._listeners.append(listener)
        if self._nats is not None and self.connected:
            listener.current = await self._nats.subscribe(subject, queue=queue, cb=handle)
            await self.flush()
        return listener

    async def silence(self, listener: Listener) -> None:
        """Unsubscribe, and wait until all received messages were passed to their handler."""
        if listener in self._listeners:
            self._listeners.remove(listener)
        current, listener.current = listener.current, None
        if current is not None and self.connected:
            with contextlib.suppress(nats.errors.Error, TimeoutError, asyncio.TimeoutError):
                async with asyncio.timeout(5):
                    await current.drain()  # type: ignore[no-untyped-call]

    async def flush(self) -> None:
        """Wait, for a limited time, until the server has everything that was sent."""
        if self._nats is not None and self.connected:
            with contextlib.suppress(nats.errors.Error, asyncio.TimeoutError):
                await self._nats.flush(timeout=5)

    async def publish(self, subject: str, body: bytes, headers: Mapping[str, str], reply: str = "") -> None:
        """Send one message. Messages are not buffered while there is no connection."""
        nc = self._nats
        if nc is None or not nc.is_connected:
            raise Disconnected("NATS is not connected: reconnecting")
        size = len(body) + 32_768  # for headers, at most
        if size > nc.max_payload:
            size = len(body) + sum(len(k) + len(v.encode()) + 4 for k, v in headers.items()) + 12
        if size > nc.max_payload:  # the server would close the connection
            raise RouterError(
                413, f"the message has {size} bytes, more than the server's max_payload of {nc.max_payload}: send less"
            )
        try:
            await nc.publish(subject, body, reply=reply, headers=dict(headers) or None)
        except (nats.errors.ConnectionClosedError, nats.errors.OutboundBufferLimitError):
            raise Disconnected("NATS is not connected: reconnecting") from None

    async def request(self, subject: str, body: bytes, headers: Mapping[str, str], accept: Accept) -> Msg:
        """Send a request to the router that the credentials name, and wait for an accepted reply."""
        self.usable()
        await self._check()
        reply = await self._exchange(subject, body, headers, accept)
        if not self._checked():  # another server answered, after a reconnect
            raise ConnectionLost("connection to NATS lost while waiting for the reply")
        return reply

    async def _exchange(self, subject: str, body: bytes, headers: Mapping[str, str], accept: Accept) -> Msg:
        async def send(token: str, nonce: str) -> None:
            await self.publish(subject, body, {**headers, "Hook-Nonce": nonce}, reply=self._inbox + token)

        reply = await self._replies.wait(subject, accept, send)
        if no_responders(reply):
            raise NoRouter(
                f"no router answers on {subject}: start `hook-router`, see on its /readyz why it is not ready, "
                "or check the prefix"
            )
        if error := read_error(reply.headers):
            raise error
        return reply

    async def _receive(self, message: Msg) -> None:
        self._replies.receive(message.subject.removeprefix(self._inbox), message)

    def own_inbox(self, subject: str) -> bool:
        """Report whether replies to this connection's requests go to a subject."""
        custom = self._identity.inbox != "_INBOX" and subject.startswith(self._identity.inbox + ".")
        return custom or (bool(self._inbox) and subject.startswith(self._inbox))

    def _checked(self) -> bool:
        return not self._identity.router or self._proven == self.generation

    async def _check(self) -> None:
        """Verify the router's identity unless that was already done on this connection."""
        if self._checked():
            return
        async with self._proving:
            if self._checked():
                return
            at, challenge = self.generation, _names.challenge()
            reply = await self._exchange(self.subject("prove"), challenge.encode(), {}, lambda _: True)
            if not _identity.proven(self._identity.router, challenge, reply.data):
                raise Impostor(
                    "the program that answers is not the router that issued these credentials: another program "
                    "may have taken its port"
                )
            self._proven = at

    async def _dial(self) -> None:
        """Make one connection, with all subscriptions."""
        inbox = f"{self._identity.inbox}.{_names.token()}."

        async def subscribe(nc: Nats) -> None:
            await nc.subscribe(inbox + "*", cb=self._receive)
            for listener in self._listeners:
                listener.current = await nc.subscribe(listener.subject, queue=listener.queue, cb=listener.handle)

        nc = await dial(
            self.url,
            name=self._name,
            creds=self._identity.creds,
            tls=self._tls,
            closed=self._lost,
            failed=self._failed,
            prepare=subscribe,
        )
        if self._closed or not nc.is_connected:
            await hang_up(nc)
            raise nats.errors.ConnectionClosedError
        self._nats, self._inbox = nc, inbox
        self.generation += 1

    def _failed(self, error: Exception) -> None:
        """Fail the wait for a request that is not permitted, since the server sends no reply to it."""
        self.log.debug("NATS client error: %s", error)
        if found := _FORBIDDEN.search(str(error)):
            self._replies.fail(
                lambda: NotPermitted(f"{error}: use credentials that permit it: see `hookctl auth`"),
                lambda subject: subject.lower() == found[1],
            )

    def _lost(self, nc: Nats) -> None:
        """Fail all waits, since no replies will arrive."""
        if nc is not self._nats:
            return
        self._nats = None
        self._replies.fail(
            lambda: ConnectionLost(
                "connection to NATS lost while waiting for the reply: the request may have taken effect"
            )
        )
        for listener in self._listeners:
            listener.current = None
        if not self._closed:
            self.log.warning("NATS disconnected; reconnecting")
            self._redialing = self._loop.create_task(self._redial())

    async def _redial(self) -> None:
        while not self._closed:
            try:
                await self._dial()
            except (OSError, TimeoutError, nats.errors.Error) as error:
                self.log.debug("NATS can't be reached: %s", error)
                await asyncio.sleep(0.25 + random.random() * 0.25)  # noqa: S311  jitter, no secret
                continue
            except Exception:
                self.log.exception("connecting to NATS failed; trying again")
                await asyncio.sleep(1)
                continue
            self.log.info("NATS reconnected")
            for do in list(self._reconnected):
                do()
            return

    async def close(self) -> None:
        """Flush pending messages and disconnect; a second call does nothing."""
        if os.getpid() != self._pid:
            return
        self._closed = True
        if self._redialing is not None:
            self._redialing.cancel()
            await asyncio.gather(self._redialing, return_exceptions=True)
        await self.flush()
        nc = self._nats
        if nc is not None:
            self._lost(nc)
            await hang_up(nc)

    def abandon(self) -> None:
        """In a forked child: release the parent's socket without reading from it."""
        self._closed = True
        transport = getattr(self._nats, "_transport", None)
        writer = getattr(transport, "_bare_io_writer", None)
        sock = writer.get_extra_info("socket") if writer is not None else None
        if sock is None or sock.fileno() < 0:
            return
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, sock.fileno())
        os.close(null)


_transports: weakref.WeakSet[Transport] = weakref.WeakSet()


def _after_fork() -> None:
    for transport in list(_transports):
        with contextlib.suppress(Exception):
            transport.abandon()


os.register_at_fork(after_in_child=_after_fork)
