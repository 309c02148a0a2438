"""Sends one event and waits for its verdict, across lost connections and while a person decides.

All attempts have the same id and the same bytes, so there is only one decision, whichever router
answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from ._event import set_timeout
from .client import MAX_WAIT, Backoff, Client, Request, unserved
from .errors import (
    Code,
    ConnectionLost,
    DeadlineExceeded,
    HookRouterError,
    PendingError,
    RouterError,
)
from .run import Run
from .verdict import Approval, Execution

REJOIN_TIMEOUT = 4.0
"""The timeout of an attempt that joins an approval request. It limits how late a dead router is
noticed."""
REJOIN_WAIT_MS = "3000"
GRACE = 60.0
"""How long after its expiry the decision of an approval request is still requested."""


class Waiter:
    """Sends one event until there is a verdict."""

    def __init__(
        self, client: Client, request: Request, timeout: float | None, on_pending: Callable[[Approval], None] | None
    ) -> None:
        self._client, self._request, self._on_pending = client, request, on_pending
        self._loop = asyncio.get_running_loop()
        self._deadline = None if timeout is None else self._loop.time() + timeout
        self._pending: Approval | None = None
        self._backoff = Backoff()

    async def decide(self) -> Execution:
        """Return the verdict, continue or deny.

        The first attempts do not wait for a person, so that an approval request is known as soon as
        there is one.
        """
        self._request.headers["Hook-Wait-Ms"] = "1"
        while True:
            began = self._loop.time()
            cause: HookRouterError | None = None
            try:
                execution = await self._try()
                if execution.action != "pending":
                    return execution
                assert execution.approval is not None  # noqa: S101  Execution.parse sees to it
                self._join(execution.approval)
            except HookRouterError as error:
                if not self._temporary(error):
                    if isinstance(error, RouterError) or self._pending is None:
                        raise
                    raise PendingError(self._pending, error) from error
                cause = error
            if self._loop.time() - began > 1.0:  # the router waited, so no further pause is needed
                self._backoff.reset()
            await self._pause(cause)
            self._request.headers["Hook-Retry"] = "1"

    async def _try(self) -> Execution:
        """Send the event once."""
        wait = REJOIN_TIMEOUT if self._pending else MAX_WAIT
        if self._deadline is not None:
            wait = min(wait, self._deadline - self._loop.time())
            if wait <= 0:
                raise DeadlineExceeded("the time is over")
        if self._pending is None:
            set_timeout(self._request.headers, wait)
        reply = await self._client.request(self._request, wait)
        return Execution.parse(reply.data, Run.read(reply.headers or {}))

    def _join(self, approval: Approval) -> None:
        """Start to wait for the decision of an approval request."""
        new = self._pending is None or self._pending.id != approval.id
        self._pending = approval
        self._request.headers["Hook-Wait-Ms"] = REJOIN_WAIT_MS
        try:
            left = (datetime.fromisoformat(approval.expires) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            left = 0.0
        if new or left:
            self._backoff.until = self._loop.time() + left + GRACE
        if new and self._on_pending is not None:
            self._on_pending(approval)

    async def _pause(self, cause: HookRouterError | None) -> None:
        """Wait before the next attempt, or raise the reason why there is none."""
        if self._backoff.until is None:
            self._backoff.until = self._loop.time() + self._client.patience
        pause = self._backoff.next()
        if pause is None:
            self._give_up(cause or DeadlineExceeded("it was not decided within a minute after it expired"))
        elif self._deadline is not None and self._loop.time() + pause > self._deadline:
            await asyncio.sleep(max(self._deadline - self._loop.time(), 0))
            self._give_up(DeadlineExceeded("the time is over" + (f": {cause}" if cause else "")))
        else:
            await asyncio.sleep(pause)

    def _give_up(self, cause: HookRouterError) -> None:
        if self._pending is None:
            raise cause
        raise PendingError(self._pending, cause) from cause

    def _temporary(self, error: HookRouterError) -> bool:
        """Report whether to send the event again.

        If an approval request is known, its decision can still be obtained, so only a refusal of
        the event itself ends the attempts.
        """
        if isinstance(error, RouterError):
            if self._pending is not None:
                return error.code == Code.OVERLOADED or error.code >= Code.INTERNAL
            return error.code == Code.UNAVAILABLE
        return unserved(error) or isinstance(error, ConnectionLost | DeadlineExceeded)
