import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { test } from "node:test"
import { fileURLToPath } from "node:url"

import { type Msg, createInbox, headers } from "@nats-io/transport-node"

import { type Handler, type HookResult, RouterError, allow, ask, deny, runTool } from "../src/index.js"
import { encodeResult } from "../src/reply.js"
import { Router, happens } from "./router.js"

const wrong: Record<string, Handler> = {
  throws: () => {
    throw new Error("broken")
  },
  rejects: () => Promise.reject(new Error("broken")),
  "throws nothing": () => {
    throw undefined
  },
  "returns undefined": (() => undefined) as unknown as Handler,
  "returns true": (() => true) as unknown as Handler,
  "returns a text": (() => "continue") as unknown as Handler,
  "returns a list": (() => []) as unknown as Handler,
  "returns an error": (() => new Error("denied")) as unknown as Handler,
  "returns a map": (() => new Map([["action", "deny"]])) as unknown as Handler,
  "misspells the action": (() => ({ actoin: "deny" })) as unknown as Handler,
  "has an action that is undefined": (() => ({ action: undefined, reason: "x" })) as unknown as Handler,
  "has an action that is none": (() => ({ action: "allow" })) as unknown as Handler,
  "has a reason that is a number": (() => ({ action: "continue", reason: 1 })) as unknown as Handler,
  "forgot an await": (() => ({ action: "modify", data: { tool: Promise.resolve(1) } })) as unknown as Handler,
  "changes a number to NaN": ({ data }) => ({ action: "modify", data: { ...data, n: NaN } }),
  "answers 5 MB": () => ({ action: "modify", data: { text: "x".repeat(5 << 20) } }),
  "answers more than the router takes": () => ({ action: "modify", data: { text: "x".repeat(600 << 10) } }),
  "answers too late": () => new Promise((resolve) => setTimeout(() => resolve(allow()), 300)),
}

test("a hook that gives no result fails, and its registration says what that means", async (t) => {
  const router = await Router.start(t)
  await router.guard((event, call) => (wrong[String(event.data.how)] as Handler)(event, call), { timeout_ms: 250 })
  await router.guard((event, call) => (wrong[String(event.data.how)] as Handler)(event, call), { id: "open", events: ["tool:post"], on_failure: "continue", timeout_ms: 250 })
  const agent = (await router.client("agent")).agent()
  for (const how of Object.keys(wrong)) {
    const { permitted, run } = await agent.execute("tool:pre", { how })
    assert.deepEqual([permitted, run.deniedBy], [false, "guard"], how)
    const open = await agent.execute("tool:post", { how })
    assert.deepEqual([open.permitted, open.run.failedOpen], [true, ["open"]], how)
  }
})

test("an answer that is too large still denies", async (t) => {
  const router = await Router.start(t)
  const long = "é".repeat(300_000)
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const answers: Record<string, [HookResult, string, number]> = {
    "a denial": [deny(`no: ${long}`), "no: éé", 5000],
    "a denial with a message": [{ ...deny("no"), user_message: long }, "no", 2],
    "a denial with data": [{ ...deny("no"), data: { long } }, "no", 2],
    "a denial with data that is no JSON": [{ ...deny("no"), data: { n: NaN } }, "no", 2],
    "a denial with data that contains itself": [{ ...deny("no"), data: cyclic }, "no", 2],
    "a question": [ask(`Run ${long}?`), "The hook's answer has 600", 100],
    "a question with a key": [{ action: "ask_user", approval_key: long }, "The hook's answer has 600", 100],
    "a result with labels": [{ labels: ["untrusted"], user_message: long }, "The hook's answer has 600", 100],
  }
  await router.guard((event) => answers[String(event.data.how)]?.[0] ?? allow(), { on_failure: "continue" })
  const agent = (await router.client("agent")).agent({ session: "s" })
  for (const [how, [, begins, most]] of Object.entries(answers)) {
    const { reason, run } = await agent.execute("tool:pre", { how })
    assert.deepEqual([run.deniedBy, run.failedOpen], ["guard", []], how)
    assert.ok(reason.startsWith(begins) && Buffer.byteLength(reason) <= most, `${how}: ${reason.slice(0, 100)}`)
  }
})

test("an error that an event can't hold is reported", async (t) => {
  const router = await Router.start(t)
  const seen: string[] = []
  await router.guard(({ data }) => {
    seen.push(String((data.error as { message: string }).message).slice(0, 6))
    return { labels: ["untrusted"] }
  }, { events: ["tool:error"] })
  const agent = (await router.client("agent")).agent({ session: "s" })
  for (const text of ["x".repeat(600_000), "half \ud83d"]) {
    await assert.rejects(runTool(agent, { tool_name: "Fetch", tool_input: {} }, () => Promise.reject(new Error(text))))
  }
  assert.deepEqual(seen, ["xxxxxx", "half \ufffd"])
})

