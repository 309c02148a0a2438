"""The host: runs unchanged Amplifier hook modules as workers on the bus."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from .. import _names, events
from ..agent import Agent
from ..client import Client
from ..errors import HookRouterError
from ..models import HookResult
from ..registration import Registration, current_call
from ..worker import Worker
from ._approval import BusApprovals
from ._coordinator import Coordinator, Entry, Hooks
from ._load import Module, load, short_name
from ._run import run

log = logging.getLogger("hookrouter.amplifier")
MAX_SESSIONS = 256
"""The maximum number of sessions with mounted modules. Beyond it, those of the longest idle session
are closed."""
LOAD_FAILED_WAIT = 2.0
"""The timeout of a module:load_failed event, in seconds."""
Key = tuple[str, str]
"""The authenticated sender and its session, since the session ids of agents are independent."""


class Host:
    """Mounts modules once for each session on the bus, as Amplifier does, and serves their hooks."""

    def __init__(
        self, client: Client, modules: Sequence[Module], *, agent: Client | None = None, working_dir: str | None = None
    ) -> None:
        """Create a host. agent is a client for events that modules emit, if client has no
        permission for that."""
        self.worker = Worker(client)
        self.modules = list(modules)
        self._client, self._agent_client = client, agent or client
        self._capabilities = {"session.working_dir": str(Path(working_dir or os.getcwd()).resolve())}
        self._found: list[tuple[Module, Any, Any]] = []
        self._hooks: dict[tuple[str, str, str, int], Registration] = {}
        self._sessions: OrderedDict[Key, asyncio.Task[Coordinator]] = OrderedDict()
        self._later: set[asyncio.Task[Any]] = set()
        self._contributors: list[tuple[Registration, Callable[[], Any]]] = []
        self._template: Coordinator | None = None

    async def start(self) -> list[Registration]:
        """Mount the modules and register their hooks; return the registrations."""
        for module in self.modules:
            try:
                self._found.append((module, *load(module)))
            except Exception as error:
                await self._load_failed(module, error)
                raise
        self._template = await self._mount("")
        for reg, entries in self._group(self._template.hooks.entries):
            self._hooks |= dict.fromkeys((entry.key for entry in entries), reg)
            await self.worker.register(reg, self._handler(entries))
        for reg, callback in self._contributors:
            await self.worker.register_contributor(reg, callback)
        return list(dict.fromkeys(self._hooks.values())) + [reg for reg, _ in self._contributors]

    async def close(self) -> None:
        """Leave the bus and clean up."""
        await self.worker.close()
        for task in list(self._later):
            task.cancel()
        for key in list(self._sessions):
            await self._give_up(key)
        if self._template is not None:
            await self._template.cleanup()

    # -- sessions

    async def _mount(self, session: str) -> Coordinator:
        """Mount all modules on a coordinator of the session."""
        config: dict[str, Any] = {"session": {}, "tools": [], "hooks": [], "providers": []}
        for module in self.modules:
            config.setdefault(module.kind, []).append({"module": short_name(module), "config": module.config})
        coordinator = Coordinator(self, session, config, self._capabilities)
        for module, mount, _ in sorted(self._found, key=lambda found: found[0].kind == "hooks"):
            coordinator.hooks.module = short_name(module)
            try:
                cleanup = await mount(coordinator, dict(module.config))
            except Exception as error:
                await self._load_failed(module, error)
                raise
            if callable(cleanup):
                coordinator.register_cleanup(cleanup)
        for module, _, ready in self._found:
            if ready is not None:
                coordinator.hooks.module = short_name(module)
                await ready(coordinator)
        offer = coordinator._capabilities.get("approval.register_provider")
        if callable(offer):
            offer(BusApprovals())
        return coordinator

    async def _load_failed(self, module: Module, error: Exception) -> None:
        """Report to the bus, best effort, that a module could not be loaded."""
        data = {"module_type": module.kind.removesuffix("s"), "module_id": short_name(module), "error": str(error)}
        try:
            await asyncio.wait_for(Agent(self._client).emit(events.MODULE_LOAD_FAILED, data), LOAD_FAILED_WAIT)
        except Exception as why:
            log.debug("%s not emitted: %s", events.MODULE_LOAD_FAILED, why)

    async def _session(self, session: str, sender: str) -> Coordinator:
        if not session and self._template is not None:
            return self._template
        key = sender, session
        task = self._sessions.get(key)
        if task is None:
            task = self._sessions[key] = asyncio.create_task(self._mount(session))
            if len(self._sessions) > MAX_SESSIONS:
                self._soon(self._give_up(next(iter(self._sessions))))
        self._sessions.move_to_end(key)
        try:
            return await asyncio.shield(task)
        except Exception:
            self._sessions.pop(key, None)  # the next call tries again
            raise

    async def _give_up(self, key: Key) -> None:
        task = self._sessions.pop(key, None)
        if task is None:
            return
        coordinator = (await asyncio.gather(task, return_exceptions=True))[0]
        if isinstance(coordinator, Coordinator):
            await coordinator.cleanup()
            for remove in await asyncio.gather(*coordinator.hooks.added, return_exceptions=True):
                if callable(remove):
                    with contextlib.suppress(HookRouterError):
                        await remove()

    # -- registrations

    def _group(self, entries: list[Entry]) -> list[tuple[Registration, list[Entry]]]:
        """Combine the handlers that a module registered for several events under one name into one
        hook."""
        groups: dict[tuple[str, str, int, int], list[Entry]] = {}
        for entry in entries:
            groups.setdefault((entry.module, entry.name, entry.priority, entry.number), []).append(entry)
        taken: set[str] = set()
        return [(self._registration(group, taken), group) for group in groups.values()]

    def _registration(self, entries: list[Entry], taken: set[str], session: str = "") -> Registration:
        first = entries[0]
        module = next(m for m in self.modules if short_name(m) == first.module)
        name = first.name if first.module in first.name else f"{first.module}-{first.name}"
        slug = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:56] or "amplifier"
        hook = _names.slug(slug) if session else slug
        while hook in taken:
            hook = f"{slug}-{len(taken)}"
        taken.add(hook)
        return Registration(
            id=hook, name=first.name, events=tuple(e.event for e in entries), priority=first.priority,
            on_failure=module.on_failure, timeout_ms=module.timeout_ms, session_id=session, none_passes=True,
        )  # fmt: skip

    def registered(self, hooks: Hooks, entry: Entry) -> None:
        """Register a hook on the bus that a module registers at run time."""
        if self._hooks and entry.key not in self._hooks:
            taken = set() if hooks.session else {r.id for r in self._hooks.values()}
            reg = self._registration([entry], taken, hooks.session)
            handler = self._handler([entry], hooks if hooks.session else None)
            hooks.added.append(self._soon(self.worker.register(reg, handler)))

    def contributes(self, session: str, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Contribute once for the host, since all sessions contribute the same."""
        if not session and self._template is None:
            self._contributors.append((Registration(id=_names.slug(name), name=name, channels=[channel]), callback))

    def _handler(self, entries: list[Entry], only: Hooks | None = None) -> Callable[[str, dict[str, Any]], Any]:
        """Return the handler of a hook on the bus; only is the single session that it is for, if
        any."""
        keys = {entry.event: entry.key for entry in entries}

        async def handler(event: str, data: dict[str, Any]) -> Any:
            call = current_call()
            session = call.session if call is not None else ""
            if unsafe := next((s for s in (session, data.get("session_id", "")) if not _plain(s)), None):
                reason = f"session id {unsafe!r:.80} is not passed to Amplifier modules: they make file names of it"
                return HookResult(action="deny", reason=reason)
            sender = call.extensions.get("hookemitter", "") if call is not None else ""
            coordinator = await self._session(session, sender)
            if only not in (None, coordinator.hooks):  # another sender's session has the same id
                return HookResult()
            coordinator.parent_id = data.get("parent_id")
            key = keys.get(event) or next(iter(keys.values()))
            found = next((e.handler for e in coordinator.hooks.entries if e.key == key), None)
            return HookResult() if found is None else await run(found, event, data)

        return handler

    # -- requests of modules to the bus

    async def emit(self, session: str, event: str, data: dict[str, Any]) -> Any:
        """Emit an event for a module; return a result of amplifier-core."""
        from amplifier_core import HookResult as Core

        result = await Agent(self._agent_client, session=session, source="/amplifier").emit(event, data)
        return Core(**result.to_dict())

    async def collect(self, session: str, event: str, data: dict[str, Any], timeout: float | None) -> list[Any]:
        """Collect for a module."""
        return await Agent(self._agent_client, session=session).emit_and_collect(event, data, timeout)

    async def contributions(self, channel: str) -> list[Any]:
        """Collect contributions for a module."""
        return await Agent(self._agent_client).collect_contributions(channel)

    def _soon(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)
        return task


def _plain(session: Any) -> bool:
    """Report whether a session id, which an agent chooses, is safe as the name of a directory."""
    return isinstance(session, str) and not session.startswith(".") and not set(session) & set("/\\\0")
