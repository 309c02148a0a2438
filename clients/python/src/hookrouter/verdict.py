"""The router's verdict on an event, the answer of hooks.execute."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _json
from .errors import Denied, InvalidReply, OtherData
from .models import ContextInjection, Level, Role
from .run import Run


@dataclass(frozen=True)
class Message:
    """A message of hooks for the model's context."""

    content: str
    role: Role = "system"
    ephemeral: bool = False
    """For the next model call only, and never stored."""
    append_to_last_tool_result: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    """The origin: source, hook_name, hook_id, event, timestamp."""

    def to_dict(self) -> dict[str, Any]:
        """Return the message in the form for a context manager."""
        return {"role": self.role, "content": self.content, "metadata": dict(self.metadata)}


@dataclass(frozen=True)
class Display:
    """A message of a hook to the user. The text is untrusted: see TerminalDisplay."""

    message: str
    level: Level = "info"
    source: str = ""
    hook_id: str = ""
    user_message_source: str = ""
    """The source that the hook claims for the message."""

    @property
    def shown_source(self) -> str:
        """The source for the user, followed by the source that the hook claims in brackets."""
        return f"{self.source} ({self.user_message_source})" if self.user_message_source else self.source


@dataclass(frozen=True)
class Warn:
    """A warning about an injection that the router changed or dropped."""

    kind: str
    hook: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Approval:
    """An approval request and its outcome."""

    id: str
    hook: str = ""
    prompt: str = ""
    options: list[str] = field(default_factory=list)
    option: str = ""
    decided_by: str = ""
    cached: bool = False
    timed_out: bool = False
    expires: str = ""
    data_sha256: str = ""


@dataclass(frozen=True)
class Execution:
    """The verdict on an event. Only permitted is a permission; bool() of an Execution is the same."""

    action: Literal["continue", "deny", "pending"]
    run: Run
    reason: str = ""
    data: dict[str, Any] | None = None
    """The data to continue with."""
    data_json: bytes = b""
    """The bytes of data, whose SHA-256 is that of an approval."""
    messages: tuple[Message, ...] = ()
    """All injections in one message, with the settings of the first; see context_messages."""
    context_injections: tuple[ContextInjection, ...] = field(default=(), kw_only=True)
    """The individual injections of messages, each with its own role and lifetime."""
    display: tuple[Display, ...] = ()
    suppress_output: tuple[str, ...] = ()
    """Names of hooks whose own output must be hidden."""
    warnings: tuple[Warn, ...] = ()
    injected_tokens: int = 0
    approval: Approval | None = None

    @property
    def permitted(self) -> bool:
        """Whether to continue, with data."""
        return self.action == "continue"

    def __bool__(self) -> bool:
        return self.permitted

    @property
    def context_messages(self) -> tuple[Message, ...]:
        """The messages for the model's context, one for each injection, with the role and lifetime
        that its hook requested.

        They have the same texts as messages: apply one or the other. For a router that does not
        list injections, they are messages.
        """
        stamp = {k: v for m in self.messages[:1] for k, v in m.metadata.items() if k == "timestamp"}
        return tuple(_alone(one, stamp) for one in self.context_injections) or self.messages

    def require(self) -> dict[str, Any]:
        """Return the data to continue with, or raise Denied."""
        if not self.permitted:
            raise Denied(self.reason, self)
        return self.data or {}

    @classmethod
    def parse(cls, body: bytes, run: Run) -> Execution:
        """Parse a verdict; raise for one that can't be obeyed. Unknown members are ignored."""
        try:
            execution = _parse(body, run)
        except (ValueError, TypeError, AttributeError) as error:
            raise InvalidReply(f"the answer is not a verdict: {error}") from None
        approval = execution.approval
        if execution.action == "pending" and approval is None:
            raise InvalidReply("the answer is not a verdict: it is pending without an approval request")
        if execution.permitted and approval and hashlib.sha256(execution.data_json).hexdigest() != approval.data_sha256:
            raise OtherData("the verdict's data is not what was approved: do not proceed, and find out who changed it")
        return execution


def _parse(body: bytes, run: Run) -> Execution:
    members = {name: both for name, both in _json.members(body).items() if both[0] is not None}
    raw = {name: value for name, (value, _) in members.items()}
    action = raw.get("action")
    if action not in ("continue", "deny", "pending"):
        raise ValueError(f"its action is {action!r:.50}")
    data = raw.get("data")
    if data is not None and not isinstance(data, dict):
        raise ValueError("data must be an object")
    tokens = raw.get("injected_tokens", 0)
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
        raise ValueError("injected_tokens must be a whole number, 0 or more")
    return Execution(
        action=action,
        run=run,
        reason=_text(raw, "reason"),
        data=data,
        data_json=members["data"][1].encode() if data is not None else b"",
        messages=tuple(_message(m) for m in _list(raw, "messages")),
        context_injections=tuple(ContextInjection.of(i) for i in _list(raw, "context_injections")),
        display=tuple(
            Display(
                _text(d, "message"),
                _one(d, "level", "info", "warning", "error"),
                _text(d, "source"),
                _text(d, "hook_id"),
                _text(d, "user_message_source"),
            )
            for d in _list(raw, "display")
        ),
        suppress_output=tuple(_texts(raw, "suppress_output")),
        warnings=tuple(Warn(_text(w, "kind"), _text(w, "hook"), _text(w, "detail")) for w in _list(raw, "warnings")),
        injected_tokens=tokens,
        approval=_approval(raw["approval"]) if "approval" in raw else None,
    )


def _message(raw: dict[str, Any]) -> Message:
    metadata = raw.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise ValueError("metadata must be an object")
    return Message(
        _text(raw, "content"),
        _one(raw, "role", "system", "user", "assistant"),
        _flag(raw, "ephemeral"),
        _flag(raw, "append_to_last_tool_result"),
        metadata,
    )


def _alone(one: ContextInjection, stamp: dict[str, Any]) -> Message:
    metadata = {"source": "hook", "hook_name": one.hook_name, "hook_id": one.hook_id, "event": one.event, **stamp}
    return Message(one.content, one.role, one.ephemeral, one.append_to_last_tool_result, metadata)


def _approval(raw: Any) -> Approval:
    if not isinstance(raw, dict):
        raise ValueError("approval must be an object")
    return Approval(
        id=_text(raw, "id"),
        hook=_text(raw, "hook"),
        prompt=_text(raw, "prompt"),
        options=_texts(raw, "options"),
        option=_text(raw, "option"),
        decided_by=_text(raw, "decided_by"),
        cached=_flag(raw, "cached"),
        timed_out=_flag(raw, "timed_out"),
        expires=_text(raw, "expires"),
        data_sha256=_text(raw, "data_sha256"),
    )


def _list(raw: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = raw.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError(f"{name} must be a list of objects")
    return value


def _texts(raw: dict[str, Any], name: str) -> list[str]:
    value = raw.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} must be a list of strings")
    return value


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be a string")
    return value or ""


def _flag(raw: dict[str, Any], name: str) -> bool:
    value = raw.get(name)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false")
    return bool(value)


def _one(raw: dict[str, Any], name: str, *values: str) -> Any:
    value = _text(raw, name) or values[0]
    if value not in values:
        raise ValueError(f"{name} must be one of {', '.join(values)}")
    return value
