"""A session of an agent: executes events, and delivers the messages of hooks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from . import tools
from .agent import Agent, Collection, Data
from .events import AGENT_COMPLETE
from .interfaces import ContextManager, DisplaySystem, settled
from .models import HookResult
from .verdict import Display, Execution, Message

T = TypeVar("T")
MAX_EPHEMERAL = 256
"""The maximum number of ephemeral messages that wait for a model call."""
_LEVELS = {"warning": logging.WARNING, "error": logging.ERROR}


class Session:
    """Executes events, and delivers the messages of their verdicts."""

    def __init__(
        self,
        agent: Agent,
        *,
        context: ContextManager | None = None,
        display: DisplaySystem | None = None,
        parent: Session | None = None,
        merged: bool = False,
    ) -> None:
        """Create a session of an agent.

        context gets messages for the model, and display those for the user; without one, they are
        logged. A sub-agent passes the session that it works for as parent, which gets the context
        that hooks inject at agent:complete. With merged, the injections of several hooks into one
        event are delivered as one message with the settings of the first, as in the specification.
        Otherwise each has its own role and lifetime, as in amplifier-core 2.
        """
        self.agent, self.context, self.display, self.parent = agent, context, display, parent
        self.merged = merged
        self._ephemeral: list[Message] = []
        self._log = agent.client.log

    async def emit(self, event: str, data: Data = None, *, timeout: float | None = None) -> HookResult:
        """Emit as the agent does; nothing is delivered."""
        return await self.agent.emit(event, data, timeout=timeout)

    async def emit_and_collect(self, event: str, data: Data = None, timeout: float | None = None) -> Collection:
        """Collect as the agent does."""
        return await self.agent.emit_and_collect(event, data, timeout)

    async def execute(self, event: str, data: Data = None, *, timeout: float | None = None) -> Execution:
        """Execute as the agent does, and deliver the messages. Delivery errors are only logged."""
        execution = await self.agent.execute(event, data, timeout=timeout)
        for shown in execution.display:
            await self._show(shown)
        to = self.parent if event == AGENT_COMPLETE and self.parent is not None else self
        for message in execution.messages if self.merged else execution.context_messages:
            await to._deliver(message)
        for warning in execution.warnings:
            self._log.warning("injection of hook %s: %s %s", warning.hook, warning.kind, warning.detail)
        return execution

    async def run_tool(
        self, call: tools.ToolCall | Mapping[str, Any], fn: Callable[[dict[str, Any]], Awaitable[T] | T]
    ) -> T | Any:
        """Run a tool with its hooks; see tools.run_tool."""
        return await tools.run_tool(self.execute, call, fn)

    async def next_call(self) -> list[dict[str, Any]]:
        """Return the messages for the next model call: those of the context, then the ephemeral
        ones, which are removed.

        An ephemeral message may request to be appended to a last message of role tool instead. If
        the context fails, none are removed.
        """
        messages = [dict(m) for m in await settled(self.context.get_messages())] if self.context is not None else []
        waiting, self._ephemeral = self._ephemeral, []
        for message in waiting:
            last = messages[-1] if messages else {}
            if message.append_to_last_tool_result and last.get("role") == "tool" and isinstance(last["content"], str):
                last["content"] += "\n\n" + message.content
            else:
                messages.append(message.to_dict())
        return messages

    async def new_turn(self) -> None:
        """Start a new turn, for an agent that sends no prompt:submit."""
        await self.agent.new_turn()

    async def end(self) -> None:
        """End the session, for an agent that sends no session:end. Ephemeral messages are dropped."""
        self._ephemeral = []
        await self.agent.end_session()

    async def _deliver(self, message: Message) -> None:
        hook, event = message.metadata.get("hook_name"), message.metadata.get("event")
        if message.ephemeral:
            if len(self._ephemeral) == MAX_EPHEMERAL:
                self._log.warning("dropped the oldest ephemeral message: more than %d wait", MAX_EPHEMERAL)
                del self._ephemeral[0]
            self._ephemeral.append(message)
        elif self.context is None:
            self._log.warning("dropped a message of hook %s at %s: the session has no context", hook, event)
        else:
            try:
                await settled(self.context.add_message(message.to_dict()))
            except Exception as error:
                self._log.warning("a message of hook %s at %s could not be added: %s", hook, event, error)

    async def _show(self, shown: Display) -> None:
        if self.display is None:
            self._log.log(_LEVELS.get(shown.level, logging.INFO), "%s: %r", shown.shown_source, shown.message)
            return
        try:
            await settled(self.display.show_message(shown.message, shown.level, shown.shown_source))
        except Exception as error:
            self._log.warning("a message of %s could not be shown: %s", shown.source, error)
