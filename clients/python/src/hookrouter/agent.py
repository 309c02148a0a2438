"""Agents: send events and obey the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from . import _names, _trace, tools
from ._event import about, body_of, defaults_header, headers_of, lineage_headers, set_timeout
from ._waiter import Waiter
from .client import MAX_WAIT, Client, Request, Retry
from .errors import InvalidReply
from .models import HookResult
from .run import Run, header, names
from .verdict import Approval, Execution

T = TypeVar("T")
Data = Mapping[str, Any] | bytes | None
"""An event's data: a dict, or the bytes of a JSON object, which are sent unchanged."""


class Collection(list[Any]):
    """The values of hooks or contributors, in order."""

    def __init__(self, values: Iterable[Any], sources: tuple[str, ...], missing: tuple[str, ...]) -> None:
        super().__init__(values)
        self.sources = sources
        """Ids, one for each value."""
        self.missing = missing
        """Ids that failed or did not answer in time."""


class Agent:
    """Sends the events of one agent.

    An exception means that nothing was decided, so a gated operation must not continue.
    """

    def __init__(
        self,
        client: Client,
        *,
        session: str = "",
        source: str = "/agent",
        on_pending: Callable[[Approval], None] | None = None,
        name_session: bool = True,
        parent: str = "",
        root: str = "",
    ) -> None:
        """Create an agent. Its events belong to session unless their data names another one.
        Without session, they belong to the default field session_id.

        With name_session, session is also the default field session_id in the data that hooks get.
        on_pending is called once with each approval request that execute waits for, before the
        wait. A sub-agent passes its parent session, of any vendor, as parent, and the root of the
        session tree as root; routers apply their labels.
        """
        self.client = client
        self._session = session
        self._source = source
        self._lineage = lineage_headers(parent, root)
        self._on_pending = on_pending
        self._named = {"session_id": session} if session and name_session else {}
        self._defaults: dict[str, Any] = {}
        self._header = ""
        self.set_default_fields()

    @property
    def session(self) -> str:
        """The session of the events; empty for none."""
        named = self._defaults.get("session_id")
        return self._session or (named if isinstance(named, str) else "")

    def set_default_fields(self, **fields: Any) -> None:
        """Set the default members of the data of every event; replaces the earlier ones.

        The agent's session_id is one of them unless another one is given.
        """
        every = {**self._named, **fields}
        self._header, self._defaults = defaults_header(every), every

    async def emit(self, event: str, data: Data = None, *, timeout: float | None = None) -> HookResult:
        """Run the hooks of an event and return their decision, which the caller must act on."""
        request = self._request("emit", event, data)
        wait = MAX_WAIT if timeout is None else timeout
        if timeout is not None:
            set_timeout(request.headers, timeout)
        with _trace.request("emit", event, self.session, request.headers) as span:
            reply = await self.client.request(request, wait)
            result = HookResult.parse(reply.data, Run.read(reply.headers or {}))
            span.answered(result.action, result.run)
            return result

    async def execute(self, event: str, data: Data = None, *, timeout: float | None = None) -> Execution:
        """Run the hooks of an event, let the router act on their results, and return its verdict.

        The verdict's permitted is the only permission. If a hook asks a person, this waits for the
        decision, across restarts of routers and servers; after timeout, it raises PendingError.
        """
        request = self._request("execute", event, data)
        request.retry = Retry.NEVER
        with _trace.request("execute", event, self.session, request.headers) as span:
            execution = await Waiter(self.client, request, timeout, self._on_pending).decide()
            span.answered(execution.action, execution.run)
            return execution

    async def emit_and_collect(self, event: str, data: Data = None, timeout: float | None = None) -> Collection:
        """Call all hooks of an event concurrently and return their data in hook order.

        timeout limits each call; the router's default is a second.
        """
        request = self._request("collect", event, data)
        request.headers.pop("Hook-Defaults", None)
        return await self._collect("collect", event, request, timeout)

    async def collect_contributions(self, channel: str, timeout: float | None = None) -> Collection:
        """Call all contributors of a channel concurrently and return their values in order."""
        subject = self.client.transport.subject("contributions", _names.check_channel(channel))
        return await self._collect("contributions", channel, Request(subject), timeout)

    async def run_tool(
        self, call: tools.ToolCall | Mapping[str, Any], fn: Callable[[dict[str, Any]], Awaitable[T] | T]
    ) -> T | Any:
        """Run a tool with its hooks; see tools.run_tool."""
        return await tools.run_tool(self.execute, call, fn)

    async def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """List hook names by registered pattern, in execution order; with event, only for exactly
        that pattern."""
        return await self._ask("handlers", _names.check_pattern(event) if event else "", dict)

    async def registry(self) -> list[dict[str, Any]]:
        """List all registrations in full, in execution order."""
        return await self._ask("registry", "", list)

    async def explain(self, event: str, data: Data = None) -> list[dict[str, Any]]:
        """Return the hooks that would run for an event, in order, without calling them."""
        reply, _ = await self.client.request_json(self._request("explain", event, data))
        hooks = reply.get("hooks") if isinstance(reply, dict) else None
        return hooks if isinstance(hooks, list) else []

    async def new_turn(self) -> None:
        """Start a new turn of the session, which resets its budget, for an agent that sends no
        prompt:submit."""
        await self._tell("turn")

    async def end_session(self) -> None:
        """End the session, which deletes its budget and its grants, for an agent that sends no
        session:end."""
        await self._tell("end")

    def _request(self, verb: str, event: str, data: Data) -> Request:
        body, session = body_of(data)
        headers = headers_of(_names.check_event(event), self._source, session or self.session, self._header)
        headers |= self._lineage
        request = Request(self.client.transport.subject(verb, event), body, headers)
        if verb in ("emit", "execute"):
            request.accept = about(headers)
        return request

    async def _collect(self, verb: str, name: str, request: Request, timeout: float | None) -> Collection:
        if timeout is not None:
            request.headers["Hook-Timeout-Ms"] = str(max(round(timeout * 1000), 1))
        with _trace.request(verb, name, self.session, request.headers) as span:
            values, reply = await self.client.request_json(request)
            if not isinstance(values, list):
                raise InvalidReply("the answer is not a list")
            span.answered("collect", None)
            headers = reply.headers or {}
            return Collection(values, names(header(headers, "Hook-From")), names(header(headers, "Hook-Missing")))

    async def _ask(self, verb: str, name: str, kind: type[T]) -> T:
        reply, _ = await self.client.request_json(Request(self.client.transport.subject(verb, name)))
        if not isinstance(reply, kind):
            raise InvalidReply(f"the answer to {verb} is not a {kind.__name__}")
        return reply

    async def _tell(self, what: str) -> None:
        if not self.session:
            raise ValueError(f"session {what}: the agent has no session: give one to Agent()")
        request = Request(self.client.transport.subject("session", what))
        await self.client.request_json(request, {"session_id": self.session})
