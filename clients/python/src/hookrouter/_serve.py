"""Answers calls of hooks. The router gets an answer whatever happens in the handler."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nats.aio.msg import Msg

from . import _json, _names, _output, _reply, _trace
from ._transport import Transport
from .errors import Code, Disconnected, RouterError
from .models import HookResult
from .registration import Call, Registration, _current

Handler = Callable[[str, dict[str, Any]], Awaitable[Any] | Any]
Contributor = Callable[[], Awaitable[Any] | Any]

MAX_TIMEOUT = 30.0
DEFAULT_TIMEOUT = 5.0
IN_VAIN = "the router discarded this call: its result is no longer needed"
"""The message that a call is cancelled with for this reason; a handler gets asyncio.CancelledError."""
_MAX_RULE = 250  # bytes that a router keeps
_KNOWN = {f"ce-{name}" for name in ("specversion", "id", "source", "type", "subject", "time")}


async def serve(
    transport: Transport,
    reg: Registration,
    handler: Callable[..., Any],
    message: Msg,
    hide: bool,
    limit: asyncio.Semaphore,
) -> RouterError | None:
    """Call the handler and reply, with an error if there is no result; return that error.

    The wait for limit is part of the call's timeout: a later answer is not used.
    """
    task = asyncio.current_task()
    stopping: BaseException | None = None
    body, rule = b"", ""
    error: RouterError | None = None
    try:
        body, rule = await _answer(reg, handler, message, hide, limit)
    except RouterError as refused:
        error = refused
    except asyncio.CancelledError as cancelled:
        if task is not None and task.cancelling():
            if IN_VAIN in cancelled.args:
                raise
            stopping = cancelled
            error = RouterError(Code.DEADLINE, "the time to shut down was over before the hook answered")
        else:  # the handler cancelled itself
            error = RouterError(Code.INTERNAL, "the hook was cancelled")
    except Exception as failed:
        transport.log.exception("hook %s failed", reg.id)
        error = RouterError(Code.INTERNAL, f"{type(failed).__name__}: {failed}")
    except BaseException as failed:  # SystemExit, KeyboardInterrupt: reply to the router first
        error, stopping = RouterError(Code.INTERNAL, f"the hook ended its process: {failed!r}"), failed
    await _send(transport, reg, message, body, rule, error)
    if stopping is not None:
        raise stopping
    return error


async def _answer(
    reg: Registration, handler: Callable[..., Any], message: Msg, hide: bool, limit: asyncio.Semaphore
) -> tuple[bytes, str]:
    """Return the body of the reply and the rule that it names."""
    headers = {name.lower(): value for name, value in (message.headers or {}).items()}
    call = _call(reg, headers)
    try:
        data = _json.decode(message.data)
    except ValueError as error:
        raise RouterError(Code.MALFORMED, f"the data of the call can't be read: {error}") from None
    if not isinstance(data, dict):
        raise RouterError(Code.MALFORMED, "the data of the call is not a JSON object")
    token = _current.set(call)
    event = headers.get("ce-type", "")
    try:
        with _trace.call(reg.id, event, headers) as span, _output.captured(hide) as output:
            async with asyncio.timeout(call.timeout) as time, limit:
                value = handler() if reg.channels else handler(event, data)
                if inspect.isawaitable(value):
                    value = await value
            if time.expired():  # what a handler makes of its cancellation is not an answer
                raise TimeoutError
            if reg.channels:
                return _contribution(value), ""
            result, body = _result(reg, value)
            output.hidden = result.suppress_output
            span.answered(result.action, None)
            return body, result.rule or ""
    except TimeoutError as error:
        if time.expired():
            raise RouterError(Code.DEADLINE, f"the hook had {call.timeout:g} s") from None
        raise RouterError(Code.INTERNAL, f"TimeoutError: {error}") from None
    finally:
        _current.reset(token)


def _call(reg: Registration, headers: Mapping[str, str]) -> Call:
    """Return the headers of a call, with names in lower case."""
    text = headers.get("hook-timeout-ms", "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) > 0):
        raise RouterError(Code.MALFORMED, f"Hook-Timeout-Ms is {text[:80]!r}: a whole number from 1 is needed")
    return Call(
        hook=reg.id,
        event_id=_names.unescape(headers.get("ce-id", "")),
        session=_names.unescape(headers.get("ce-subject", "")),
        source=_names.unescape(headers.get("ce-source", "")),
        chain_id=headers.get("hook-chain-id", ""),
        call_id=headers.get("hook-call-id", ""),
        mode=headers.get("hook-mode") or "enforce",
        timeout=min(int(text) / 1000, MAX_TIMEOUT) if text else DEFAULT_TIMEOUT,
        extensions={n[3:]: _names.unescape(v) for n, v in headers.items() if n.startswith("ce-") and n not in _KNOWN},
    )


def _result(reg: Registration, value: object) -> tuple[HookResult, bytes]:
    try:
        if value is None:
            if not reg.may_return_none:
                raise ValueError("it returned None, which lets nothing pass here: return HookResult()")
            value = HookResult()
        result = HookResult.of(value)
        return result, _reply.encode(result)
    except (ValueError, TypeError) as error:
        raise RouterError(Code.INVALID_RESULT, f"invalid result: {error}") from None


def _contribution(value: object) -> bytes:
    try:
        return _reply.written(value)
    except ValueError as error:
        raise RouterError(Code.INVALID_RESULT, f"the contribution: {error}") from None


async def _send(
    transport: Transport, reg: Registration, message: Msg, body: bytes, rule: str, error: RouterError | None
) -> None:
    """Reply, with the headers that bind a reply to its request."""
    if not message.reply:
        return
    echo = {
        name: value
        for name, value in (message.headers or {}).items()
        if name.lower() in ("hook-nonce", "hook-call-id") and len(value) <= 128
    }
    headers = dict(echo)
    if rule:
        headers["Hook-Rule"] = _names.one_line(rule, _MAX_RULE)
    if error is not None:
        transport.log.warning("hook %s: no result: %s", reg.id, error)
        headers |= _error(error)
    try:
        try:
            await transport.publish(message.reply, body, headers)
        except RouterError as large:  # the reply exceeds the server's limit: report that instead
            transport.log.warning("hook %s: no result: %s", reg.id, large)
            await transport.publish(message.reply, b"", {**echo, **_error(large)})
    except Disconnected as lost:
        transport.log.warning("hook %s: its reply was lost: %s", reg.id, lost)


def _error(error: RouterError) -> dict[str, str]:
    return {"Nats-Service-Error-Code": str(error.code), "Nats-Service-Error": _names.one_line(error.text)}
