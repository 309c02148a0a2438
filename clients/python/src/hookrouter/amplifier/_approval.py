"""Modules that ask a person: the router asks, and remembers."""

from __future__ import annotations

from typing import Any

from ..models import HookResult
from ._coordinator import ongoing

MAX_TIMEOUT = 7 * 24 * 3600.0
"""The longest time to answer, in seconds; routers cut it to that too."""


class Ask(BaseException):
    """Leaves a handler that asks: no `except Exception` of it takes that for a failure."""

    def __init__(self, request: Any) -> None:
        super().__init__("ask the person at the router")
        self.request = request

    def result(self) -> HookResult:
        """Return what has the router ask."""
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
    """The approval provider of a host's modules. The answer is the router's, after the module has had its say."""

    async def request_approval(self, request: Any) -> Any:
        """Ask."""
        ask = Ask(request)
        now = ongoing.get()
        if now is not None:
            now.asked.append(ask)
        raise ask