test("a result that hooks can't see is withheld", async (t) => {
  const router = await Router.start(t)
  const agent = (await router.client("agent")).agent({ session: "s" })
  async function* later() {
    yield "secret"
  }
  for (const result of [later(), new Map([["a", "secret"]]), { rows: new Set(["secret"]) }, new Error("secret"), () => "secret"]) {
    await assert.rejects(runTool(agent, { tool_name: "Fetch", tool_input: {} }, () => result), /its result is withheld/)
  }
  for (const result of [undefined, { at: new Date(0), of: [new Uint8Array(1), null] }]) {
    assert.equal(await runTool(agent, { tool_name: "Fetch", tool_input: {} }, () => result), result)
  }
})

test("null and {} let an event pass", () => {
  assert.deepEqual([encodeResult(null), encodeResult({}), encodeResult(allow())], ["null", "{}", '{"action":"continue"}'])
})

test("a hook that blocks its event loop is not waited for, and answers again", async (t) => {
  const router = await Router.start(t)
  const child = fork(fileURLToPath(new URL("blocking.js", import.meta.url)), { env: { NATS_URL: router.url, NATS_CREDS: router.creds("worker") } })
  t.after(() => child.kill("SIGKILL"))
  await once(child, "message")
  const agent = (await router.client("agent")).agent()
  assert.equal((await agent.execute("tool:pre", { block: 600 })).permitted, false)
  for (;;) if ((await agent.execute("tool:pre", { block: 0 })).permitted) break
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  assert.deepEqual(await ended, [0, null])
  assert.equal((await agent.execute("tool:pre", { block: 0 })).permitted, false) // it is durable
})

test("a hook comes back by itself after its router was killed", async (t) => {
  const router = await Router.start(t)
  await router.guard(() => deny("no"), { on_failure: "continue" })
  const agent = (await router.client("agent", { patience: 10_000 })).agent()
  await router.kill()
  await router.restart()
  for (;;) if (!(await agent.execute("tool:pre", {})).permitted) break
})

test("a worker that closes answers what it has taken, and leaves", async (t) => {
  const router = await Router.start(t)
  const called = happens()
  const release = happens<HookResult>()
  const worker = await router.guard(() => {
    called.now()
    return release.done
  }, { on_failure: "continue" })
  const agent = (await router.client("agent")).agent()
  const verdict = agent.execute("tool:pre", {})
  await called.done
  const closed = worker.close()
  release.now(deny("said at last"))
  await closed
  assert.equal((await verdict).reason, "said at last")
  const { permitted, run } = await agent.execute("tool:pre", {})
  assert.deepEqual([permitted, run.hooks], [true, 0])
  await assert.rejects(worker.register({ id: "late", events: ["*"] }, allow))
})

test("a registration that can't be is refused", async (t) => {
  const router = await Router.start(t)
  const worker = (await router.client("worker")).worker()
  await assert.rejects(worker.register({ id: "A", events: ["*"] }, allow), TypeError)
  await assert.rejects(worker.register({ id: "a", events: [] }, allow), TypeError)
  await assert.rejects(worker.register({ id: "a", events: ["a b"] }, allow), TypeError)
  await assert.rejects(worker.register({ id: "a", events: ["*"], onFailure: "deny" } as never, allow), TypeError)
  await assert.rejects(worker.register({ id: "a", events: ["*"], match: "1 +" }, allow), RouterError)
  await worker.register({ id: "a", events: ["*"] }, allow)
  await assert.rejects(worker.register({ id: "a", events: ["*"] }, allow))
})

test("calls: the nonce and the id of the call come back, and only inboxes are answered", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const worker = (await router.client("worker")).worker()
  await worker.register({ id: "guard", events: ["tool:pre"] }, () => deny("no"))
  const nats = await router.raw()
  const header = headers()
  for (const [name, value] of [["Hook-Nonce", "n"], ["hook-call-id", "c"], ["ce-type", "tool:pre"]] as const) header.set(name, value)
  const inbox = createInbox()
  const answers: string[] = []
  const got = happens<Msg>()
  nats.subscribe("victim", { callback: () => void answers.push("victim") })
  nats.subscribe(inbox, { callback: (_, message) => got.now(message) })
  nats.publish("hooks.call.guard", "{}", { headers: header, reply: "victim" })
  nats.publish("hooks.call.guard", "{}", { headers: header, reply: inbox })
  const { headers: echoed } = await got.done
  await nats.flush()
  assert.deepEqual([echoed?.get("Hook-Nonce"), echoed?.get("hook-call-id"), answers], ["n", "c", []])
})

