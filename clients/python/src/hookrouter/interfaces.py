"""What an agent brings along: where hooks' messages go, and who answers what hooks ask.

The methods are amplifier-core's. Each may be a coroutine function or a plain one.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class ContextManager(Protocol):
    """Keeps the conversation that a model sees."""

    def add_message(self, message: dict[str, Any]) -> Awaitable[None] | None:
        """Append a message: role, content, and metadata that says which hook it is from."""

    def get_messages(self) -> Awaitable[list[dict[str, Any]]] | list[dict[str, Any]]:
        """Return all messages, the oldest first."""


@runtime_checkable
class DisplaySystem(Protocol):
    """Shows the agent's user what hooks have to say."""

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str
    ) -> Awaitable[None] | None:
        """Show one message. Its text is foreign: see TerminalDisplay."""


@runtime_checkable
class ApprovalSystem(Protocol):
    """Asks a person."""

    def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> Awaitable[str] | str:
        """Return the option that was chosen. TimeoutError: nobody chose in time. PassOn: others are to choose."""


class PassOn(Exception):
    """Raised by an approval system to leave the decision to others, who are shown its text.

    A model that reviews denies or passes on: the router never counts what it allows.
    """


async def settled(value: Awaitable[T] | T) -> T:
    """Await what a plain or an async function returned."""
    if inspect.isawaitable(value):
        return await value
    return value
