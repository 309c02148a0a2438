"""The pending replies to the requests of one client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from nats.aio.msg import Msg

from . import _names
from .errors import RouterError
from .run import header

Accept = Callable[[Mapping[str, str]], bool]
"""Reports whether a reply is for a request."""


@dataclass(eq=False)
class _Waiter:
    subject: str
    accept: Accept
    arrived: asyncio.Future[Msg] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Replies:
    """The pending replies."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiter] = {}

    async def wait(self, subject: str, accept: Accept, send: Callable[[str, str], Awaitable[None]]) -> Msg:
        """Send a request with a random token and nonce, and wait for an accepted reply."""
        nonce, token = _names.token(), _names.token()
        waiter = _Waiter(subject, lambda h: header(h, "Hook-Nonce") == nonce and accept(h))
        self._waiting[token] = waiter
        try:
            await send(token, nonce)
            return await waiter.arrived
        finally:
            self._waiting.pop(token, None)

    def receive(self, token: str, message: Msg) -> None:
        """Handle a reply. Drop it if it is not accepted: the right one may still arrive."""
        waiter = self._waiting.get(token)
        if waiter and not waiter.arrived.done() and (no_responders(message) or waiter.accept(message.headers or {})):
            waiter.arrived.set_result(message)

    def fail(self, error: Callable[[], Exception], on: Callable[[str], bool] = lambda _: True) -> None:
        """Fail the waits for replies to requests on some subjects, each with a new error."""
        for waiter in self._waiting.values():
            if on(waiter.subject) and not waiter.arrived.done():
                waiter.arrived.set_exception(error())


def no_responders(message: Msg) -> bool:
    """Report whether the server answered because there is no subscriber."""
    return not message.data and header(message.headers, "Status") == "503"


def read_error(headers: Mapping[str, str] | None) -> RouterError | None:
    """Return the error in a reply."""
    if not any(name.lower().startswith("nats-service-error") for name in headers or ()):
        return None
    code, text = header(headers, "Nats-Service-Error-Code"), header(headers, "Nats-Service-Error")
    if not code and not text:
        return None
    return RouterError(int(code) if code.isascii() and code.isdigit() else 500, text)
