"""Approval requests of modules, which the router makes and stores."""

from __future__ import annotations

from typing import Any

from ..models import HookResult
from ._coordinator import ongoing

MAX_TIMEOUT = 7 * 24 * 3600.0
"""The longest timeout of an approval request, in seconds, which routers enforce too."""


class Ask(BaseException):
    """Ends a handler that asks a person. `except Exception` does not catch it."""

    def __init__(self, request: Any) -> None:
        super().__init__("ask the person at the router")
        self.request = request

    def result(self) -> HookResult:
        """Return the result that makes the router ask."""
        timeout = getattr(self.request, "timeout", None)
        result = HookResult(
            action="ask_user",
            approval_prompt=f"{self.request.action} (risk: {self.request.risk_level})",
            approval_options=["Allow once", "Deny"],
        )
        if timeout:
            result.approval_timeout = min(float(timeout), MAX_TIMEOUT)
        return result


class BusApprovals:
    """The approval provider of a host's modules. The router asks the person after the module's
    handler has ended."""

    async def request_approval(self, request: Any) -> Any:
        """Ask a person through the router."""
        ask = Ask(request)
        now = ongoing.get()
        if now is not None:
            now.asked.append(ask)
        raise ask
