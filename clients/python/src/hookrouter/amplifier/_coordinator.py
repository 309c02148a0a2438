"""The replacement for amplifier-core's coordinator in hosted modules."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import HookRouterError

if TYPE_CHECKING:
    from ._approval import Ask
    from .host import Host

log = logging.getLogger("hookrouter.amplifier")
ELSEWHERE = ("providers", "tools", "context", "orchestrator", "module-source-resolver")
"""Mount points that exist only in the agent's process."""
UNKNOWN = (
    "session", "loader", "cancellation", "channels", "approval_system", "injection_budget_per_turn",
    "injection_size_limit", "request_cancel", "reset_turn", "process_hook_result", "to_dict",
)  # fmt: skip
"""Members of amplifier-core's coordinator that exist only in the agent's process."""


class Refused(HookRouterError, AttributeError):
    """A hosted module accessed something that exists only in the agent's process."""

    def __init__(self, call: str) -> None:
        super().__init__(f"{call} is refused: that is in the agent's process, and this host is not")
        self.call = call


@dataclass
class Ongoing:
    """The context of the call that a handler answers."""

    refused: list[Refused] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)


ongoing: ContextVar[Ongoing | None] = ContextVar("hookrouter_amplifier_call", default=None)


def refuse(call: str) -> Refused:
    """Return a refusal. Even if the module catches it, its result does not count as a decision."""
    refused = Refused(call)
    now = ongoing.get()
    if now is not None:
        now.refused.append(refused)
    log.warning("%s", refused)
    return refused


@dataclass(eq=False)
class Entry:
    """One handler that a module registered."""

    module: str
    event: str
    name: str
    priority: int
    handler: Callable[..., Any]
    number: int = 0
    """The index among the handlers of the same module, event and name."""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """The key of the entry, which is the same in all sessions."""
        return self.module, self.event, self.name, self.number


class Hooks:
    """The registry of a hosted session: its handlers answer calls from the bus."""

    def __init__(self, host: Host, session: str) -> None:
        self._host, self.session = host, session
        self.entries: list[Entry] = []
        self.added: list[asyncio.Task[Callable[[], Any]]] = []  # hooks on the bus for this session only
        self.module = ""  # that is mounted now

    def register(self, event: str, handler: Callable[..., Any], priority: int = 0, name: str | None = None) -> Any:
        """Register a handler, which the host serves on the bus."""
        title = str(name or getattr(handler, "__name__", type(handler).__name__))
        same = [e for e in self.entries if (e.module, e.event, e.name) == (self.module, event, title)]
        entry = Entry(self.module, event, title, priority, handler, len(same))
        self.entries.append(entry)
        self._host.registered(self, entry)

        def unregister() -> None:
            if entry in self.entries:
                self.entries.remove(entry)

        return unregister

    on = register

    def unregister(self, name: str) -> None:
        """Remove the handlers with a name."""
        self.entries = [entry for entry in self.entries if entry.name != name]

    async def emit(self, event: str, data: dict[str, Any]) -> Any:
        """Send an event of the session to the bus."""
        return await self._host.emit(self.session, event, data)

    async def emit_and_collect(self, event: str, data: dict[str, Any], timeout: float | None = None) -> list[Any]:
        """Call all hooks of an event on the bus."""
        return await self._host.collect(self.session, event, data, timeout)

    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """List the handlers of the hosted modules."""
        found: dict[str, list[str]] = {}
        for entry in sorted(self.entries, key=lambda e: e.priority):
            if event in (None, entry.event):
                found.setdefault(entry.event, []).append(entry.name)
        return found

    def set_default_fields(self, **fields: Any) -> None:
        """Refuse, since only the agent sets the fields of a session's events."""
        raise refuse("hooks.set_default_fields")


class _MountPoints(dict[str, Any]):
    """The mount points of a host, for modules that access them directly."""

    def __missing__(self, name: str) -> Any:
        raise refuse(f"coordinator.mount_points[{name!r}]")

    def get(self, name: str, default: Any = None) -> Any:
        """Return what is mounted."""
        if name not in self and name in ELSEWHERE:
            raise refuse(f"coordinator.mount_points.get({name!r})")
        return super().get(name, default)


class _Display:
    def show_message(self, message: str, level: str = "info", source: str = "hook") -> None:
        now = ongoing.get()
        if now is not None:
            now.shown.append((message, level))


class Coordinator:
    """The coordinator of one session. Modules may set attributes, as on amplifier-core's."""

    def __init__(self, host: Host, session: str, config: dict[str, Any], capabilities: dict[str, Any]) -> None:
        self.session_id, self.parent_id, self.config = session, None, config
        self.hooks = Hooks(host, session)
        self.mount_points: dict[str, Any] = _MountPoints(hooks=self.hooks)
        self.display_system = _Display()
        self._host, self._capabilities = host, dict(capabilities)
        self._missing: set[str] = set()
        self._cleanups: list[Callable[[], Any]] = []

    def __getattr__(self, name: str) -> Any:
        if name in UNKNOWN:
            refused = Refused(f"coordinator.{name}")  # a getattr with a default is not a mistake
            log.warning("%s", refused)
            raise refused
        raise AttributeError(f"'Coordinator' object has no attribute {name!r}", name=name, obj=self)

    def get(self, mount_point: str, name: str | None = None) -> Any:
        """Return what is mounted on this host: the hooks and the given providers."""
        if mount_point not in self.mount_points:
            raise refuse(f"coordinator.get({mount_point!r})")
        found = self.mount_points[mount_point]
        return found.get(name) if name is not None and isinstance(found, dict) else found

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        """Mount a provider or a context. Tools and orchestrators belong to the agent."""
        if mount_point == "providers":
            self.mount_points.setdefault("providers", {})[name or module.name] = module
        elif mount_point == "context":
            self.mount_points["context"] = module
        else:
            raise refuse(f"coordinator.mount({mount_point!r})")

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        """Unmount what was mounted."""
        if name is not None and isinstance(self.mount_points.get(mount_point), dict):
            self.mount_points[mount_point].pop(name, None)
        else:
            self.mount_points.pop(mount_point, None)

    def register_capability(self, name: str, value: Any) -> None:
        """Register a capability for the other modules of this host."""
        self._capabilities[name] = value

    def get_capability(self, name: str) -> Any:
        """Return a capability of this host or of its modules; None if unknown, as in
        amplifier-core."""
        if name not in self._capabilities and name not in self._missing:
            self._missing.add(name)
            log.warning("coordinator.get_capability(%r) is None: no module of this host offers it", name)
        return self._capabilities.get(name)

    def register_contributor(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Contribute to a channel of the bus."""
        self._host.contributes(self.session_id, channel, name, callback)

    async def collect_contributions(self, channel: str) -> list[Any]:
        """Call the contributors of a channel on the bus."""
        return await self._host.contributions(channel)

    def register_cleanup(self, cleanup: Callable[[], Any]) -> None:
        """Register a function to call when the session is closed."""
        self._cleanups.append(cleanup)

    async def cleanup(self) -> None:
        """Call the cleanup functions in reverse order."""
        while self._cleanups:
            try:
                done = self._cleanups.pop()()
                if inspect.isawaitable(done):
                    await done
            except Exception as error:
                log.warning("a module's cleanup failed: %s", error)
