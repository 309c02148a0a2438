"""The common part of all adapters, which only translate between this and their SDK."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .. import _json
from .._event import new_id
from ..errors import Denied, HookRouterError
from ..events import PROMPT_SUBMIT
from ..interfaces import DisplaySystem
from ..tools import ToolCall, after_error, after_tool, before_tool
from ..verdict import Approval, Execution
from ._bridge import Bridge, Heard

T = TypeVar("T")
MAX_OPEN = 4096
"""The maximum number of ids of unreported calls; SDKs may drop some."""
MAX_ALIKE = 64
"""The maximum number of unreported calls with one id."""
Send = Callable[[str, Mapping[str, Any], Heard], Awaitable[Execution]]


class ToolFailed(Exception):
    """Raised by an adapter's tool instead of a result that the SDK made of an error. The model gets
    that result if hooks permit it."""

    def __init__(self, result: Any, message: str) -> None:
        super().__init__(message)
        self.result = result


@dataclass
class Outcome:
    """The outcome of asking about a tool call, before or after it runs."""

    call: ToolCall
    result: Any = None
    """The tool's result; if hooks changed it, the changed result as JSON data."""
    judged: Any = None
    """The result as JSON data, as hooks saw and left it."""
    changed: bool = False
    denied: str = ""
    """What the model gets instead of a result; empty if there is a result."""
    heard: Heard = field(default_factory=Heard)
    began: float = field(default_factory=time.monotonic)

    @property
    def text(self) -> str:
        """The context that hooks add for the model; empty for none."""
        return self.heard.text

    @property
    def refusal(self) -> str:
        """The denial with the context that hooks add for the model."""
        return joined(self.denied, self.text)


@dataclass
class Prompt:
    """The outcome of asking about a prompt that may go to the model."""

    text: str
    heard: Heard


class Hooks:
    """The hooks of an agent that an SDK runs.

    session is the session of events if the SDK names none. on_pending is called when a person is
    asked, and display shows the messages of hooks to the user. connection are arguments of
    connect(). signals are exceptions with which the SDK's tools make a request instead of failing.
    """

    def __init__(
        self,
        sdk: str,
        *,
        signals: tuple[type[Exception], ...] = (),
        session: str = "",
        source: str = "",
        display: DisplaySystem | None = None,
        on_pending: Callable[[Approval], None] | None = None,
        **connection: Any,
    ) -> None:
        self.session, self._signals = session, signals
        self._fallback = new_id()
        self._open: dict[tuple[str, ...], list[Outcome]] = {}
        self._bridge = Bridge(source or f"/{sdk}", display, on_pending, {"name": sdk, **connection})
        self.close = self._bridge.close

    async def tool(
        self, session: str, call: Mapping[str, Any], fn: Callable[[dict[str, Any]], Awaitable[Any] | Any]
    ) -> Outcome:
        """Run a tool with its hooks. Only the exceptions of the tool are raised."""
        return await _tool(self._sender(session), call, fn, self._signals)

    def tool_now(self, session: str, call: Mapping[str, Any], fn: Callable[[dict[str, Any]], Any]) -> Outcome:
        """Run a tool with its hooks, in code that is not async."""
        return _now(_tool(self._sender(session, now=True), call, fn, self._signals))

    async def before(self, session: str, call: Mapping[str, Any]) -> Outcome:
        """Ask whether a tool may run; for SDKs that don't let an adapter run it."""
        return await _before(self._sender(session), call)

    async def after(self, session: str, outcome: Outcome, result: Any, *, success: bool = True) -> Outcome:
        """Report the tool's result, or what the SDK made of its failure for the model."""
        return await _after(self._sender(session), outcome, result, success)

    def remember(self, outcome: Outcome, *key: str) -> Outcome:
        """Keep the outcome of a call until it is reported."""
        alike = self._open.setdefault(key, [])
        alike.append(outcome)
        del alike[:-MAX_ALIKE]
        if len(self._open) > MAX_OPEN:
            self._open.pop(next(iter(self._open)), None)  # never reported
        return outcome

    def recall(self, name: str, given: Any, *key: str) -> Outcome:
        """Return the kept outcome of a call with this input; for a call that the router was not
        asked about, a denial. Models may give several calls the same id."""
        alike = self._open.get(key, [])
        same = [one for one in alike if one.call.tool_name == name]
        found = [one for one in same if one.call.tool_input == given] or (same if len(same) == 1 else [])
        if not found:
            return Outcome(ToolCall(name), denied=f"The result of {name} was withheld: nobody was asked about the call")
        self._open[key] = [one for one in alike if one is not found[0]]
        if not self._open[key]:
            del self._open[key]
        return found[0]

    async def failed(self, session: str, outcome: Outcome, error: BaseException) -> None:
        """Report the exception of a tool, or a ToolFailed. after() reports what the model gets for
        it."""
        await _failed(self._sender(session), outcome, error)

    async def prompt(self, session: str, text: str) -> Prompt:
        """Ask whether a prompt may go to the model; raise Denied if it may not."""
        return await _prompt(self._sender(session), text)

    def prompt_now(self, session: str, text: str) -> Prompt:
        """Ask whether a prompt may go to the model, in code that is not async."""
        return _now(_prompt(self._sender(session, now=True), text))

    def _sender(self, session: str, now: bool = False) -> Send:
        name = self.session or session or self._fallback
        if not now:
            return functools.partial(self._bridge.execute, name)

        async def send(event: str, data: Mapping[str, Any], heard: Heard) -> Execution:
            return self._bridge.execute_now(name, event, data, heard)

        return send


