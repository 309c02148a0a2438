"""The hook module: forwards a session's events to the bus, and enforces the verdicts in the
session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..agent import Agent
from ..client import Client, connect
from ..errors import HookRouterError, WrongLoop, WrongProcess
from ..interfaces import settled
from ..verdict import Approval, Display, Execution, Message
from ._config import Config
from ._tools import ToolGuard, refusal

log = logging.getLogger("hookrouter.amplifier")
PAUSE = 5.0
"""How long ungated events are not sent after one failed, in seconds, so that a session is not
slowed down without a router."""
MAX_EPHEMERAL = 256


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], Awaitable[None]]:
    """Mount the module; called by amplifier-core.

    It never raises, since amplifier-core continues without a module whose mount failed. With an
    invalid configuration, it denies all gated events and reports why.
    """
    try:
        gate = Gate(coordinator, Config.of(config))
    except Exception as error:
        log.error("hooks-hookrouter denies every gated event: its config can't be used: %s", error)
        gate = Gate(coordinator, Config(), f"the config of hooks-hookrouter can't be used: {error}")
    for event in gate.config.forwarded():
        coordinator.hooks.register(event, gate, priority=gate.config.priority, name="hookrouter")
    if gate.config.gated("tool:pre"):
        gate.tools.cover()
    return gate.close


class Gate:
    """The bus as one handler of amplifier-core."""

    def __init__(self, coordinator: Any, config: Config, broken: str = "") -> None:
        self.coordinator, self.config, self._broken = coordinator, config, broken
        self.tools = ToolGuard(coordinator, config.require_verdict)
        self._client: Client | None = None
        self._agent: Agent | None = None
        self._connecting = asyncio.Lock()
        self._ephemeral: list[Message] = []  # for the next request to the model
        self._quiet_until = 0.0

    async def __call__(self, event: str, data: dict[str, Any]) -> Any:
        """Handle one event. It never raises, since amplifier-core lets an event pass if its handler
        raised."""
        result = None
        try:
            result = await self._decided(event, data)
            return result
        finally:  # cancelled too
            if event == "tool:pre" and (result is None or result.action == "deny"):
                self.tools.revoke(data.get("tool_name", ""), data.get("tool_input"))

    async def _decided(self, event: str, data: dict[str, Any]) -> Any:
        try:
            return await self._handle(event, data)
        except Exception as error:
            log.warning("%s was not decided: %s", event, error)
            self._quiet_until = asyncio.get_running_loop().time() + PAUSE
            if self.config.gated(event):
                return self._denied(event, data, f"hookrouter decided nothing: {error}")
            return _result()

    async def close(self) -> None:
        """Disconnect at the end of the session."""
        self.tools.release()
        client, self._client, self._agent = self._client, None, None
        if client is not None:
            await client.close()

    async def _handle(self, event: str, data: dict[str, Any]) -> Any:
        gated = self.config.gated(event)
        if self._broken:
            raise HookRouterError(self._broken)
        if not gated and asyncio.get_running_loop().time() < self._quiet_until:
            return _result()
        if event == "prompt:submit":
            self.tools.forget()
        if self.config.gated("tool:pre"):
            self.tools.cover()
        try:
            verdict = await (await self._connected()).execute(event, data)
        except (WrongLoop, WrongProcess):  # the session went on in another one; nothing was sent
            self._client, self._agent, self._connecting = None, None, asyncio.Lock()
            verdict = await (await self._connected()).execute(event, data)
        if gated:
            self._quiet_until = 0.0
        await self._deliver(verdict)
        if not verdict.permitted:
            return self._denied(event, data, verdict.reason or "denied without a reason")
        return self._permitted(event, data, verdict)

    async def _connected(self) -> Agent:
        async with self._connecting:
            if self._agent is None:
                c = self.config
                self._client = await connect(
                    c.url, prefix=c.prefix, name="amplifier", creds=c.creds, patience=c.patience, timeout=c.patience
                )
                session = str(getattr(self.coordinator, "session_id", "") or "")
                self._agent = Agent(self._client, session=session, source="/amplifier", on_pending=self._pending)
            return self._agent

    # -- the effects of a verdict

    def _denied(self, event: str, data: dict[str, Any], reason: str) -> Any:
        if event == "tool:post":  # orchestrators still show the result of a denied one
            withheld = refusal(f"its result is withheld: {reason}").model_dump()
            if not self.tools.replace(data.get("tool_name", ""), data.get("tool_input"), withheld):
                return _result(action="modify", data={**data, "result": withheld})
        return _result(action="deny", reason=reason)

    def _permitted(self, event: str, data: dict[str, Any], verdict: Execution) -> Any:
        got = dict(verdict.data or {})
        changed = {name for name in got.keys() | data.keys() if got.get(name) != data.get(name)}
        changed -= {"timestamp", "session_id"} - data.keys()  # the router's
        name = data.get("tool_name", "")
        if event == "tool:pre":
            given = got.get("tool_input")
            if got.get("tool_name") != name or not isinstance(given, dict):
                return _result(action="deny", reason="a hook changed the call into one that can't be made")
            if not self.tools.covers(name) and changed:
                return _result(action="deny", reason=f"a hook changed the input, and tool {name} can't be given it")
            self.tools.permit(name, data.get("tool_input"), given)
        elif event == "tool:post":
            if "result" in changed:
                self.tools.replace(name, data.get("tool_input"), got.get("result"))
            self.tools.settle(name, data.get("tool_input"))
        elif event == "prompt:submit" and "prompt" in changed and self.config.changed_prompt == "deny":
            return _result(
                action="deny", reason="a hook changed the prompt, and the orchestrator would send the old one"
            )
        elif event == "provider:request" and self._ephemeral:
            return self._inject()
        return _result(action="modify", data={**data, **got}) if changed else _result()

    def _inject(self) -> Any:
        messages, self._ephemeral = self._ephemeral, []
        listed = [_injection(message) for message in messages]
        return _result(
            **({"context_injections": listed} if all(listed) else {}),
            action="inject_context",
            context_injection="\n\n".join(message.content for message in messages),
            context_injection_role=messages[0].role,
            ephemeral=True,
            append_to_last_tool_result=all(message.append_to_last_tool_result for message in messages),
        )

    # -- the messages of hooks

    async def _deliver(self, verdict: Execution) -> None:
        for message in verdict.context_messages:
            if message.ephemeral:
                self._ephemeral = [*self._ephemeral, message][-MAX_EPHEMERAL:]
                continue
            try:
                await settled(self.coordinator.get("context").add_message(message.to_dict()))
            except Exception as error:
                log.warning("a message of hook %s was not added: %s", message.metadata.get("hook_name"), error)
        for shown in verdict.display:
            await self._show(shown)

    async def _show(self, shown: Display) -> None:
        display = getattr(self.coordinator, "display_system", None)
        try:
            if display is None:
                log.info("%s: %r", shown.shown_source, shown.message)
            else:
                await settled(display.show_message(shown.message, shown.level, shown.shown_source))
        except Exception as error:
            log.warning("a message of %s was not shown: %s", shown.source, error)

    def _pending(self, approval: Approval) -> None:
        log.info("waits for a person: approval request %s of hook %s: %r", approval.id, approval.hook, approval.prompt)


def _result(**fields: Any) -> Any:
    from amplifier_core import HookResult

    return HookResult(**fields)


def _injection(message: Message) -> Any:
    """Return amplifier-core's injection for a message; None before its version 2."""
    try:
        from amplifier_core.models import ContextInjection
    except ImportError:
        return None
    return ContextInjection(
        content=message.content,
        role=message.role,
        ephemeral=message.ephemeral,
        append_to_last_tool_result=message.append_to_last_tool_result,
        hook_name=str(message.metadata.get("hook_name") or "hookrouter"),
        event=str(message.metadata.get("event") or ""),
    )
