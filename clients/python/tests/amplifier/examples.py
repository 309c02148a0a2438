"""The Python examples of the specification, and what they take for granted."""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hookrouter

DATA: dict[str, Any] = {
    "session_id": "s1", "tool_name": "Write", "name": "x", "prompt": "x", "notification_type": "attention",
    "tool_input": {"file_path": "/etc/production/.env", "command": "rm -rf /", "body": "1234-1234-1234-1234"},
    "tool_result": {"success": True}, "stats": {"total_messages": 1, "tool_invocations": 2}, "duration_ms": 1000,
    "turn_count": 3, "message": "hello", "files_processed": 4,
}  # fmt: skip
CALLS = [
    ("tool:pre", "Write"),
    ("tool:post", "Write"),
    ("tool:pre", "Bash"),
    ("tool:pre", "rm"),
    ("tool:pre", "SendEmail"),
]


@dataclass(frozen=True)
class Example:
    """One block of Python."""

    document: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def examples(directory: Path) -> Iterator[Example]:
    """Find the blocks, in order."""
    for path in sorted(directory.glob("[0-9]*.md")):
        text = path.read_text("utf-8")
        for match in re.finditer(r"```python\n(.*?)```", text, re.S):
            yield Example(path.name, text[: match.start(1)].count("\n") + 1, match[1])


class _Logger:
    def __getattr__(self, level: str) -> Any:
        return lambda *args, **fields: None


def surroundings(package: str) -> dict[str, Any]:
    """Make the names that examples use without making them, with one package or the other."""
    registry = importlib.import_module(f"{package}.hooks").HookRegistry()
    result = importlib.import_module(f"{package}.models").HookResult

    async def handler(event: str, data: dict[str, Any]) -> Any:
        return result(action="continue", data={"tool": "weather_api", "confidence": 0.9})

    names = {
        "first_handler", "second_handler", "third_handler", "my_handler", "session_logger", "my_session_start_hook",
        "my_session_end_hook", "my_pre_tool_hook", "my_post_tool_hook", "my_completion_hook", "my_notification_hook",
    }  # fmt: skip
    registry.register("decision:tool_resolution", handler)
    done = types.SimpleNamespace(returncode=1, stdout=b"", stderr=b"one issue")
    here: dict[str, Any] = dict.fromkeys(names, handler)
    exec("from typing import *\nfrom dataclasses import dataclass\nfrom datetime import datetime\nimport re\n", here)
    return here | {
        "registry": registry, "HookResult": result, "HookRegistry": type(registry), "logger": _Logger(),
        "subprocess": types.SimpleNamespace(run=lambda *args, **options: done), "original_data": {},
        "get_active_todos": lambda: ["mend it"], "validate_output": lambda output: ["bad"], "format_issues": str,
        "load_recent_issues": lambda limit: ["#1"], "asyncio": asyncio, "event": "tool:pre", "data": dict(DATA),
    }  # fmt: skip


async def run(example: Example, package: str) -> list[Any]:
    """Run an example, emit for each handler that it defines, and return what came out."""
    names = surroundings(package)
    before = set(names)
    text = example.text.replace("amplifier_core", package)
    code = compile(text, str(example), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    came: list[Any] = []
    try:
        waits = eval(code, names)
        if inspect.isawaitable(waits):
            await waits
        result = names.get("result")
        if hasattr(result, "action"):
            came.append(outcome(result))
        for name in [n for n in names if n not in before]:
            if inspect.iscoroutinefunction(names[name]) and list(inspect.signature(names[name]).parameters) == [
                "event",
                "data",
            ]:
                came += await outcomes(names[name], package)
        return came
    finally:
        for value in list(names.values()):
            if isinstance(value, hookrouter.HookRegistry):
                await value.ready()
                await value.close()


async def outcomes(handler: Any, package: str) -> list[Any]:
    """Emit events to one handler alone."""
    registry = importlib.import_module(f"{package}.hooks").HookRegistry()
    registry.register("tool:pre", handler)
    registry.register("tool:post", handler)
    try:
        return [outcome(await registry.emit(event, {**DATA, "tool_name": tool})) for event, tool in CALLS]
    finally:
        if hasattr(registry, "close"):
            await registry.close()


def outcome(result: Any) -> dict[str, Any]:
    """Return what two results have to agree about."""
    fields = {
        name: getattr(result, name)
        for name in (
            "action", "reason", "context_injection", "context_injection_role", "ephemeral", "approval_prompt",
            "approval_options", "approval_timeout", "approval_default",
        )
    }  # fmt: skip
    if fields["context_injection"]:
        fields["context_injection"] = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+", "NOW", fields["context_injection"])
    if result.action not in ("inject_context", "ask_user"):  # amplifier-core drops the data then
        fields["data"] = {k: v for k, v in (result.data or {}).items() if k != "timestamp"}
    return fields
