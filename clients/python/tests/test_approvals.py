from __future__ import annotations

import asyncio
import contextlib

import pytest

from hookrouter import (
    Agent,
    ApprovalNeeds,
    Approver,
    ApproverGroup,
    Denied,
    HookRegistry,
    HookResult,
    NotPermitted,
    PassOn,
    Registration,
    ToolCall,
    Worker,
    connect,
)
from hookrouter.testing import EventRecorder, FakeContext, FakeDisplay, Router, ScriptedApprover, ScriptedOrchestrator


async def ask(event, data):
    return HookResult(
        action="ask_user",
        approval_prompt=f"Run {data['n']}?",
        approval_options=["Allow once", "Deny"],
        approval_timeout=data.get("timeout", 300),
        approval_default=data.get("default", "deny"),
    )


@contextlib.asynccontextmanager
async def answered(client, system):
    running = asyncio.create_task(Approver(client, system, by="test").run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_an_approval_system_answers(hook_router):
    async with connect() as client, HookRegistry() as hooks:
        hooks.register("tool:pre", ask)
        script = {
            "Run 1?": "allow once", "Run 2?": "Deny", "Run 3?": "over my dead body", "Run 4?": OSError("broken"),
            "Run 5?": TimeoutError(), "Run 6?": OSError("broken"),
        }  # fmt: skip
        system = ScriptedApprover(script)
        async with answered(client, system):
            asked = [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}, {"n": 5, "timeout": 0.2}, {"n": 6, "default": "allow"}]
            verdicts = await asyncio.gather(*(hooks.execute("tool:pre", data) for data in asked))
        assert [v.permitted for v in verdicts] == [True, False, False, False, False, True]
        assert verdicts[0].approval.option == "Allow once"
        assert verdicts[1].reason == "User denied: Run 2?"
        assert "Approval error" in verdicts[3].reason
        assert "timeout" in verdicts[4].reason
        first = next(r for r in system.requests if r["prompt"] == "Run 1?")
        assert first["options"] == ["Allow once", "Deny"]
        assert first["default"] == "deny"
        assert 290 < first["timeout"] <= 300


async def test_a_forged_announcement_asks_nobody(hook_router):
    async with connect() as client, HookRegistry() as hooks:
        hooks.register("tool:pre", ask)
        system = ScriptedApprover(["Allow once", "Allow once"])
        async with answered(client, system):
            for data in ({"id": "a" * 26, "prompt": "Forged?", "options": ["Allow"]}, {"id": 7}, {}):
                await Agent(client).emit("approval:required", data)
            assert (await hooks.execute("tool:pre", {"n": 1})).permitted
        assert [r["prompt"] for r in system.requests] == ["Run 1?"]


async def test_forged_announcements_hold_up_no_other(hook_router):
    async with connect() as client, HookRegistry() as hooks:
        hooks.register("tool:pre", ask)
        system = ScriptedApprover(["Allow once"])
        async with answered(client, system):
            assert not (await hooks.execute("tool:pre", {"n": 0, "timeout": 0})).permitted  # the approver listens
            for forged in ("a.b", "a:b", "*", ">", "a b", "a" * 27):  # nobody answers on such subjects
                await Agent(client).emit("approval:required", {"id": forged})
            assert (await hooks.execute("tool:pre", {"n": 1, "timeout": 3})).permitted


async def test_kill_9_with_100_agents_waiting(hook_router):
    hook_router.kill()
    hook_router._flags = ["--audit=strict"]
    hook_router.start()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connect(hook_router.url)) for _ in range(100)]
        worker = Worker(clients[0])
        calls = 0

        async def counted(event, data):
            nonlocal calls
            calls += 1
            return await ask(event, data)

        await worker.register(Registration(id="ask", events=["tool:pre"], on_failure="deny"), counted)
        waiting = asyncio.Queue()
        agents = [Agent(c, session=f"s{n}", on_pending=waiting.put_nowait) for n, c in enumerate(clients)]
        asking = [asyncio.create_task(a.execute("tool:pre", {"n": n})) for n, a in enumerate(agents)]
        for _ in asking:
            await waiting.get()
        hook_router.kill()
        await asyncio.to_thread(hook_router.start)
        answers = {f"Run {n}?": "Deny" if n % 3 == 0 else "Allow once" for n in range(100)}
        system = ScriptedApprover(answers)
        person = await stack.enter_async_context(connect(hook_router.url, patience=20))
        async with answered(person, system):
            verdicts = await asyncio.gather(*asking)
        assert [v.permitted for v in verdicts] == [n % 3 != 0 for n in range(100)]
        assert all(v.data["n"] == n for n, v in enumerate(verdicts) if v.permitted)
        assert len(system.requests) == 100
        assert calls == 100
        await worker.retire("ask")


