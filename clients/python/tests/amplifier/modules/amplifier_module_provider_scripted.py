"""provider-mock with a script of tool calls, which its patterns can't express; it keeps what it was asked."""

from typing import Any

from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_module_provider_mock import MockProvider

__amplifier_module_type__ = "provider"


class ScriptedProvider(MockProvider):
    def __init__(self, config: dict[str, Any], coordinator: Any) -> None:
        super().__init__(config, coordinator)
        self.config = config
        self.script = list(config.get("script", []))
        self.requests: list[str] = []

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        self.requests.append("\n".join(f"{m.role}: {m.content}" for m in request.messages))
        if "always" in self.config:
            return ChatResponse(content=[TextBlock(text=self.config["always"])])
        if not self.script:
            return await super().complete(request, **options)
        step = self.script.pop(0)
        calls = [ToolCall(id=f"call-{len(self.script)}-{n}", **call) for n, call in enumerate(step)]
        return ChatResponse(content=[TextBlock(text="I use a tool.")], tool_calls=calls)


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    await coordinator.mount("providers", ScriptedProvider(config or {}, coordinator), name="scripted")
