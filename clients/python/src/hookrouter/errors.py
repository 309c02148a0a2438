"""The errors of this package. None of them is a permission."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verdict import Approval, Execution


class HookRouterError(Exception):
    """The base of all errors of this package: nothing was permitted."""


class Unreachable(HookRouterError, ConnectionError):
    """No NATS server answers at the address."""


class NoRouter(HookRouterError):
    """NATS is connected, but no router answers on the routers' subjects."""


class Disconnected(HookRouterError, ConnectionError):
    """NATS is not connected, so nothing was sent. The client reconnects automatically."""


class ConnectionLost(HookRouterError, ConnectionError):
    """The connection was lost before the reply arrived. The request may have had an effect."""


class Impostor(HookRouterError):
    """The responder is not the router that issued the credentials. Its answer is dropped."""


class NotPermitted(HookRouterError):
    """The credentials have no permission for the request."""


class DeadlineExceeded(HookRouterError, TimeoutError):
    """The router did not answer in time."""


class InvalidReply(HookRouterError, ValueError):
    """A reply that violates the protocol. It permits nothing."""


class OtherData(InvalidReply):
    """The data to continue with differs from the approved data."""


class WrongLoop(HookRouterError, RuntimeError):
    """The client belongs to another event loop."""


class WrongProcess(HookRouterError, RuntimeError):
    """The parent created the client before a fork: connect again in the child."""


class Code(IntEnum):
    """Codes of error replies; see the wire protocol."""

    MALFORMED = 400
    FORBIDDEN = 403
    NOT_FOUND = 404
    CONFLICT = 409
    GONE = 410
    TOO_LARGE = 413
    OVERLOADED = 429
    INTERNAL = 500
    INVALID_RESULT = 502
    UNAVAILABLE = 503
    DEADLINE = 504


class RouterError(HookRouterError):
    """An error reply of a router, or an error equal to one."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text} ({int(code)})")
        self.code = int(code)
        self.text = text


class PendingError(HookRouterError, TimeoutError):
    """The wait for an approval request ended, and a person may still answer it."""

    def __init__(self, approval: Approval, cause: BaseException) -> None:
        super().__init__(
            f"approval request {approval.id} of hook {approval.hook!r} is still open as far as is known "
            f"(it expires {approval.expires}): {cause}"
        )
        self.approval = approval
        self.cause = cause


class Denied(HookRouterError):
    """The verdict is a denial."""

    def __init__(self, reason: str, verdict: Execution | None = None) -> None:
        super().__init__(reason or "denied without a reason")
        self.reason = reason
        self.verdict = verdict
