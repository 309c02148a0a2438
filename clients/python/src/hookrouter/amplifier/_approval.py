"""Modules that ask a person: the router asks, and remembers."""

from __future__ import annotations

from typing import Any

from ..models import HookResult


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
            result.approval_timeout = float(timeout)
        return result


class BusApprovals:
    """The approval provider of a host's modules. The answer is the router's, after the module has had its say."""

    async def request_approval(self, request: Any) -> Any:
        """Ask."""
        raise Ask(request)