test("registrations name protocol 2 and renew themselves; who is replaced hears of it", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const nats = await router.raw()
  const bodies: { instance: string; protocol: number }[] = []
  const renewed = happens()
  nats.subscribe("fake.register.guard", {
    callback: (_, request) => {
      bodies.push(request.json())
      const header = headers()
      header.set("Hook-Nonce", request.headers?.get("Hook-Nonce") ?? "")
      request.respond(JSON.stringify({ id: "guard", ttl_ms: 90, ignored: ["tomorrow"], ...(bodies.length > 1 && { in_force: { id: "guard", mode: "shadow" } }) }), { headers: header })
      if (bodies.length === 4) renewed.now()
    },
  })
  await nats.flush()
  const replaced: unknown[] = []
  const errors: string[] = []
  const log = { info: () => undefined, warn: () => undefined, error: (text: string) => void errors.push(text) }
  const worker = (await router.client("worker", { prefix: "fake", log })).worker({ onReplaced: (hook, { mode }) => replaced.push([hook, mode]) })
  await worker.register({ id: "guard", events: ["tool:pre"] }, allow)
  await renewed.done
  assert.equal(new Set(bodies.map((body) => body.instance)).size, 1)
  assert.ok(bodies.every((body) => body.protocol === 2))
  assert.deepEqual(replaced, [["guard", "shadow"]])
  assert.equal(errors.filter((text) => text.includes("does not know tomorrow")).length, 1)
  await assert.rejects(worker.close()) // nobody answers unregister
})

test("calls beyond the limit wait for their turn", async (t) => {
  const router = await Router.start(t)
  const worker = (await router.client("worker")).worker({ maxInFlight: 1 })
  let running = 0
  await worker.register({ id: "one", events: ["tool:pre"], on_failure: "deny" }, async () => {
    const alone = ++running === 1
    await new Promise(setImmediate)
    running--
    return alone ? allow() : deny("not alone")
  })
  const agent = (await router.client("agent")).agent()
  const all = await Promise.all(Array.from({ length: 20 }, () => agent.execute("tool:pre", {})))
  assert.ok(all.every((x) => x.permitted))
})

test("a call that waits for its turn fails when its time is over, and its handler does not run", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const worker = (await router.client("worker")).worker({ maxInFlight: 1 })
  const [hung, release, last] = [happens(), happens(), happens()]
  const ran: unknown[] = []
  await worker.register({ id: "one", events: ["tool:pre"] }, async ({ data }) => {
    ran.push(data.n)
    if (data.n === 3) last.now()
    if (data.n === 1) {
      hung.now()
      await release.done
    }
    return allow()
  })
  const nats = await router.raw()
  const call = async (n: number) => {
    const header = headers()
    header.set("Hook-Timeout-Ms", "100")
    const reply = await nats.request("hooks.call.one", JSON.stringify({ n }), { headers: header, timeout: 5000 })
    return reply.headers?.get("Nats-Service-Error-Code") ?? ""
  }
  const first = call(1)
  await hung.done
  assert.equal(await call(2), "504") // the first still runs
  release.now()
  assert.deepEqual([await first, await call(3)], ["504", ""])
  await last.done
  assert.deepEqual(ran, [1, 3])
})

test("a hook hears who sent the event, and what the session has seen", async (t) => {
  const router = await Router.start(t)
  const heard: Record<string, string>[] = []
  await router.guard(({ extensions }) => {
    heard.push(extensions)
    return { action: "continue", labels: ["secret"] }
  })
  const agent = (await router.client("agent")).agent({ session: "s1", parent: "s 0" })
  for (let n = 0; n < 2; n++) assert.ok((await agent.execute("tool:pre", {})).permitted)
  assert.match(heard[0]?.hookemitter ?? "", /^nats /)
  assert.deepEqual([heard[1]?.hooklabels, heard[1]?.hookparent, heard[1]?.id], ["secret", "s 0", undefined])
})

test("a registration says whose approval it takes", async (t) => {
  const router = await Router.start(t)
  const asking = ask("Deploy?")
  await router.guard(() => asking, { approval: { approvers: [{ group: "strangers", count: 2 }], exclude_requester: true } })
  const { permitted, reason } = await (await router.client("agent")).agent().execute("tool:pre", {})
  assert.equal(permitted, false)
  assert.match(reason, /no group "strangers"/)
})
