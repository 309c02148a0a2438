"""Names and subjects of the wire protocol."""

from __future__ import annotations

import base64
import re
import secrets
from urllib.parse import quote, unquote

_PART = "[A-Za-z0-9_-]{1,64}"
_NAME = re.compile(rf"{_PART}(:{_PART}){{0,7}}")
_CHANNEL = re.compile(rf"{_PART}(\.{_PART}){{0,7}}")
_HOOK_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_PREFIX = re.compile(r"[a-z0-9_-]{1,32}")
# Characters that a header value may have besides letters and digits, as the CloudEvents bindings specify.
_PLAIN = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in '"%')
_UNESCAPED = re.compile(r"[!#$&-~]*")


def check_event(name: str) -> str:
    """Return an event name; raise if it is invalid."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"event name {name!r:.100}: 1 to 8 parts of letters, digits, '_' or '-', joined by ':'")
    return name


def check_pattern(pattern: str) -> str:
    """Return a pattern; raise if it is invalid."""
    if pattern != "*":
        check_event(pattern.removesuffix(":*") if isinstance(pattern, str) else pattern)
    return pattern


def check_channel(channel: str) -> str:
    """Return a contribution channel; raise if it is invalid."""
    if not isinstance(channel, str) or not _CHANNEL.fullmatch(channel):
        raise ValueError(f"channel {channel!r:.100}: 1 to 8 parts of letters, digits, '_' or '-', joined by '.'")
    return channel


def check_hook_id(hook: str) -> str:
    """Return a hook id; raise if it is invalid."""
    if not isinstance(hook, str) or not _HOOK_ID.fullmatch(hook):
        raise ValueError(f"hook id {hook!r:.100}: 1 to 64 of a-z, 0-9, '_' and '-', beginning with a letter or digit")
    return hook


def check_prefix(prefix: str) -> str:
    """Return a prefix; raise if it is invalid."""
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise ValueError(f"prefix {prefix!r:.100}: 1 to 32 of a-z, 0-9, '_' and '-'")
    return prefix


def slug(name: str) -> str:
    """Return a unique hook id derived from a name for people."""
    text = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:48].rstrip("-_")
    return f"{text or 'hook'}-{token()[:10]}"


def token() -> str:
    """Return 136 random bits as text."""
    return secrets.token_hex(17)


def challenge() -> str:
    """Return 160 random bits as 32 characters of A-Z and 2-7."""
    return base64.b32encode(secrets.token_bytes(20)).decode("ascii")


def escape(text: str) -> str:
    """Percent-encode a value for a header, as the CloudEvents bindings specify."""
    return text if _UNESCAPED.fullmatch(text) else quote(text, safe=_PLAIN)


def unescape(text: str) -> str:
    """Reverse escape; return text with invalid escapes unchanged."""
    if "%" not in text:
        return text
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


def one_line(text: str, limit: int = 1024) -> str:
    """Make text valid for a header: one line of limited length."""
    text = "".join(" " if c < " " or c == "\x7f" else c for c in text)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text.encode()) <= limit else text.encode()[:limit].decode("utf-8", "ignore") + "..."
