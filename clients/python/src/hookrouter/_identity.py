"""Finds a program's NATS credentials and their claims about the router."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

DEFAULT_URL = "nats://127.0.0.1:4222"


@dataclass(frozen=True)
class Identity:
    """The identity of a connection: a credentials file and its claims."""

    creds: str = ""
    inbox: str = "_INBOX"
    """The prefix of reply subjects."""
    router: str = ""
    """The public key of the router that issued the credentials; empty if they name none."""


def default_url() -> str:
    """Return the default address of the servers."""
    return os.environ.get("NATS_URL") or DEFAULT_URL


def find(url: str, role: str, creds: str | None = None) -> Identity:
    """Find the credentials for a role: the given ones, NATS_CREDS, or those that a router wrote for
    its user.

    A user in the URL takes the place of a router's credentials.
    """
    path = creds or ("" if "@" in url else os.environ.get("NATS_CREDS", "") or _context(url, role))
    if not path:
        return Identity()
    claims = _claims(path)
    return Identity(path, _inbox(claims), _router(claims))


def context_name(server: str, role: str) -> str:
    """Return the name of the context that a router writes for a role; empty if the URL has no host."""
    try:
        parts = urlsplit(server if "://" in server else f"nats://{server}")
        host, port = (parts.hostname or "").lower(), parts.port or 4222
    except ValueError:
        return ""
    if not host:
        return ""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if loopback:
        host = "127.0.0.1"
    return f"hookrouter-{host.replace(':', '_').replace('/', '_')}-{port}-{role}"


def _context(url: str, role: str) -> str:
    """Find the credentials file of the first server that has a context."""
    parent = os.environ.get("XDG_CONFIG_HOME") or (
        os.path.join(os.environ["HOME"], ".config") if os.environ.get("HOME") else ""
    )
    if not parent:
        return ""
    for server in url.split(","):
        name = context_name(server.strip(), role)
        path = Path(parent, "nats", "context", f"{name}.json")
        if not name or not path.exists():
            continue
        context = json.loads(path.read_text("utf-8"))
        found = context.get("creds", "") if isinstance(context, dict) else ""
        if not isinstance(found, str) or found.startswith("op://"):
            raise ValueError(f"NATS context {name}: give a credentials file instead")
        return os.path.expanduser(os.path.expandvars(found))
    return ""


def _claims(path: str) -> dict[str, Any]:
    """Return the NATS claims of a credentials file; {} after an error, which connecting reports."""
    try:
        text = Path(path).read_text("utf-8").partition("-----BEGIN NATS USER JWT-----")[2]
        payload = text.strip().split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        nats = claims["nats"]
    except (OSError, ValueError, KeyError, IndexError, TypeError, binascii.Error):
        return {}
    return nats if isinstance(nats, dict) else {}


def _inbox(claims: dict[str, Any]) -> str:
    allowed = (claims.get("sub") or {}).get("allow") or []
    for subject in allowed:
        if subject.startswith("_INBOX") and subject.endswith(".>"):
            return str(subject.removesuffix(".>"))
    return "_INBOX"


def _router(claims: dict[str, Any]) -> str:
    for tag in claims.get("tags") or []:
        if tag.startswith("router:"):
            return str(tag.removeprefix("router:")).upper()
    return ""


def proven(public: str, challenge: str, signature: bytes) -> bool:
    """Report whether the router with a public key signed a challenge."""
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    try:
        raw = base64.b32decode(public + "=" * (-len(public) % 8))
        if len(raw) != 35:
            return False
        key = VerifyKey(raw[1:33])
        key.verify(f"hookrouter prove v1\n{challenge}".encode(), base64.b64decode(signature, validate=True))
    except (CryptoError, ValueError, TypeError):
        return False
    return True
