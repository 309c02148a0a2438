"""W3C trace context: spans if opentelemetry is installed; otherwise the headers are only passed on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from .errors import RouterError
from .run import Run

try:
    from opentelemetry import trace as otel
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    otel = None

_NAMES = ("traceparent", "tracestate")
_caller: ContextVar[dict[str, str]] = ContextVar("hookrouter_trace", default={})  # noqa: B039  never changed


class Span:
    """A span; does nothing if tracing is off."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def answered(self, action: str, run: Run | None) -> None:
        """Record the answer. A denial is not an error."""
        if self._span is None:
            return
        self._span.set_attribute("hookrouter.action", action)
        if run is not None and run.chain_id:
            self._span.set_attribute("hookrouter.chain.id", run.chain_id)
            self._span.set_attribute("hookrouter.hooks", run.hooks)
        if run is not None and run.denied_by:
            self._span.set_attribute("hookrouter.denied_by", run.denied_by)


@contextlib.contextmanager
def request(verb: str, name: str, session: str, headers: dict[str, str]) -> Iterator[Span]:
    """Trace a request, and add its trace context to the headers."""
    if otel is None:
        headers.update(_caller.get())
        yield Span()
        return
    about = {"messaging.system": "nats", "hookrouter.channel" if verb == "contributions" else "hookrouter.event": name}
    if session:
        about["hookrouter.session"] = session
    tracer = otel.get_tracer("hookrouter")
    with tracer.start_as_current_span(
        f"{verb} {name}",
        kind=otel.SpanKind.CLIENT,
        attributes=about,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        headers.update(_caller.get())
        TraceContextTextMapPropagator().inject(headers)
        try:
            yield Span(span)
        except Exception as error:
            refused = isinstance(error, RouterError)
            span.set_status(otel.StatusCode.ERROR, "refused" if refused else "no answer")  # the text may contain data
            if isinstance(error, RouterError):
                span.set_attribute("hookrouter.refused", error.code)
            raise


@contextlib.contextmanager
def call(hook: str, event: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """Trace a call below the router's span; requests made within belong to the same trace.

    The headers' names are in lower case.
    """
    caller = {name: headers[name] for name in _NAMES if name in headers and len(headers[name]) <= 512}
    token = _caller.set(caller)
    try:
        if otel is None or "traceparent" not in caller:
            yield Span()
            return
        above = TraceContextTextMapPropagator().extract(caller)
        about = {
            "messaging.system": "nats",
            "hookrouter.hook.id": hook,
            "hookrouter.event": event,
            "hookrouter.hook.mode": headers.get("hook-mode") or "enforce",
            "hookrouter.chain.id": headers.get("hook-chain-id", ""),
        }
        with otel.get_tracer("hookrouter").start_as_current_span(
            f"hook {hook}",
            context=above,
            kind=otel.SpanKind.SERVER,
            attributes=about,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield Span(span)
            except Exception:
                span.set_status(otel.StatusCode.ERROR, "failed")  # the text of the exception may contain data
                raise
    finally:
        _caller.reset(token)
