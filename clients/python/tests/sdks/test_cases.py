"""Every case with a real SDK, which run.py has installed here; see docs/agents/sdks.md."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookrouter import Denied, HookResult
from hookrouter.testing import Router

from .lab import Lab, Model

SDK = importlib.import_module(f".sdk_{os.environ['SDK'].replace('-', '_')}", __package__)
"""The agent: async def turn(lab), which returns its last words, and cannot, why a case differs."""
REASON = "NOT-ON-MY-WATCH"
Guard = Callable[[str, dict[str, Any]], HookResult]


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.close()


@pytest.fixture
def lab(
    hook_router: Router, model: Model, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: Any
) -> Iterator[Lab]:
    directory = tmp_path / "work"
    directory.mkdir()
    lab = Lab(directory, hook_router, model, request.node.name.replace("[", "-").rstrip("]"), monkeypatch)
    yield lab
    lab.close()


def passes(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult()


def at(wanted: str, **result: Any) -> Guard:
    return lambda event, data: HookResult(**result) if event == wanted else HookResult()


def injects(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(action="inject_context", context_injection=f"INJECTED-AT-{event.replace(':', '-')}")


def rewrites(wanted: str, member: str, old: str, new: str) -> Guard:
    def guard(event: str, data: dict[str, Any]) -> HookResult:
        if event != wanted:
            return HookResult()
        return HookResult(action="modify", data={**data, member: _replaced(data[member], old, new)})

    return guard


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {name: _replaced(member, old, new) for name, member in value.items()}
    return [_replaced(one, old, new) for one in value] if isinstance(value, list) else value


async def turn(lab: Lab) -> str:
    async with asyncio.timeout(60):
        return str(await SDK.turn(lab))


async def test_pass_with_injections(lab):
    lab.model.command("echo pass > marker")
    lab.start(injects)
    assert "finished" in await turn(lab)
    assert lab.marker == "pass"
    for event in ("prompt:submit", "tool:pre", "tool:post"):
        assert lab.saw(f"INJECTED-AT-{event.replace(':', '-')}"), event
        assert lab.recorded(event, "continue"), event


async def test_deny(lab):
    lab.model.command("echo denied > marker")
    lab.start(at("tool:pre", action="deny", reason=REASON))
    assert "finished" in await turn(lab)
    assert lab.marker == ""
    assert lab.saw(REASON)
    assert lab.recorded("tool:pre", "deny")
    assert lab.actions("tool:post") == []


@pytest.mark.skipif(not hasattr(SDK, "turn_now"), reason="the adapter has one way for both")
async def test_code_that_is_not_async(lab):
    lab.model.command("echo original > marker")
    lab.start(rewrites("tool:pre", "tool_input", "original", "changed"))
    assert "finished" in await asyncio.to_thread(SDK.turn_now, lab)
    assert lab.marker == "changed"
    (lab.directory / "marker").unlink()
    lab.model.command("echo dead > marker", before=lab.router.kill)
    assert "finished" in await asyncio.to_thread(SDK.turn_now, lab)
    assert lab.marker == ""
    assert lab.saw("nobody could decide")


async def test_modify(lab):
    lab.model.command("echo original > marker")
    lab.start(rewrites("tool:pre", "tool_input", "original", "changed"))
    assert "finished" in await turn(lab)
    assert lab.marker == "changed"
    assert lab.recorded("tool:pre", "continue")


async def test_a_result_is_changed(lab):
    lab.model.command("echo redacted > marker; printf 'SECRET-%s' WORD")
    lab.start(rewrites("tool:post", "tool_result", "SECRET-WORD", "MASKED-WORD"))
    assert "finished" in await turn(lab)
    assert lab.marker == "redacted"
    assert lab.saw("MASKED-WORD")
    assert not lab.saw("SECRET-WORD")


async def test_a_result_is_withheld(lab):
    lab.model.command("echo withheld > marker; printf 'SECRET-%s' WORD")
    lab.start(at("tool:post", action="deny", reason=REASON))
    assert "finished" in await turn(lab)
    assert lab.marker == "withheld"
    assert lab.saw(REASON)
    assert not lab.saw("SECRET-WORD")


async def test_a_tool_that_fails(lab):
    lab.model.command("echo failed > marker; exit 3")
    lab.start(passes)
    said = await refused(lab)  # some SDKs end the turn
    failure = getattr(SDK, "FAILURE", "it ended with 3")
    assert failure in said or lab.saw(failure)
    assert lab.marker == "failed"
    assert lab.recorded("tool:error", "continue")


@pytest.mark.parametrize("answer", ["Allow once", "Deny"])
@pytest.mark.parametrize("restart", [False, True], ids=["", "restart"])
async def test_ask(lab, answer, restart):
    lab.model.command("echo asked > marker")
    if restart:
        lab.may_answer.clear()
    ask = {"action": "ask_user", "approval_prompt": "May it?", "approval_options": ["Allow once", "Deny"]}
    lab.start(at("tool:pre", **ask), answer)
    running = asyncio.create_task(turn(lab))
    if restart:
        assert await asyncio.to_thread(lab.pending.wait, 30)
        lab.router.kill()
        await asyncio.to_thread(lab.router.start)
        lab.may_answer.set()
    assert "finished" in await running
    assert lab.marker == ("asked" if answer == "Allow once" else "")
    assert answer == "Allow once" or lab.saw("May it?")
    assert lab.recorded("tool:pre", "allow" if answer == "Allow once" else "deny", "approval.decided")
    assert lab.actions("tool:pre", "approval.requested").count("requested") == 1


async def test_router_dead_at_the_tool(lab):
    lab.model.command("echo dead > marker", before=lab.router.kill)
    lab.start(passes)
    assert "finished" in await turn(lab)
    assert lab.marker == ""
    assert lab.saw("nobody could decide")


async def test_router_dead_at_the_prompt(lab):
    lab.model.command("echo dead > marker")
    lab.start(passes)
    lab.router.kill()
    said = await refused(lab)
    assert "nobody could decide" in said
    assert lab.model.requests() == []


async def test_a_prompt_is_denied(lab):
    lab.model.command("echo denied > marker")
    lab.start(at("prompt:submit", action="deny", reason=REASON))
    assert REASON in await refused(lab)
    assert lab.model.requests() == []
    assert lab.recorded("prompt:submit", "deny")


@pytest.mark.skipif(not hasattr(SDK, "turn_twice"), reason="the adapter keeps nothing between turns")
async def test_each_prompt_is_asked_about(lab):
    lab.model.command("echo twice > marker")
    second = HookResult(action="deny", reason=REASON)
    lab.start(lambda event, data: second if "SECOND" in data.get("prompt", "") else HookResult())
    with pytest.raises(Exception, match=REASON):
        await SDK.turn_twice(lab, "a SECOND prompt")
    assert lab.marker == "twice"
    assert not lab.saw("SECOND")


@pytest.mark.skipif(not hasattr(SDK, "turn_with_note"), reason="the adapter is told which message is the prompt")
async def test_a_prompt_with_instructions_behind_it_is_asked_about(lab):
    lab.model.command("echo never > marker")
    lab.start(at("prompt:submit", action="deny", reason=REASON))
    try:
        assert REASON in await SDK.turn_with_note(lab)
    except Denied as denied:
        assert REASON in str(denied)  # noqa: PT017  an answer in one SDK, an error in another
    assert lab.model.requests() == []


@pytest.mark.skipif(not hasattr(SDK, "turn_with_file"), reason="the adapter does not look at what a prompt consists of")
async def test_a_prompt_of_files_only_is_asked_about(lab):
    lab.model.command("echo never > marker")
    lab.start(at("prompt:submit", action="deny", reason=REASON))
    try:
        said = str(await SDK.turn_with_file(lab))
    except Exception as error:
        said = str(error)
    assert REASON in said
    assert lab.model.requests() == []
    assert lab.recorded("prompt:submit", "deny")


async def test_a_prompt_is_changed(lab):
    lab.model.command("echo prompt > marker")
    lab.start(rewrites("prompt:submit", "prompt", "marker", "MARKER"))
    if SDK.CANNOT_CHANGE_PROMPTS:
        assert "prompt was denied" in await refused(lab)
        assert lab.model.requests() == []
        return
    assert "finished" in await turn(lab)
    assert lab.saw("make the MARKER")
    assert not lab.saw("make the marker")


async def refused(lab: Lab) -> str:
    """Return what is said where something does not pass: as an answer, or as an error."""
    try:
        return await turn(lab)
    except Exception as error:
        return str(error)
