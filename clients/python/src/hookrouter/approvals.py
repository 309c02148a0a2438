"""Answers approval requests, for a program in which a person decides."""

from __future__ import annotations

import asyncio
import contextlib
import re
from datetime import UTC, datetime
from typing import Any

from nats.aio.msg import Msg

from . import _json
from .client import Client, Request, Retry, unserved
from .errors import ConnectionLost, DeadlineExceeded, HookRouterError, InvalidReply, RouterError
from .interfaces import ApprovalSystem, PassOn, settled

_ID = re.compile("[a-z2-7]{26}")


class Approver:
    """Passes approval requests to an approval system, and sends its answers to the router.

    The client needs the identity of a person, or admin: connect(role="admin"). Do not give it to an
    agent, which could answer its own requests.
    """

    def __init__(
        self, client: Client, system: ApprovalSystem | None = None, *, session: str = "", by: str = ""
    ) -> None:
        """Create an approver for one session or all; by is the claimed name of the person who
        answers."""
        self.client, self.system, self._session, self._by = client, system, session, by
        self._seen: set[str] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._again = asyncio.Event()  # the list is to be read

    async def open(self) -> list[dict[str, Any]]:
        """List the open approval requests, oldest first."""
        subject = self.client.transport.subject("approvals")
        found, _ = await self.client.request_json(
            Request(subject), {"session_id": self._session} if self._session else None
        )
        if not isinstance(found, list):
            raise InvalidReply("the answer to approvals is not a list")
        return found

    async def show(self, approval: str) -> dict[str, Any]:
        """Return one approval request with its data and its decision."""
        found, _ = await self.client.request_json(Request(self.client.transport.subject("approval", approval)))
        if not isinstance(found, dict):
            raise InvalidReply("the answer to approval is not an object")
        return found

    async def answer(
        self, approval: str, option: str, *, data_sha256: str = "", note: str = "", free_text: bool = False
    ) -> str:
        """Answer an approval request and return the option that decided. The digest identifies the
        data that was seen."""
        body: dict[str, Any] = {"option": option, "by": self._by, "note": note, "data_sha256": data_sha256}
        body = {name: value for name, value in body.items() if value or name == "option"}
        return await self._approve(approval, body | ({"free_text": True} if free_text else {}))

    async def pass_on(self, approval: str, note: str = "") -> None:
        """Leave the decision to others. The router accepts this from known people and models."""
        body = {"pass": True, "note": note, "by": self._by}
        await self._approve(approval, {k: v for k, v in body.items() if v})

    async def fail(self, approval: str, error: str) -> None:
        """Report that the approval system failed, so that the request's default decides."""
        await self._approve(approval, {"error": error or "it failed", "by": self._by} if self._by else {"error": error})

    async def run(self) -> None:
        """Pass all approval requests, including those already open, to the system until cancelled.

        It raises if the first list is refused, for example without the permission to answer.
        """
        if self.system is None:
            raise ValueError("the approver has no approval system")
        transport = self.client.transport
        listener = await transport.listen(transport.subject("event", "approval:required"), "", self._announced)
        again = self._again
        forget = transport.on_reconnect(again.set)
        again.set()
        listed = False
        try:
            while True:  # what was asked while nobody listened is in the list
                await again.wait()
                again.clear()
                try:
                    for entry in await self.open():
                        self._ask(entry)
                    listed = True
                except HookRouterError as error:
                    if not (listed or _passing(error)):
                        raise
                    self.client.log.warning("approval requests could not be listed; trying again: %s", error)
                    await asyncio.sleep(1)
                    again.set()
        finally:
            forget()
            await transport.silence(listener)
            for task in list(self._asking):
                task.cancel()
            await asyncio.gather(*self._asking, return_exceptions=True)

    async def _announced(self, message: Msg) -> None:
        """Read the list again. An announcement proves nothing, since an agent may send an event of
        this name too."""
        with contextlib.suppress(ValueError, HookRouterError):
            told = _json.decode(message.data)
            approval = told.get("id") if isinstance(told, dict) else None
            if not isinstance(approval, str) or not _ID.fullmatch(approval) or approval in self._seen:
                return  # asking about anything else would hold up the announcements after it
            entry = await self.show(approval)
            if not self._session or entry.get("session_id") == self._session:
                self._ask(entry)

    def _ask(self, entry: dict[str, Any]) -> None:
        approval = entry.get("id")
        if not isinstance(approval, str) or approval in self._seen or "granted" in entry:
            return
        self._seen.add(approval)
        task = asyncio.create_task(self._put(approval, entry))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _put(self, approval: str, entry: dict[str, Any]) -> None:
        assert self.system is not None  # noqa: S101  run sees to it
        options = [str(option) for option in entry.get("options") or []]
        left = (datetime.fromisoformat(entry["expires"]) - datetime.now(UTC)).total_seconds()
        default: Any = "allow" if entry.get("default") == "allow" else "deny"
        try:
            chosen = await settled(self.system.request_approval(str(entry.get("prompt", "")), options, left, default))
            if not isinstance(chosen, str):
                raise TypeError(f"it answered {chosen!r:.100}, which is no option")
        except PassOn as passed:
            try:
                await self.pass_on(approval, str(passed))
            except RouterError as error:
                self.client.log.warning("approval request %s was not passed on: %s", approval, error)
            return
        except TimeoutError:
            return  # nobody answered: the router knows what that means
        except Exception as error:
            self.client.log.warning("the approval system failed: %s", error)
            with contextlib.suppress(HookRouterError):
                await self.fail(approval, str(error)[:1024] or type(error).__name__)
            return
        free = all(chosen.lower() != option.lower() for option in options)
        try:
            await self.answer(approval, chosen, data_sha256=entry.get("data_sha256", ""), free_text=free)
        except HookRouterError as error:
            self.client.log.warning("approval request %s was not answered: %s", approval, error)
            if _passing(error):  # it is still open, as far as is known
                self._seen.discard(approval)
                self._again.set()

    async def _approve(self, approval: str, body: dict[str, Any]) -> str:
        request = Request(self.client.transport.subject("approve", approval), retry=Retry.IF_UNSERVED)
        reply, _ = await self.client.request_json(request, body)
        if not isinstance(reply, dict) or reply.get("status") != "accepted":
            raise InvalidReply("the answer to approve is not what the protocol says")
        return str(reply.get("option", ""))


def _passing(error: HookRouterError) -> bool:
    return unserved(error) or isinstance(error, ConnectionLost | DeadlineExceeded)
