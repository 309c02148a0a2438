"""Spans, where OpenTelemetry is installed: those of agent and worker are in one trace, below each other."""

from __future__ import annotations

import pytest

from hookrouter import Agent, HookResult, Registration, RouterError, Worker, connect

otel = pytest.importorskip("opentelemetry.sdk.trace", reason="SKIPPED, so spans are not tested: no opentelemetry-sdk")


@pytest.fixture
def spans(monkeypatch):
    """Collect what is traced in memory."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from hookrouter import _trace

    exporter, provider = InMemorySpanExporter(), otel.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(_trace.otel, "get_tracer", provider.get_tracer)
    exporter.tracer = provider.get_tracer("test")

    def finished():
        found = {span.name: span for span in exporter.get_finished_spans()}
        exporter.clear()
        return found

    exporter.finished = finished
    return exporter


async def test_agent_and_worker_are_in_one_trace(hook_router, spans):
    async with connect() as client:
        worker, agent = Worker(client), Agent(client, session="s1")

        async def outer(event, data):
            await agent.emit("inner")
            return HookResult(action="deny", reason="secret reason")

        await worker.register(Registration(id="outer", events=["outer"]), outer)
        await worker.register(Registration(id="inner", events=["inner"]), lambda e, d: HookResult())
        with spans.tracer.start_as_current_span("program"):
            await agent.execute("outer", {"x": "secret data"})
        await worker.close()
    found = spans.finished()
    parents = {
        "execute outer": "program",
        "hook outer": "execute outer",
        "emit inner": "hook outer",
        "hook inner": "emit inner",
    }
    assert set(found) == {"program", *parents}
    assert len({span.context.trace_id for span in found.values()}) == 1
    assert {child: found[parent].context.span_id for child, parent in parents.items()} == {
        child: found[child].parent.span_id for child in parents
    }
    asked, called = found["execute outer"], found["hook outer"]
    assert (asked.kind.name, called.kind.name) == ("CLIENT", "SERVER")
    assert asked.attributes["hookrouter.denied_by"] == called.attributes["hookrouter.hook.id"] == "outer"
    assert asked.attributes["hookrouter.chain.id"] == called.attributes["hookrouter.chain.id"]
    assert asked.status.is_ok or asked.status.is_unset  # a denial is not an error
    assert "secret" not in "".join(span.to_json() for span in found.values())


async def test_failures_are_seen_without_their_data(hook_router, spans):
    async def fails(event, data):
        raise ValueError(data["x"])

    async with connect() as client:
        worker, agent = Worker(client), Agent(client)
        await worker.register(Registration(id="a", events=["e"], on_failure="deny"), fails)
        assert not (await agent.execute("e", {"x": "secret"}))
        with pytest.raises(RouterError):
            await agent.emit("e", {"x": "y" * 600_000})
        await worker.close()
    found = spans.finished()
    assert not found["hook a"].status.is_ok
    assert not found["emit e"].status.is_ok
    assert found["emit e"].attributes["hookrouter.refused"] == 413
    assert "secret" not in "".join(span.to_json() for span in found.values())


async def test_calls_of_agents_that_do_not_trace_make_no_spans(hook_router, spans, monkeypatch):
    from hookrouter import _trace

    async with connect() as client:
        worker = Worker(client)
        await worker.register(Registration(id="a", events=["e"]), lambda e, d: HookResult())
        request = Agent(client)._request("emit", "e", {})
        await client.request(request)
        await worker.close()
    assert _trace.otel is not None
    assert spans.finished() == {}
