"""Service discovery of a worker, for `nats micro ls`, `info` and `stats`."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nats.aio.msg import Msg

from . import _names
from ._transport import Listener, Transport
from .errors import Disconnected, RouterError

_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(eq=False)
class Endpoint:
    """Statistics of a hook since it was registered."""

    name: str
    subject: str
    requests: int = 0
    errors: int = 0
    last_error: str = ""
    nanos: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def count(self, began: int, error: RouterError | None) -> None:
        """Count an answered call; began is a value of time.perf_counter_ns."""
        self.requests += 1
        self.nanos += time.perf_counter_ns() - began
        if error is not None:
            self.errors += 1
            self.last_error = f"{error.code}:{error.text}"
            self.refused[str(error.code)] += 1

    def about(self) -> dict[str, Any]:
        """Return the description of the endpoint."""
        return {"name": self.name, "subject": self.subject, "queue_group": self.name}

    def stats(self, dropped: int) -> dict[str, Any]:
        """Return the statistics of the endpoint."""
        return {
            **self.about(),
            "num_requests": self.requests,
            "num_errors": self.errors,
            "last_error": self.last_error,
            "processing_time": self.nanos,
            "average_processing_time": self.nanos // max(self.requests, 1),
            "data": {"refused": dict(self.refused), "dropped_no_inbox": dropped},
        }


class Discovery:
    """Answers PING, INFO and STATS of the NATS micro protocol."""

    def __init__(self, transport: Transport, name: str, version: str, instance: str) -> None:
        self.endpoints: list[Endpoint] = []
        self.dropped = 0  # calls whose reply subject was not an inbox of the sender
        self._transport = transport
        self._listeners: list[Listener] = []
        self._started = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._identity = {
            "name": name if _NAME.fullmatch(name) else "hook-worker",
            "id": _names.token()[:22],
            "version": version,
            "metadata": {"prefix": transport.prefix, "instance": instance},
        }

    async def start(self) -> None:
        """Start to answer; a second call does nothing."""
        if self._listeners:
            return
        name, service = self._identity["name"], self._identity["id"]
        for subject in ("$SRV.*", f"$SRV.*.{name}", f"$SRV.*.{name}.{service}"):
            self._listeners.append(await self._transport.listen(subject, "", self._answer))

    async def stop(self) -> None:
        """Stop answering."""
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            await self._transport.silence(listener)

    async def _answer(self, message: Msg) -> None:
        verb = message.subject.split(".")[1]
        answer: dict[str, Any] = {"type": f"io.nats.micro.v1.{verb.lower()}_response", **self._identity}
        if verb == "INFO":
            answer |= {"description": "", "endpoints": [one.about() for one in self.endpoints]}
        elif verb == "STATS":
            answer |= {"started": self._started, "endpoints": [one.stats(self.dropped) for one in self.endpoints]}
        elif verb != "PING":
            return
        reply = message.reply
        if not reply.startswith(("_INBOX", "_R_")) or self._transport.own_inbox(reply):
            return
        try:
            await self._transport.publish(reply, json.dumps(answer).encode(), {})
        except (Disconnected, RouterError) as lost:
            self._transport.log.debug("discovery: not answered: %s", lost)
