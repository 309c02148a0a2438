"""Pydantic AI: a capability.

    agent = Agent(model, capabilities=[HookCapability()])

Give it as the last one, so that no other capability changes a tool's input after the hooks have seen it.
"""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from pydantic import BaseModel, RootModel, SecretBytes, SecretStr
from pydantic_ai import ToolReturn
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    ModelRetry,
    ToolFailed,
    ToolFailedError,
    ToolRetryError,
)
from pydantic_ai.messages import ModelRequest, SystemPromptPart, ToolReturnPart, UserPromptPart
from pydantic_core import to_jsonable_python

from ..errors import Denied
from ._hooks import Hooks, Outcome, Prompt, joined, plain
from ._hooks import ToolFailed as Failure


class HookCapability(AbstractCapability[Any]):
    """Lets a router decide on prompts and tool calls; options are those of Hooks.

    The session is the conversation's id. A denied prompt raises Denied before the model is asked.
    """

    def __init__(self, **options: Any) -> None:
        self.hooks = Hooks("pydantic-ai", signals=(ApprovalRequired, CallDeferred), **options)

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        """Ask about the prompt."""
        prompted = ctx.prompt if ctx.prompt is not None else _waiting(ctx.messages)
        given = [prompted] if isinstance(prompted, str) else list(prompted or [])
        asked = joined(*(one for one in given if isinstance(one, str)))
        if any(given):
            prompt = await self.hooks.prompt(_session(ctx), asked)
            if prompt.text != asked and not isinstance(prompted, str):
                raise Denied("The prompt was denied: hooks changed it, and it is not one text")
            self._prompts[ctx.run_id] = prompted, prompt
        try:
            return await handler()
        finally:
            self._prompts.pop(ctx.run_id, None)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Apply the changed prompt and the context of hooks to the request."""
        if kept := self._prompts.pop(ctx.run_id, None):
            _rewrite(request_context.messages, *kept)
        return request_context

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Run a tool with its hooks."""

        failures: list[Exception] = []

        async def run(given: dict[str, Any]) -> Any:
            given = args if given == sent else _validated(ctx, call.tool_name, given)
            return await _caught(handler(given), failures)

        sent = _seen(args, call)
        about = {"tool_name": call.tool_name, "tool_input": sent, "tool_call_id": call.tool_call_id}
        outcome = await self.hooks.tool(_session(ctx), about, run)
        if failures:
            raise _judged(outcome, failures[0], ToolFailed)
        if outcome.denied:
            return outcome.refusal
        result, more = outcome.result, outcome.text
        if not more:
            return result
        if isinstance(result, str):
            return joined(result, more)
        if isinstance(result, ToolReturn):
            content = [result.content] if isinstance(result.content, str) else list(result.content or [])
            return dataclasses.replace(result, content=[*content, more])
        return ToolReturn(result, content=more)

    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        """Run an output function, a tool that ends the run, with its hooks."""
        if not output_context.has_function:
            return await handler(output)
        name, call = output_context.function_name, output_context.tool_call
        if ctx.partial_output:
            raise ModelRetry(f"{name} runs once its input is complete")
        ran = False
        failures: list[Exception] = []

        async def run(given: dict[str, Any]) -> Any:
            nonlocal ran
            if given != sent:
                raise ModelRetry(f"The call of {name} was denied: a hook changed its input, which can't be done here")
            ran = True
            return await _caught(handler(output), failures)

        sent = _named(output_context, _seen(output, call))
        about = {"tool_name": name or (call.tool_name if call else "final_result"), "tool_input": sent}
        outcome = await self.hooks.tool(
            _session(ctx), {**about, "tool_call_id": call.tool_call_id if call else ""}, run
        )
        if failures:
            raise _judged(outcome, failures[0], ModelRetry)
        if outcome.denied:
            raise Denied(outcome.refusal) if ran else ModelRetry(outcome.refusal)
        return outcome.result

    @property
    def _prompts(self) -> dict[str, tuple[Any, Prompt]]:
        kept: dict[str, tuple[Any, Prompt]] = self.__dict__.setdefault("_kept", {})
        return kept


