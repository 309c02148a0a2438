"""The connection of a program: agents and workers are made from one Client."""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Literal

from nats.aio.msg import Msg

from . import _identity, _json
from ._transport import Transport
from .errors import (
    Code,
    ConnectionLost,
    DeadlineExceeded,
    Disconnected,
    HookRouterError,
    InvalidReply,
    NoRouter,
    RouterError,
)

IdentityRole = Literal["agent", "worker", "admin", "state", "keeper"]

MAX_WAIT = 35.0
"""Seconds that an answer is waited for where the caller names no time: longer than a router may take."""


class Retry(Enum):
    """Which failures of a request lead to another try."""

    IF_UNSERVED = "while it is certain that nothing happened, for the client's patience"
    IDEMPOTENT = "until the time is over, also where an earlier try may have taken effect"
    NEVER = "once"


def unserved(error: BaseException) -> bool:
    """Report whether a request had no effect and may have one if it is sent again."""
    return isinstance(error, NoRouter | Disconnected) or (
        isinstance(error, RouterError) and error.code == Code.UNAVAILABLE
    )


def _again(retry: Retry, error: HookRouterError) -> bool:
    if retry is Retry.NEVER:
        return False
    if unserved(error):
        return True
    return retry is Retry.IDEMPOTENT and (
        isinstance(error, ConnectionLost) or (isinstance(error, RouterError) and error.code == Code.OVERLOADED)
    )


@dataclass
class Backoff:
    """Spaces tries: the pause doubles from 50 ms to a second."""

    until: float | None = None
    """No try begins later, in the loop's time."""
    pause: float = 0.0

    def next(self) -> float | None:
        """Return how long to wait before the next try; None where it would begin too late."""
        self.pause = min(max(2 * self.pause, 0.05), 1.0)
        if self.until is not None and asyncio.get_running_loop().time() + self.pause > self.until:
            return None
        return self.pause * (0.5 + random.random() / 2)  # noqa: S311  jitter, no secret

    def reset(self) -> None:
        """Make the next pause the shortest one."""
        self.pause = 0.0


@dataclass
class Request:
    """One request to a router."""

    subject: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    retry: Retry = Retry.IF_UNSERVED
    before: Callable[[dict[str, str]], None] | None = None
    """Called before each try; may change the headers."""
    accept: Callable[[Mapping[str, str]], bool] = lambda _: True
    """Whether a reply is one to this request, besides repeating its nonce."""


class Client:
    """A connection to the hook routers of one prefix. Make it with connect()."""

    def __init__(self, transport: Transport, name: str, patience: float) -> None:
        self.transport = transport
        self.name = name
        self.patience = patience
        self.log = transport.log

    @property
    def prefix(self) -> str:
        """The first token of every subject of the routers."""
        return self.transport.prefix

    @property
    def url(self) -> str:
        """The address of NATS that it was given; it may hold credentials."""
        return self.transport.url

    @property
    def connected(self) -> bool:
        """Whether NATS is connected now. Where it is not, the client is reconnecting."""
        return self.transport.connected

    async def request(self, request: Request, timeout: float = MAX_WAIT) -> Msg:
        """Send a request, again where its retry says so, and return the reply."""
        loop = asyncio.get_running_loop()
        backoff = Backoff(None if request.retry is Retry.IDEMPOTENT else loop.time() + self.patience)
        last: HookRouterError | None = None
        try:
            async with asyncio.timeout(timeout):
                while True:
                    if request.before is not None:
                        request.before(request.headers)
                    try:
                        return await self.transport.request(
                            request.subject, request.body, request.headers, request.accept
                        )
                    except HookRouterError as error:
                        pause = backoff.next() if _again(request.retry, error) else None
                        if pause is None:
                            raise
                        last = error
                    await asyncio.sleep(pause)
        except HookRouterError:
            raise
        except TimeoutError:
            raise DeadlineExceeded(f"no answer came within {timeout:.3g} s" + (f": {last}" if last else "")) from last

    async def request_json(self, request: Request, body: Any = None, timeout: float = MAX_WAIT) -> tuple[Any, Msg]:
        """Send a body as JSON, None for nothing, and read the reply."""
        if body is not None:
            request.body = _json.encode(body)
        reply = await self.request(request, timeout)
        try:
            return _json.decode(reply.data), reply
        except ValueError as error:
            raise InvalidReply(f"the reply to {request.subject} can't be read: {error}") from None

    async def close(self) -> None:
        """Disconnect. Close what was made from the client first; a second call does nothing."""
        await self.transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Connecting:
    """What connect() returns: await it, or use it in `async with`."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        return _connect(**self._options).__await__()

    async def __aenter__(self) -> Client:
        self._client = await self
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()


def connect(
    url: str | None = None,
    *,
    role: IdentityRole = "agent",
    prefix: str = "hooks",
    name: str = "hookrouter",
    creds: str | None = None,
    tls: ssl.SSLContext | None = None,
    patience: float = 5.0,
    timeout: float = 5.0,
    log: logging.Logger | None = None,
) -> Connecting:
    """Connect to NATS: `client = await connect()`, or `async with connect() as client`.

    The address is url, else NATS_URL, else nats://127.0.0.1:4222; several are separated by commas. Credentials
    are creds, a user in the URL, NATS_CREDS, or those that a router with its own server left for its user: of the
    identity that role names. patience is how long a request is sent again while no router can serve it.
    It raises Unreachable where no server answers within timeout; once connected, it reconnects for ever.
    """
    return Connecting(
        url=url, role=role, prefix=prefix, name=name, creds=creds, tls=tls, patience=patience, timeout=timeout, log=log
    )


async def _connect(
    url: str | None,
    role: str,
    prefix: str,
    name: str,
    creds: str | None,
    tls: ssl.SSLContext | None,
    patience: float,
    timeout: float,
    log: logging.Logger | None,
) -> Client:
    url = url or _identity.default_url()
    identity = _identity.find(url, role, creds)
    transport = Transport(url, identity, prefix, name, tls, log or logging.getLogger("hookrouter"))
    await transport.open(timeout)
    return Client(transport, name, patience)
