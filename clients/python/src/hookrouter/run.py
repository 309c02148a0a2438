"""How the hooks of an event were run: the headers of the router's reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ._names import unescape


@dataclass(frozen=True)
class Run:
    """How the hooks of an event were run."""

    event_id: str
    chain_id: str
    hooks: int
    """The number of called hooks."""
    denied_by: str
    """The id of the hook that denied; empty for none."""
    failed_open: tuple[str, ...]
    """Ids of hooks that failed open."""
    audit: str
    """How the answer was recorded: strict, async or off; empty if the router does not report it."""

    @classmethod
    def read(cls, headers: Mapping[str, str]) -> Run:
        """Parse the headers of a reply."""
        low = {name.lower(): value for name, value in headers.items()}
        count = low.get("hook-count", "")
        return cls(
            event_id=unescape(low.get("hook-event-id", "")),
            chain_id=low.get("hook-chain-id", ""),
            hooks=int(count) if count.isascii() and count.isdigit() else 0,
            denied_by=low.get("hook-denied-by", ""),
            failed_open=names(low.get("hook-failed-open", "")),
            audit=low.get("hook-audit", ""),
        )


def header(headers: Mapping[str, str] | None, name: str) -> str:
    """Return a header, ignoring the case of its name; empty if it is missing."""
    if not headers:
        return ""
    if name in headers:
        return headers[name]
    low = name.lower()
    return next((value for key, value in headers.items() if key.lower() == low), "")


def names(text: str) -> tuple[str, ...]:
    """Parse a list of ids."""
    return tuple(text.split(",")) if text else ()
