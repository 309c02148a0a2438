"""HookResult: the result of a hook, and of a chain."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from . import _json
from .errors import InvalidReply
from .run import Run

Action = Literal["continue", "deny", "modify", "inject_context", "ask_user"]
Role = Literal["system", "user", "assistant"]
Level = Literal["info", "warning", "error"]


@dataclass(frozen=True)
class ContextInjection:
    """Context that one hook of a chain adds, with its role and lifetime."""

    content: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    hook_name: str = ""
    event: str = ""
    hook_id: str = ""

    @classmethod
    def of(cls, value: object) -> ContextInjection:
        """Convert a mapping or a pydantic model (amplifier-core's). Unknown members are ignored."""
        if isinstance(value, ContextInjection):
            return value
        dump = getattr(value, "model_dump", None)
        value = dump() if callable(dump) else value
        if not isinstance(value, Mapping):
            raise ValueError(f"context_injections must be a list of injections, not of {type(value).__name__}")
        given = {name: v for name, v in value.items() if name in cls.__dataclass_fields__ and v is not None}
        for name, v in given.items():
            fits, must = _INJECTION.get(name, (lambda v: isinstance(v, str), "a string"))
            if not fits(v):
                raise ValueError(f"{name} in context_injections must be {must}, not {v!r:.100}")
        return cls(**{"content": "", **given})


@dataclass
class HookResult:
    """The result of a hook; without arguments, continue.

    The fields and their defaults are those of the specification. Types are not converted: a value
    of another type is a ValueError, here rather than on the bus.
    """

    action: Action = "continue"
    data: dict[str, Any] | None = None
    reason: str | None = None
    context_injection: str | None = None
    context_injection_role: Role = "system"
    ephemeral: bool = False
    approval_prompt: str | None = None
    approval_options: list[str] | None = None
    approval_timeout: float = 300.0
    approval_default: Literal["allow", "deny"] = "deny"
    suppress_output: bool = False
    user_message: str | None = None
    user_message_level: Level = "info"
    user_message_source: str | None = None
    """The source that the hook claims for user_message; it is shown next to the hook's name."""
    append_to_last_tool_result: bool = False
    context_injections: list[ContextInjection] | None = field(default=None, kw_only=True)
    """In the result of an emit: the individual injections. It is ignored in a hook's result."""
    labels: list[str] | None = field(default=None, kw_only=True)
    """Labels to add to the event's session: what it has seen."""
    approval_key: str | None = field(default=None, kw_only=True)
    """The scope of an "Allow always", instead of the tool's input; at most 1024 bytes."""
    unlabel: list[str] | None = field(default=None, kw_only=True)
    """Labels to remove from the session if a person allows what ask_user asks."""
    rule: str | None = field(default=None, kw_only=True)
    """The rule that decided, with file, line and name, for the router's records. Agents do not get
    it."""
    run: Run | None = field(default=None, repr=False, compare=False, kw_only=True)
    """How the hooks were run, in the result of an emit."""

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise ValueError if a field has an invalid value."""
        for name, value in vars(self).items():
            if value is not _WIRE.get(name, value):  # the very default fits
                fits, must = _CHECKS[name]
                if not fits(value):
                    raise ValueError(f"{name} must be {must}, not {value!r:.100}")
        if not (self.rule is None or isinstance(self.rule, str)):
            raise ValueError(f"rule must be a string or None, not {self.rule!r:.100}")

    @classmethod
    def of(cls, value: object) -> HookResult:
        """Convert what a hook returned: a HookResult, a mapping, or a pydantic model
        (amplifier-core's).

        Unknown members of the last two are ignored, but a value with only unknown members is not a
        result: {"decision": "deny"} must not let an event pass. Anything else is a ValueError.
        """
        if isinstance(value, HookResult):
            value.check()  # it may have been changed since
            return value
        dump = getattr(value, "model_dump", None)
        if callable(dump):
            value = dump()
        if not isinstance(value, Mapping):
            raise ValueError(f"a hook returns a HookResult, not {type(value).__name__}")
        fields = {name: v for name, v in value.items() if name in _WIRE or name == "rule"}
        if value and not fields:
            raise ValueError(f"it has no member of a HookResult: {', '.join(map(str, value)):.200}")
        return cls._with(fields)

    @classmethod
    def _with(cls, fields: dict[str, Any], run: Run | None = None) -> HookResult:
        """Create a result from decoded members."""
        listed = fields.get("context_injections")
        if isinstance(listed, list):
            fields["context_injections"] = [ContextInjection.of(one) for one in listed] or None
        return cls(**fields, run=run)

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form: the action, and members that differ from their defaults."""
        changed = {n: v for n, v in vars(self).items() if n in _WIRE and v is not _WIRE[n] and v != _WIRE[n]}
        if self.context_injections:
            changed["context_injections"] = [vars(one) for one in self.context_injections]
        return {"action": self.action, **changed}

    @classmethod
    def parse(cls, body: bytes, run: Run | None = None) -> HookResult:
        """Parse a result from the wire; InvalidReply if it is invalid."""
        try:
            fields = {name: value for name, (value, _) in _json.members(body).items() if name in _WIRE}
            return cls._with(fields, run)
        except ValueError as error:
            raise InvalidReply(f"the answer is not a HookResult: {error}") from None


_Check = tuple[Callable[[Any], bool], str]


def _choice(*values: str) -> _Check:
    return lambda v: isinstance(v, str) and v in values, f"one of {', '.join(values)}"


_TEXT: _Check = lambda v: v is None or isinstance(v, str), "a string or None"
_TEXTS: _Check = (
    lambda v: v is None or (isinstance(v, list) and all(isinstance(one, str) for one in v)),
    "a list of strings or None",
)
_FLAG: _Check = lambda v: isinstance(v, bool), "True or False"
_CHECKS: dict[str, _Check] = {
    "action": _choice("continue", "deny", "modify", "inject_context", "ask_user"),
    "data": (lambda v: v is None or isinstance(v, dict), "a dict or None"),
    "reason": _TEXT,
    "context_injection": _TEXT,
    "context_injection_role": _choice("system", "user", "assistant"),
    "ephemeral": _FLAG,
    "approval_prompt": _TEXT,
    "approval_options": _TEXTS,
    "approval_timeout": (
        lambda v: isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= sys.float_info.max,
        "a number of seconds",
    ),
    "approval_default": _choice("allow", "deny"),
    "approval_key": _TEXT,
    "suppress_output": _FLAG,
    "user_message": _TEXT,
    "user_message_level": _choice("info", "warning", "error"),
    "user_message_source": _TEXT,
    "append_to_last_tool_result": _FLAG,
    "context_injections": (
        lambda v: v is None or (isinstance(v, list) and all(isinstance(one, ContextInjection) for one in v)),
        "a list of ContextInjection or None",
    ),
    "labels": _TEXTS,
    "unlabel": _TEXTS,
}
_INJECTION: dict[str, _Check] = {
    "role": _choice("system", "user", "assistant"),
    "ephemeral": _FLAG,
    "append_to_last_tool_result": _FLAG,
}
_WIRE: dict[str, Any] = {f.name: cast(Any, f.default) for f in dataclasses.fields(HookResult) if f.name in _CHECKS}
