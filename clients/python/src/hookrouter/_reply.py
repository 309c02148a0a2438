"""Encodes the results of hooks."""

from __future__ import annotations

from typing import Any

from . import _json
from .models import HookResult

MAX_REPLY = 512 << 10
"""Bytes, a router's default limit."""
_MAX_TEXT = 4 << 10
"""Bytes of each text of a reply that was too large."""
_MAX_LABELS, _MAX_LABEL = 16, 64
_CONTINUE = b'{"action":"continue"}'


def encode(result: HookResult) -> bytes:
    """Encode a result; ValueError if JSON can't represent it.

    A reply that is too large is a failure to a router, and its texts may quote an agent, which could
    so escape a hook that fails open. Therefore a denial that can't be sent is shortened. Such a
    question, and a result with labels, become a denial: nobody could be asked, and the session would
    lack the labels.
    """
    fields = result.to_dict()
    if fields == {"action": "continue"}:
        return _CONTINUE
    binding = result.action in ("deny", "ask_user") or bool(result.labels)
    try:
        body = written(fields)
        if len(body) <= MAX_REPLY or not binding:
            return body
        why = f"The hook's answer has {len(body)} bytes: at most {MAX_REPLY} are allowed"
    except ValueError as error:
        if not binding:
            raise
        why = f"The hook's answer: {error}"
    return written(_short(result, why))


def written(value: Any) -> bytes:
    """Encode a value for a router, which makes U+FFFD of half a surrogate pair."""
    return _json.encode(value, "backslashreplace")


def _short(result: HookResult, why: str) -> dict[str, Any]:
    """Return a denial with only what must not be lost."""
    short: dict[str, Any] = {
        "action": "deny",
        "reason": shorten((result.reason or "") if result.action == "deny" else why),
    }
    if result.user_message is not None:
        short |= {"user_message": shorten(result.user_message), "user_message_level": result.user_message_level}
    labels = result.labels or []
    if 0 < len(labels) <= _MAX_LABELS and all(len(label) <= _MAX_LABEL for label in labels):
        return {**short, "labels": labels}
    return short


def shorten(text: str, most: int = _MAX_TEXT) -> str:
    """Cut a text that is longer than most bytes, and replace half surrogate pairs."""
    raw = text.encode("utf-8", "replace")
    return raw.decode() if len(raw) <= most else raw[:most].decode("utf-8", "ignore") + "...[truncated]"