async def _caught(result: Awaitable[Any], failures: list[Exception]) -> Any:
    """Wait for a tool. An exception whose text the SDK shows to the model is kept and counts as a
    result."""
    try:
        return await result
    except (ToolRetryError, ToolFailedError, ModelRetry, ToolFailed) as error:
        failures.append(error)
        part = getattr(error, "tool_retry", None) or getattr(error, "tool_failed", None) or error
        raise Failure(getattr(part, "content", str(error)), str(error)) from error


def _judged(outcome: Outcome, failure: Exception, kind: Callable[[str], Exception]) -> Exception:
    """Return a failure as changed by hooks."""
    if outcome.denied:
        return kind(outcome.refusal)
    if not outcome.changed and not outcome.text:
        return failure
    text = outcome.result if isinstance(outcome.result, str) else json.dumps(plain(outcome.result))
    return kind(joined(text, outcome.text))


def _session(ctx: Any) -> str:
    return ctx.conversation_id or ctx.run_id or ""


class _Opaque(Exception):
    """An input has an object that JSON does not show."""


def _seen(value: Any, call: Any) -> Any:
    """Return an input as JSON data, including fields that its models hide when dumped, since a tool
    gets them too. It is what the model sent if validators made an object that JSON does not show."""
    try:
        return json.loads(json.dumps(value, default=_whole))
    except _Opaque:
        if call is None:
            raise Denied("The output was denied: hooks can't see what is in it") from None
        return call.args_as_dict(raise_if_invalid=True)


def _whole(value: Any) -> Any:
    if isinstance(value, RootModel):
        return value.root
    if isinstance(value, BaseModel) and not value.__pydantic_private__:
        return {name: getattr(value, name) for name in type(value).model_fields} | (value.model_extra or {})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return fields if fields.keys() >= getattr(value, "__dict__", {}).keys() else _refused(value)
    if isinstance(value, SecretStr | SecretBytes):
        return value.get_secret_value()
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, set | frozenset | deque):
        return list(value)
    if isinstance(value, BaseModel | Iterator):  # reading an iterator would empty it
        return _refused(value)
    return to_jsonable_python(value, fallback=_refused)


def _refused(value: Any) -> Any:
    raise _Opaque


def _named(output_context: Any, value: Any) -> dict[str, Any]:
    """Return the input of an output function, whose single argument is passed without its name."""
    if isinstance(value, dict):
        return value
    schema = output_context.tool_def.parameters_json_schema if output_context.tool_def else {}
    return {next(iter(schema.get("properties", {})), "output"): value}


def _waiting(messages: list[Any]) -> Any:
    """Return the prompt at the end of a history, which a run without its own prompt answers."""
    parts: list[Any] = []
    for message in reversed(messages):
        if not isinstance(message, ModelRequest):
            break
        if any(isinstance(part, ToolReturnPart) for part in message.parts):
            return None  # the answer to a call, whose prompt was asked about
        parts = [part.content for part in message.parts if isinstance(part, UserPromptPart)] + parts
    if len(parts) == 1:
        return parts[0]
    return [one for part in parts for one in ([part] if isinstance(part, str) else part)]


def _rewrite(messages: list[Any], asked: Any, prompt: Prompt) -> None:
    """Change the request in place, so that the history has the change as well."""
    more = [_part(one) for one in prompt.heard]
    for message in reversed(messages):
        if not isinstance(message, ModelRequest):
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart) and part.content == asked:
                if isinstance(asked, str):
                    part.content = prompt.text
                message.parts = [*message.parts, *more]
                return
    last = messages[-1] if messages else None
    if asked != _waiting(messages) or isinstance(asked, str) or not isinstance(last, ModelRequest):
        raise Denied("The prompt was denied: it is not in the request, so what hooks said of it can't be done")
    last.parts = [*last.parts, *more]


def _part(message: dict[str, Any]) -> Any:
    # A message with a lesser role must not become a system instruction.
    return (SystemPromptPart if message["role"] == "system" else UserPromptPart)(message["content"])


def _validated(ctx: Any, name: str, given: dict[str, Any]) -> Any:
    """Validate an input that hooks changed, as the SDK validates the model's."""
    tool = (getattr(ctx.tool_manager, "tools", None) or {}).get(name)
    if tool is None or getattr(tool, "args_validator_func", None) is not None:
        raise ModelRetry(f"The call of {name} was denied: a hook changed its input, which can't be checked again")
    return tool.args_validator.validate_python(given, context=ctx.validation_context)
