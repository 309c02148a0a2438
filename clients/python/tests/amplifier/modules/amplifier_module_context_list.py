"""A context of Amplifier: a list."""

from typing import Any

__amplifier_module_type__ = "context"


class ListContext:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def get_messages_for_request(self, token_budget: int | None = None, provider: Any = None) -> list[Any]:
        return [{k: v for k, v in m.items() if k != "metadata"} for m in self.messages]

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = list(messages)

    async def clear(self) -> None:
        self.messages = []


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    await coordinator.mount("context", ListContext())
