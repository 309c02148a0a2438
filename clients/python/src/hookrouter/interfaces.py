"""Interfaces that an agent implements: for the messages of hooks and the answers to their
questions.

The methods are those of amplifier-core. Each may be a coroutine function or a plain function.
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
        """Append a message with role, content, and metadata about its hook."""

    def get_messages(self) -> Awaitable[list[dict[str, Any]]] | list[dict[str, Any]]:
        """Return all messages, oldest first."""


@runtime_checkable
class DisplaySystem(Protocol):
    """Shows messages of hooks to the agent's user."""

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str
    ) -> Awaitable[None] | None:
        """Show one message. Its text is untrusted: see TerminalDisplay."""


@runtime_checkable
class ApprovalSystem(Protocol):
    """Asks a person."""

    def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> Awaitable[str] | str:
        """Return the chosen option. Raise TimeoutError if nobody chose in time, PassOn to leave the
        choice to others."""


class PassOn(Exception):
    """Raised by an approval system to leave the decision to others, who see its text.

    A reviewing model can only deny or pass on: the router never counts its approval.
    """


async def settled(value: Awaitable[T] | T) -> T:
    """Await the result of a plain or an async function."""
    if inspect.isawaitable(value):
        return await value
    return value
