import assert from "node:assert/strict"
import { test } from "node:test"

import {
  type Approval, DeadlineError, NoRouterError, PendingError, RouterError, UnreachableError, allow, ask, connect, deny, inject, modify,
} from "../src/index.js"
import { Router, happens } from "./router.js"

const call = { tool_name: "Bash", tool_input: { command: "ls" }, n: 9007199254740993n }

test("a verdict permits only what hooks let pass", async (t) => {
  const router = await Router.start(t)
  await router.guard(({ data }) => {
    switch (data.tool_name) {
      case "deny":
        return deny("not that")
      case "modify":
        return modify({ ...data, tool_input: { command: "echo" } })
      case "inject":
        return inject("be careful")
      default:
        return allow()
    }
  })
  const agent = (await router.client("agent")).agent({ session: "s1", defaults: { team: "größe" } })

  const passed = await agent.execute("tool:pre", call)
  assert.equal(passed.permitted, true)
  assert.equal(passed.data?.n, 9007199254740993n)
  assert.equal(passed.data?.session_id, "s1")
  assert.equal(passed.data?.team, "größe")
  assert.equal(passed.run.hooks, 1)

  const denied = await agent.execute("tool:pre", { ...call, tool_name: "deny" })
  assert.equal(denied.permitted, false)
  assert.equal(denied.reason, "not that")
  assert.equal(denied.run.deniedBy, "guard")

  const changed = await agent.execute("tool:pre", { ...call, tool_name: "modify" })
  assert.deepEqual([changed.permitted, changed.data?.tool_input], [true, { command: "echo" }])

  const injected = await agent.execute("tool:pre", { ...call, tool_name: "inject" })
  assert.deepEqual([injected.permitted, injected.messages[0]?.content], [true, "be careful"])

  const emitted = await agent.emit("tool:pre", { ...call, tool_name: "deny" })
  assert.deepEqual([emitted.action, emitted.reason], ["deny", "not that"])
})

test("each injection keeps the role and the lifetime that its hook gave it", async (t) => {
  const router = await Router.start(t)
  await router.guard(() => ({ ...inject("3 findings"), context_injection_role: "user", user_message: "seen", user_message_source: "ruff" }))
  await router.guard(() => ({ ...inject("2 open"), ephemeral: true, append_to_last_tool_result: true }), { id: "todos", priority: 1 })
  const agent = (await router.client("agent")).agent()
  const verdict = await agent.execute("tool:pre", call)
  const listed = [
    { content: "3 findings", role: "user", hook_name: "guard", hook_id: "guard", event: "tool:pre" },
    { content: "2 open", role: "system", ephemeral: true, append_to_last_tool_result: true, hook_name: "todos", hook_id: "todos", event: "tool:pre" },
  ]
  assert.deepEqual(verdict.contextInjections, listed)
  assert.deepEqual(verdict.messages.length, 1)
  assert.deepEqual(verdict.contextMessages.map(({ role, content, ephemeral }) => [role, content, ephemeral]), [["user", "3 findings", undefined], ["system", "2 open", true]])
  assert.deepEqual(verdict.contextMessages[1]?.metadata, { source: "hook", hook_name: "todos", hook_id: "todos", event: "tool:pre", timestamp: verdict.messages[0]?.metadata?.timestamp })
  assert.deepEqual([verdict.display[0]?.source, verdict.display[0]?.user_message_source], ["hook:guard", "ruff"])
  assert.deepEqual((await agent.emit("tool:pre", call)).context_injections, listed)
})

test("a sub-agent says whose it is", async (t) => {
  const router = await Router.start(t)
  await router.guard(() => deny("below"), { match: "lineage.parent == 'größe' && lineage.root == 's0' && lineage.depth > 0" })
  const client = await router.client("agent")
  const permitted = async (options: object) => (await client.agent(options).execute("tool:pre", call)).permitted
  assert.equal(await permitted({ session: "s1" }), true)
  assert.equal(await permitted({ session: "s2", parent: "größe", root: "s0" }), false)
})

test("what is not an event is refused before it is sent", async (t) => {
  const router = await Router.start(t)
  const agent = (await router.client("agent")).agent()
  await assert.rejects(agent.execute("tool.pre", {}), TypeError)
  await assert.rejects(agent.execute("tool:pre", { n: NaN }), TypeError)
  await assert.rejects(agent.execute("tool:pre", [] as never), TypeError)
  await assert.rejects(agent.execute("tool:pre", { text: "x".repeat(5 << 20) }), (error) => error instanceof RouterError && error.code === 413)
  await assert.rejects(agent.execute("tool:pre", { text: "x".repeat(520 << 10) }), (error) => error instanceof RouterError && error.code === 413)
})

for (const [option, permitted] of [["Allow", true], ["Deny", false]] as const) {
  test(`a person answers ${option} while the router is restarted`, async (t) => {
    const router = await Router.start(t)
    await router.guard(() => ask("Deploy?"))
    const pending = happens<Approval>()
    const agent = (await router.client("agent")).agent({ onPending: pending.now })
    const verdict = agent.execute("tool:pre", call)
    const { id, prompt } = await pending.done
    assert.equal(prompt, "Deploy?")
    await router.kill()
    await router.restart()
    await router.decide(await router.raw(), id, option)
    const { permitted: got, approval } = await verdict
    assert.deepEqual([got, approval?.option], [permitted, option])
  })
}

test("nobody who stops waiting is permitted anything", async (t) => {
  const router = await Router.start(t)
  await router.guard(() => ask("Deploy?"))
  const client = await router.client("agent")
  await assert.rejects(client.agent().execute("tool:pre", call, { timeout: 300 }), PendingError)
  const stop = new AbortController()
  await assert.rejects(client.agent({ onPending: () => stop.abort() }).execute("tool:pre", call, { signal: stop.signal }), PendingError)
  await router.kill()
  await assert.rejects(client.agent().execute("tool:pre", call, { timeout: 300 }))
})

test("NATS that is down is an error, at the start and during a call", async (t) => {
  await assert.rejects(connect({ url: "nats://127.0.0.1:1", creds: "" }), UnreachableError)
  const router = await Router.start(t)
  const called = happens()
  await router.guard(async (_, { signal }) => {
    called.now()
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
    return allow()
  }, { timeout_ms: 2000 })
  const agent = (await router.client("agent", { patience: 300 })).agent()
  const verdict = agent.execute("tool:pre", call)
  await called.done
  await Promise.all([router.kill(), assert.rejects(verdict, { message: /NATS is not connected|connection to NATS lost/ })])
})

test("a router that is not there is named, and the time is kept", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const nobody = (await router.client("agent", { prefix: "nobody", patience: 100 })).agent()
  await assert.rejects(nobody.execute("tool:pre", call), NoRouterError)
  await assert.rejects(nobody.emit("tool:pre", call), NoRouterError)
  const nats = await router.raw()
  nats.subscribe("silent.>", { callback: () => undefined })
  await nats.flush()
  const silent = (await router.client("agent", { prefix: "silent" })).agent()
  await assert.rejects(silent.execute("tool:pre", call, { timeout: 100 }), DeadlineError)
})