async def test_an_answer_that_did_not_arrive_is_asked_for_again(hook_router):
    class Person:
        asked = 0

        async def request_approval(self, prompt, options, timeout, default):
            self.asked += 1
            if self.asked == 1:
                hook_router.kill()
                lost.set()
            return "Allow once"

    lost, person = asyncio.Event(), Person()
    async with connect(patience=20) as client, connect(patience=0.2) as of_person, HookRegistry(client) as hooks:
        hooks.register("tool:pre", ask)
        await hooks.ready()
        async with answered(of_person, person):
            asking = asyncio.create_task(Agent(client).execute("tool:pre", {"n": 1}))
            await lost.wait()
            await asyncio.sleep(1)
            await asyncio.to_thread(hook_router.start)
            async with asyncio.timeout(20):
                assert (await asking).permitted
    assert person.asked == 2


async def test_the_scripted_parts_make_a_turn(hook_router):
    context, display, recorder = FakeContext(), FakeDisplay(), EventRecorder()
    async with HookRegistry(context=context, display=display) as hooks:
        hooks.register("*", recorder, name="recorder")

        @hooks.on("tool:pre", priority=1)
        async def guard(event, data):
            if data["tool_name"] == "Rm":
                return HookResult(action="deny", reason="no", user_message="denied Rm")
            return HookResult(action="inject_context", context_injection="careful")

        turn = ScriptedOrchestrator([ToolCall("Echo", {"x": 1}), "said", ToolCall("Rm")])
        assert await turn.execute("hi", context, {}, {"Echo": lambda i: i["x"]}, hooks) == "said"
        with pytest.raises(Denied):
            await turn.execute("more", context, {}, {"Rm": lambda i: None}, hooks)
    assert [m["content"] for m in context.messages] == ["hi", "careful", "1", "said", "more"]
    assert display.shown == [("denied Rm", "info", "hook:guard")]
    names = [name for name, _ in recorder.get_events()]
    assert names == ["prompt:submit", "tool:pre", "tool:post", "orchestrator:complete", "prompt:submit", "tool:pre"]
    assert recorder.get_events("tool:post")[0][1]["tool_result"] == {"output": 1}


async def test_where_a_group_must_allow_a_model_passes_on(tmp_path, monkeypatch):
    groups = tmp_path / "groups.yaml"
    groups.write_text(
        "people: {ann: {identities: [console ann]}}\ngroups: {owners: [ann]}\nmodels: [nats admin/admin]\n"
    )
    router = Router(tmp_path / "router", auth=True, flags=[f"--approval-groups={groups}"]).start()
    try:
        for name, value in router.env().items():
            monkeypatch.setenv(name, value)
        async with connect(role="worker") as serving, connect(role="admin") as reviewing, connect() as client:
            worker = Worker(serving)
            for hook, group in (("deploys", "owners"), ("nobodys", "strangers")):
                needs = ApprovalNeeds([ApproverGroup(group)], exclude_requester=True)
                registration = Registration(id=hook, events=[f"{hook}:start"], approval=needs)
                await worker.register(registration, ask)
            refused = await Agent(client).execute("nobodys:start", {"n": 1})
            assert 'no group "strangers"' in refused.reason

            class Reviewer:
                def request_approval(self, prompt, options, timeout, default):
                    raise PassOn("a test machine")

            running = asyncio.create_task(Approver(reviewing, Reviewer()).run())
            asked = asyncio.create_task(Agent(client).execute("deploys:start", {"n": 2}))
            look = Approver(reviewing)
            while not (found := [e for e in await look.open() if e.get("reviews")]):
                await asyncio.sleep(0.01)
            assert [(r["note"], r["model"]) for r in found[0]["reviews"]] == [("a test machine", True)]
            assert found[0]["progress"] == "0 of 1; needs 1 of owners"
            await look.answer(found[0]["id"], "Deny")
            assert not (await asked).permitted
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await worker.close()
    finally:
        router.kill()


@pytest.mark.parametrize("answer", [None, True, ["Allow once"]])
async def test_an_answer_that_is_no_option_is_a_failure(hook_router, answer):
    class Odd:
        async def request_approval(self, prompt, options, timeout, default):
            return answer

    async with connect() as client, HookRegistry() as hooks:
        hooks.register("tool:pre", ask)
        async with answered(client, Odd()):
            verdict = await hooks.execute("tool:pre", {"n": 1}, timeout=5)
        assert "Approval error" in verdict.reason


async def test_an_approver_without_the_right_to_answer_says_so(tmp_path, monkeypatch):
    router = Router(tmp_path, auth=True).start()
    try:
        for name, value in router.env().items():
            monkeypatch.setenv(name, value)
        async with connect(role="agent") as client:
            with pytest.raises(NotPermitted):
                await asyncio.wait_for(Approver(client, ScriptedApprover([])).run(), 10)
    finally:
        router.stop()
