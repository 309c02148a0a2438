"""Scripted components for tests with a real router, as in the specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..events import ORCHESTRATOR_COMPLETE, PROMPT_SUBMIT
from ..interfaces import settled
from ..models import HookResult
from ..tools import ToolCall


class FakeContext:
    """A context manager in memory; with fails, it raises that instead."""

    def __init__(self, messages: Iterable[dict[str, Any]] = (), *, fails: Exception | None = None) -> None:
        self.messages = list(messages)
        self.added: list[dict[str, Any]] = []
        """What was added, also where it failed."""
        self.fails = fails

    async def add_message(self, message: dict[str, Any]) -> None:
        """Append a message."""
        self.added.append(message)
        if self.fails is not None:
            raise self.fails
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        """Return all messages."""
        return list(self.messages)


class FakeDisplay:
    """A display that keeps its messages."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str]] = []
        """Message, level and source of each."""

    def show_message(self, message: str, level: Literal["info", "warning", "error"], source: str = "hook") -> None:
        """Keep a message."""
        self.shown.append((message, level, source))


class ScriptedApprover:
    """An approval system with scripted answers, for use with Approver.

    answers are options, or exceptions to raise (TimeoutError: nobody answers), one for each request in order, or
    a mapping from prompts. Without an answer it fails, which denies unless the hook said otherwise.
    """

    def __init__(self, answers: Iterable[str | Exception] | Mapping[str, str | Exception]) -> None:
        self._by_prompt = dict(answers) if isinstance(answers, Mapping) else None
        self._in_order: list[str | Exception] = [] if isinstance(answers, Mapping) else list(answers)
        self.requests: list[dict[str, Any]] = []
        """What was asked: prompt, options, timeout, default."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> str:
        """Return the next answer."""
        self.requests.append({"prompt": prompt, "options": options, "timeout": timeout, "default": default})
        answer: str | Exception
        if self._by_prompt is not None:
            answer = self._by_prompt.get(prompt, LookupError(f"no answer for {prompt!r}"))
        else:
            answer = self._in_order.pop(0) if self._in_order else LookupError("no more answers")
        if isinstance(answer, Exception):
            raise answer
        return answer


class EventRecorder:
    """Records events, in place of a registry or as a hook: `hooks.register("*", recorder)`."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Record an event, as a hook."""
        return await self.emit(event, data)

    async def emit(self, event: str, data: dict[str, Any]) -> HookResult:
        """Record an event, and let it pass."""
        self.events.append((event, dict(data)))
        return HookResult(action="continue")

    async def record(self, event: str, data: dict[str, Any]) -> HookResult:
        """Record an event, as emit does."""
        return await self.emit(event, data)

    def get_events(self, event_type: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """Return all events, or those with a name."""
        return [e for e in self.events if event_type in (None, e[0])]

    def clear(self) -> None:
        """Delete the recorded events."""
        self.events.clear()


class ScriptedOrchestrator:
    """An orchestrator whose model is a script: texts are responses, and tool calls run before the next text."""

    def __init__(self, responses: Iterable[str | ToolCall]) -> None:
        self._script = list(responses)
        self.call_count = 0

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Any = None,
        tools: Mapping[str, Any] | None = None,
        hooks: Any = None,
    ) -> str:
        """Run one turn with the hooks of a HookRegistry or a Session, and return the response.

        Tools are functions of the input, or objects with such an execute. A denial is raised.
        """
        self.call_count += 1
        data = (await hooks.execute(PROMPT_SUBMIT, {"prompt": prompt})).require()
        await settled(context.add_message({"role": "user", "content": data.get("prompt", prompt)}))
        response = "DONE"
        while self._script:
            step = self._script.pop(0)
            if isinstance(step, str):
                response = step
                break
            tool = (tools or {})[step.tool_name]
            result = await hooks.run_tool(step, getattr(tool, "execute", tool))
            await settled(context.add_message({"role": "tool", "content": str(result)}))
        await settled(context.add_message({"role": "assistant", "content": response}))
        await hooks.execute(ORCHESTRATOR_COMPLETE, {"orchestrator": "scripted", "status": "success"})
        return response
