"""The connection of a program, which its agents and workers share."""

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
"""The default timeout of an answer in seconds: longer than a router may take."""


class Retry(Enum):
    """Determines which failures of a request are retried."""

    IF_UNSERVED = "while it is certain that nothing happened, for the client's patience"
    IDEMPOTENT = "until the time is over, also where an earlier try may have taken effect"
    NEVER = "once"


def unserved(error: BaseException) -> bool:
    """Report whether a request certainly had no effect, and may succeed if sent again."""
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
    """Delays retries: the pause doubles from 50 ms to a second."""

    until: float | None = None
    """No attempt starts later, on the loop's clock."""
    pause: float = 0.0

    def next(self) -> float | None:
        """Return the pause before the next attempt; None if that would start too late."""
        self.pause = min(max(2 * self.pause, 0.05), 1.0)
        if self.until is not None and asyncio.get_running_loop().time() + self.pause > self.until:
            return None
        return self.pause * (0.5 + random.random() / 2)  # noqa: S311  jitter, no secret

    def reset(self) -> None:
        """Reset the pause to the shortest one."""
        self.pause = 0.0


@dataclass
class Request:
    """One request to a router."""

    subject: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    retry: Retry = Retry.IF_UNSERVED
    before: Callable[[dict[str, str]], None] | None = None
    """Called before each attempt; may change the headers."""
    accept: Callable[[Mapping[str, str]], bool] = lambda _: True
    """Reports whether a reply with the right nonce is for this request."""


class Client:
    """A connection to the hook routers of one prefix. Create it with connect()."""

    def __init__(self, transport: Transport, name: str, patience: float) -> None:
        self.transport = transport
        self.name = name
        self.patience = patience
        self.log = transport.log

    @property
    def prefix(self) -> str:
        """The first token of the routers' subjects."""
        return self.transport.prefix

    @property
    def url(self) -> str:
        """The given address of NATS; it may contain credentials."""
        return self.transport.url

    @property
    def connected(self) -> bool:
        """Whether NATS is connected now. Otherwise, the client is reconnecting."""
        return self.transport.connected

    async def request(self, request: Request, timeout: float = MAX_WAIT) -> Msg:
        """Send a request, with retries according to its retry, and return the reply."""
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
        """Send a body as JSON, None for no body, and decode the reply."""
        if body is not None:
            request.body = _json.encode(body)
        reply = await self.request(request, timeout)
        try:
            return _json.decode(reply.data), reply
        except ValueError as error:
            raise InvalidReply(f"the reply to {request.subject} can't be read: {error}") from None

    async def close(self) -> None:
        """Disconnect. Close its agents and workers first; a second call does nothing."""
        await self.transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Connecting:
    """The result of connect(): await it, or use it in `async with`."""

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

    The address is url, else NATS_URL, else nats://127.0.0.1:4222; several are separated by commas.
    Credentials are creds, a user in the URL, NATS_CREDS, or those for role that a router with an
    embedded server wrote for its user. patience is how long a request is retried while no router
    can serve it. It raises Unreachable if no server answers within timeout; once connected, it
    always reconnects.
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