async def _prompt(send: Send, text: str) -> Prompt:
    heard = Heard()
    try:
        given = (await send(PROMPT_SUBMIT, {"prompt": text}, heard)).require().get("prompt")
    except Denied as denied:
        raise Denied(joined(f"The prompt was denied: {denied}", heard.text), denied.verdict) from denied
    except (HookRouterError, ValueError) as error:
        raise Denied(f"The prompt was denied, since nobody could decide about it: {error}") from error
    if not isinstance(given, str):
        raise Denied("The prompt was denied: a hook made something else of it than a text")
    return Prompt(given, heard)


async def _tool(
    send: Send,
    call: Mapping[str, Any],
    fn: Callable[[dict[str, Any]], Awaitable[Any] | Any],
    signals: tuple[type[Exception], ...],
) -> Outcome:
    outcome = await _before(send, call)
    if outcome.denied:
        return outcome
    try:
        result = fn(outcome.call.tool_input)
        if inspect.isawaitable(result):
            result = await result
    except signals:
        raise
    except ToolFailed as failure:
        await _failed(send, outcome, failure)
        return await _after(send, outcome, failure.result, success=False)
    except Exception as error:
        await _failed(send, outcome, error)
        raise
    return await _after(send, outcome, result)


async def _before(send: Send, call: Mapping[str, Any]) -> Outcome:
    outcome = Outcome(ToolCall(call["tool_name"]))
    try:
        outcome.call = ToolCall.of(plain(call))
        outcome.call.tool_input = await before_tool(_hearing(send, outcome), outcome.call)
    except Exception as error:  # some SDKs continue if an adapter raises
        outcome.denied = _denial(f"The call of {call['tool_name']} was denied", error)
    outcome.began = time.monotonic()
    return outcome


async def _after(send: Send, outcome: Outcome, result: Any, success: bool = True) -> Outcome:
    took = time.monotonic() - outcome.began
    try:
        sent = plain(result)
        outcome.judged = heard = await after_tool(_hearing(send, outcome), outcome.call, sent, took, success=success)
    except Exception as error:
        outcome.denied = _denial(f"{outcome.call.tool_name} has run, and its result was withheld", error)
        return outcome
    outcome.changed = heard != sent
    outcome.result = heard if outcome.changed else result
    return outcome


async def _failed(send: Send, outcome: Outcome, error: BaseException) -> None:
    await after_error(_hearing(send, outcome), outcome.call, error)


def _hearing(send: Send, outcome: Outcome) -> Callable[[str, Mapping[str, Any]], Awaitable[Execution]]:
    return lambda event, data: send(event, data, outcome.heard)


def _denial(what: str, error: Exception) -> str:
    nobody = "" if isinstance(error, Denied) else "nobody could decide about it: "
    return f"{what}: {nobody}{str(error) or type(error).__name__}"


def plain(value: Any) -> Any:
    """Return a value as JSON data with everything that an SDK may show the model. Its str() could
    omit something.

    Values that JSON can't represent become their model dump, their fields, their value, or their
    text. ValueError for keys that differ in Python and are the same in JSON, TypeError for a
    generator, whose values only its reader gets.
    """
    return _json.decode(json.dumps(value, default=_dumped))


def _dumped(value: Any) -> Any:
    if isinstance(value, Iterator | AsyncIterator):
        raise TypeError(f"a {type(value).__name__} can't be judged: return its values in a list")
    if isinstance(value, type):
        return str(value)
    pydantic = getattr(value, "__pydantic_serializer__", None)  # it adds computed fields
    dumped = pydantic.to_python(value, mode="json") if pydantic is not None else {}
    if dataclasses.is_dataclass(value) and isinstance(dumped, dict):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return fields | {name: one for name, one in dumped.items() if not isinstance(fields.get(name), bytes)}
    if pydantic is not None:
        return dumped
    return value.value if isinstance(value, enum.Enum) else str(value)


def joined(*texts: str) -> str:
    """Join the non-empty texts."""
    return "\n\n".join(text for text in texts if text)


def _now(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, since the functions that it calls block instead."""
    try:
        work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    work.close()
    raise RuntimeError("a tool that is not async returned an awaitable")
