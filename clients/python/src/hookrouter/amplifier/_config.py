"""The configuration of the hook module in a mount plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _names

GATED = ("prompt:submit", "provider:request", "tool:pre", "tool:post")
"""The events whose denial Amplifier's orchestrators obey or this module enforces."""
_STREAMS = ("content_block:", "thinking:", "llm:")


@dataclass(frozen=True, kw_only=True)
class Config:
    """The configuration of hooks-hookrouter in a mount plan."""

    url: str | None = None
    """The address of NATS; by default, NATS_URL."""
    creds: str | None = None
    prefix: str = "hooks"
    events: Sequence[str] | None = None
    """The forwarded events. By default, all events of amplifier-core except those of streams."""
    closed: Sequence[str] = GATED
    """Patterns of events that are denied if the bus does not decide."""
    patience: float = 5.0
    """How long a gated event waits for a router, in seconds."""
    priority: int = 1000
    """The priority: after the session's other hooks, so that the bus gets the data as changed by
    them."""
    require_verdict: bool = True
    """Whether a tool refuses an input that no verdict on tool:pre permits."""
    changed_prompt: str = "deny"
    """What to do if the bus changes a prompt: deny, since loop-basic and others still send the old
    one; pass, if the orchestrator is known to use the new one."""

    def __post_init__(self) -> None:
        for name in ("events", "closed"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Sequence | None):
                raise ValueError(f"{name} is {value!r}: a list of event names is needed")
            for pattern in value or ():
                _names.check_pattern(pattern)
        if self.changed_prompt not in ("deny", "pass"):
            raise ValueError(f"changed_prompt is {self.changed_prompt!r}: 'deny' or 'pass'")
        for name, kinds in (("patience", (int, float)), ("priority", (int,)), ("require_verdict", (bool,))):
            value = getattr(self, name)
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise ValueError(f"{name} is {value!r}: it must be a {kinds[-1].__name__}")
        if not -(2**31) <= self.priority < 2**31:
            raise ValueError(f"priority is {self.priority}: amplifier-core takes 32 bits")
        missing = [event for event in self.closed if "*" not in event and event not in self.forwarded()]
        if missing:
            raise ValueError(f"{', '.join(missing)}: closed, but not among events: nothing would ask about it")

    @classmethod
    def of(cls, config: Mapping[str, Any] | None) -> Config:
        """Parse the configuration in a mount plan; ValueError for an unknown member."""
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := set(config or {}) - known:
            raise ValueError(f"{', '.join(sorted(unknown))}: no such option; there are {', '.join(sorted(known))}")
        return cls(**(config or {}))

    def forwarded(self) -> list[str]:
        """List the events to register for, since amplifier-core does not support patterns."""
        from amplifier_core.events import ALL_EVENTS

        if self.events is None:
            return [event for event in ALL_EVENTS if not event.startswith(_STREAMS)]
        wanted = list(self.events)
        named = [event for event in wanted if "*" not in event]
        return named + [e for e in ALL_EVENTS if e not in named and any(matches(p, e) for p in wanted)]

    def gated(self, event: str) -> bool:
        """Report whether an event is denied without a decision."""
        return any(matches(pattern, event) for pattern in self.closed)


def matches(pattern: str, event: str) -> bool:
    """Report whether a pattern of the bus matches an event."""
    return pattern in ("*", event) or (pattern.endswith(":*") and event.startswith(pattern[:-1]))
