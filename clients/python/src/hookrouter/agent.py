"""The agent side: events go out, and what comes back must be obeyed."""

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
"""An event's data: a dict, or bytes of a JSON object, which are sent as they are."""


class Collection(list[Any]):
    """What many hooks or contributors gave, in order."""

    def __init__(self, values: Iterable[Any], sources: tuple[str, ...], missing: tuple[str, ...]) -> None:
        super().__init__(values)
        self.sources = sources
        """Ids, one for each value."""
        self.missing = missing
        """Ids that failed or did not answer in time."""


class Agent:
    """Sends the events of one agent.

    An exception means that nothing was decided: whoever guards something must not go on then.
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
        """Make an agent. Its events belong to session, unless their data names another; without one, to the default
        field session_id.

        With name_session, session is a default field too: hooks find it in the data as session_id.
        on_pending is called with each approval request that execute waits for, once, before it waits.
        A sub-agent names the session that spawned it as parent, of whatever vendor, and the one at the root of the
        tree as root: routers take their labels over.
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
        """The session that events belong to; empty for none."""
        named = self._defaults.get("session_id")
        return self._session or (named if isinstance(named, str) else "")

    def set_default_fields(self, **fields: Any) -> None:
        """Set the fields that are merged below the data of every event; replaces the earlier ones.

        session_id is one of them; that of the agent is there unless another is given.
        """
        every = {**self._named, **fields}
        self._header, self._defaults = defaults_header(every), every

    async def emit(self, event: str, data: Data = None, *, timeout: float | None = None) -> HookResult:
        """Run the hooks of an event and return what they decided: acting on it is the caller's."""
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
        """Run the hooks of an event, have the router act on what they say, and return its verdict.

        The verdict's permitted is the only permission. Where a hook asks a person this waits until that is
        decided, over restarts of routers and servers; with a timeout, PendingError ends the wait.
        """
        request = self._request("execute", event, data)
        request.retry = Retry.NEVER
        with _trace.request("execute", event, self.session, request.headers) as span:
            execution = await Waiter(self.client, request, timeout, self._on_pending).decide()
            span.answered(execution.action, execution.run)
            return execution

    async def emit_and_collect(self, event: str, data: Data = None, timeout: float | None = None) -> Collection:
        """Call all hooks of an event at the same time and return the data they gave, in their order.

        timeout bounds each; without it that is the router's, a second.
        """
        request = self._request("collect", event, data)
        request.headers.pop("Hook-Defaults", None)
        return await self._collect("collect", event, request, timeout)

    async def collect_contributions(self, channel: str, timeout: float | None = None) -> Collection:
        """Ask all contributors of a channel at the same time and return what they gave, in their order."""
        subject = self.client.transport.subject("contributions", _names.check_channel(channel))
        return await self._collect("contributions", channel, Request(subject), timeout)

    async def run_tool(
        self, call: tools.ToolCall | Mapping[str, Any], fn: Callable[[dict[str, Any]], Awaitable[T] | T]
    ) -> T | Any:
        """Run a tool behind its hooks; see tools.run_tool."""
        return await tools.run_tool(self.execute, call, fn)

    async def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """List hook names by the pattern they registered, in their order; with event, exactly that pattern."""
        return await self._ask("handlers", _names.check_pattern(event) if event else "", dict)

    async def registry(self) -> list[dict[str, Any]]:
        """List every registration in full, in the order of execution."""
        return await self._ask("registry", "", list)

    async def explain(self, event: str, data: Data = None) -> list[dict[str, Any]]:
        """Tell which hooks would run for an event, in order, and call none."""
        reply, _ = await self.client.request_json(self._request("explain", event, data))
        hooks = reply.get("hooks") if isinstance(reply, dict) else None
        return hooks if isinstance(hooks, list) else []

    async def new_turn(self) -> None:
        """Begin a new turn of the session, for an agent that sends no prompt:submit: its budget is zero again."""
        await self._tell("turn")

    async def end_session(self) -> None:
        """End the session, for an agent that sends no session:end: its budget and its grants are forgotten."""
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
