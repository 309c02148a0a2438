"""A module that keeps state: what was not read in its session is not edited."""

from typing import Any

from amplifier_core import HookResult


async def mount(coordinator: Any, config: Any = None) -> None:
    seen: set[str] = set()

    async def reads(event: str, data: dict[str, Any]) -> HookResult:
        path = data["tool_input"]["path"]
        if data["tool_name"] == "Read":
            seen.add(path)
        elif path not in seen:
            return HookResult(action="deny", reason="read it first")
        return HookResult()

    async def count(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="of this session alone")

    coordinator.hooks.register("tool:pre", reads, name="reads")
    if coordinator.session_id and config.get("more"):
        coordinator.hooks.register("more", count, name="more")
