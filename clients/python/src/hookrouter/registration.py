"""Registrations of hooks and contributors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _names

OnFailure = Literal["continue", "deny"]
Mode = Literal["enforce", "shadow", "observe", "async"]
Effect = Literal["", "validate"]


@dataclass(frozen=True)
class ApproverGroup:
    """A number of people of a group. The router's operator defines the groups."""

    group: str
    count: int = 1


@dataclass(frozen=True)
class ApprovalNeeds:
    """The approval that a hook's questions need."""

    approvers: Sequence[ApproverGroup]
    """The groups that must allow; a person in two groups counts for one of them."""
    exclude_requester: bool = False
    """Whether the requester's own approval is excluded."""

    def body(self) -> dict[str, Any]:
        """Return what is sent."""
        groups = [{"group": g.group, "count": g.count} for g in self.approvers]
        return {"approvers": groups, "exclude_requester": self.exclude_requester}


@dataclass(frozen=True, kw_only=True)
class Registration:
    """The registration of a hook: its events, and how it is called. Unset members mean the
    protocol's defaults."""

    id: str
    """Unique on the bus; processes that register the same id share its calls."""
    name: str = ""
    """A name for people; the id if empty."""
    events: Sequence[str] = ()
    """Names of events, domain:* or *."""
    channels: Sequence[str] = ()
    """The channels of a contributor; if set, this is not a hook."""
    priority: int = 0
    timeout_ms: int = 0
    on_failure: OnFailure = "continue"
    """The effect of a failure; guards use deny."""
    match: str = ""
    mode: Mode = "enforce"
    session_id: str = ""
    durable: bool | None = None
    """Whether it stays registered without a live process; by default, if on_failure is deny."""
    effect: Effect = ""
    """validate: the hook never changes the event, and a discarded call does no harm. The router
    calls adjacent hooks with this effect concurrently."""
    approval: ApprovalNeeds | None = None
    """The approval that the hook's questions need; None means that anyone who may answer decides."""
    replay_safe: bool = False
    version: str = ""
    none_passes: bool | None = field(default=None, metadata={"local": True})
    """Whether a hook that returns None lets the event pass. By default, only if on_failure is not
    deny, since a missing return would open a guard."""

    def __post_init__(self) -> None:
        _names.check_hook_id(self.id)
        if isinstance(self.events, str) or isinstance(self.channels, str):
            raise ValueError(f"hook {self.id!r}: events and channels are lists")
        if bool(self.events) == bool(self.channels):
            raise ValueError(f"hook {self.id!r}: exactly one of events and channels must be given")
        for event in self.events:
            _names.check_pattern(event)
        for channel in self.channels:
            _names.check_channel(channel)
        if self.on_failure not in ("continue", "deny"):
            raise ValueError(f"hook {self.id!r}: on_failure is {self.on_failure!r}: 'continue' or 'deny'")
        if self.mode not in ("enforce", "shadow", "observe", "async"):
            raise ValueError(f"hook {self.id!r}: mode is {self.mode!r}: 'enforce', 'shadow', 'observe' or 'async'")
        if self.effect not in ("", "validate"):
            raise ValueError(f"hook {self.id!r}: effect is {self.effect!r}: 'validate', or ''")
        for name in ("priority", "timeout_ms"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"hook {self.id!r}: {name} must be an integer, not {value!r}")
        if not 0 <= self.timeout_ms <= 30_000:
            raise ValueError(f"hook {self.id!r}: timeout_ms is {self.timeout_ms}: 1 to 30000 are allowed")

    @property
    def may_return_none(self) -> bool:
        """Whether None lets the event pass."""
        return self.on_failure != "deny" if self.none_passes is None else self.none_passes

    def body(self, instance: str) -> dict[str, Any]:
        """Return what is sent. Protocol 2: replies repeat the id of the call."""
        out: dict[str, Any] = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if not f.metadata.get("local") and value != f.default:
                out[f.name] = list(value) if f.name in ("events", "channels") else value
        if self.approval:
            out["approval"] = self.approval.body()
        return {**out, "instance": instance, "protocol": 2}


@dataclass
class Call:
    """The context of a call, in addition to the event and its data."""

    hook: str
    event_id: str
    session: str
    source: str
    chain_id: str
    call_id: str
    mode: str
    timeout: float
    """How long the router waits for the answer, in seconds."""
    extensions: dict[str, str] = field(default_factory=dict)
    """The event's other attributes. The router adds the authenticated sender (hookemitter,
    hookrole) and the labels of the session (hooklabels)."""


_current: ContextVar[Call | None] = ContextVar("hookrouter_call", default=None)


def current_call() -> Call | None:
    """Return the current call; None outside of a hook."""
    return _current.get()
