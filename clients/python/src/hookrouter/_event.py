"""The headers and the body of an event's request."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from . import _json, _names
from .run import header

MAX_SESSION = 512
MAX_DEFAULTS = 8 << 10
"""The maximum size of default fields, in bytes of JSON."""


def new_id() -> str:
    """Return a new id that sorts by time (UUIDv7)."""
    raw = bytearray((time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10))
    raw[6], raw[8] = raw[6] & 0x0F | 0x70, raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def defaults_header(fields: Mapping[str, Any]) -> str:
    """Encode default fields for their header; empty for none."""
    if not fields:
        return ""
    text = _json.encode_ascii(dict(fields))
    if len(text) > MAX_DEFAULTS:
        raise ValueError(f"default fields have {len(text)} bytes of JSON: at most {MAX_DEFAULTS} are allowed")
    return text


def body_of(data: Mapping[str, Any] | bytes | None) -> tuple[bytes, str]:
    """Encode an event's data; bytes are kept. Also return the session that the data names."""
    if data is None:
        return b"{}", ""
    if isinstance(data, bytes):
        try:
            session = _json.members(data).get("session_id", (None, ""))[0]
        except ValueError as error:
            raise ValueError(f"the data of an event must be a JSON object: {error}") from None
        return data, session if isinstance(session, str) else ""
    if not isinstance(data, Mapping):
        raise ValueError(f"the data of an event must be a dict, not {type(data).__name__}")
    try:
        body = _json.encode(dict(data))
    except ValueError as error:
        raise ValueError(f"the data of an event: {error}") from None
    session = data.get("session_id")
    return body, session if isinstance(session, str) else ""


def headers_of(event: str, source: str, session: str, defaults: str) -> dict[str, str]:
    """Return the headers of a new event as a binary-mode CloudEvent."""
    headers = {
        "ce-specversion": "1.0",
        "ce-id": new_id(),
        "ce-source": _names.escape(source),
        "ce-type": event,
        "ce-time": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }
    if session:
        if len(session.encode()) > MAX_SESSION:
            raise ValueError(f"the session id is longer than {MAX_SESSION} bytes")
        headers["ce-subject"] = _names.escape(session)
    if defaults:
        headers["Hook-Defaults"] = defaults
    return headers


def lineage_headers(parent: str, root: str) -> dict[str, str]:
    """Return the headers with the sessions above the event's session; empty ones are omitted."""
    above = {name: session for name, session in (("ce-hookparent", parent), ("ce-hookroot", root)) if session}
    for session in above.values():
        if len(session.encode()) > MAX_SESSION:
            raise ValueError(f"the id of a session above is longer than {MAX_SESSION} bytes")
    return {name: _names.escape(session) for name, session in above.items()}


def about(sent: Mapping[str, str]) -> Any:
    """Accept replies that name the event. Error replies do not name an event."""
    event_id = sent["ce-id"]

    def accept(reply: Mapping[str, str]) -> bool:
        named = header(reply, "Hook-Event-Id")
        refused = header(reply, "Nats-Service-Error-Code") or header(reply, "Nats-Service-Error")
        return named == event_id or (not named and bool(refused))

    return accept


def set_timeout(headers: dict[str, str], left: float) -> None:
    """Set the remaining time, slightly reduced so that the answer still arrives in time."""
    left -= min(left / 10, 0.1)
    headers["Hook-Timeout-Ms"] = str(max(int(left * 1000), 1))
