import assert from "node:assert/strict"
import { test } from "node:test"

import { headers } from "@nats-io/transport-node"

import { type Registration, allow, deny } from "../src/index.js"
import { Router, happens } from "./router.js"

test("a result names its rule in a header", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const rules = ["policy.ts:12 no-push", "two\r\nHook-Nonce: lines", "ü".repeat(200), undefined]
  const worker = (await router.client("worker")).worker()
  await worker.register({ id: "a", events: ["e"] }, () => ({ ...deny("no"), rule: rules.shift() ?? null }))
  const nats = await router.raw()
  const header = headers()
  header.set("ce-type", "e")
  const replies = []
  for (const _ of [1, 2, 3, 4]) replies.push(await nats.request("hooks.call.a", "{}", { headers: header, timeout: 5000 }))
  const named = replies.map((reply) => reply.headers?.get("Hook-Rule") ?? "")
  assert.deepEqual(named.slice(0, 2), ["policy.ts:12 no-push", "two  Hook-Nonce: lines"])
  assert.ok(Buffer.byteLength(named[2] ?? "") <= 256)
  assert.equal(named[3], "")
  assert.ok(replies.every((reply) => reply.string() === '{"action":"deny","reason":"no"}'))
})

test("a call in vain is told so", async (t) => {
  const router = await Router.start(t)
  const worker = (await router.client("worker")).worker()
  const waiting = happens()
  const ended = happens<unknown>()
  const options: Omit<Registration, "id"> = { events: ["e"], effect: "validate", on_failure: "deny", timeout_ms: 30_000 }
  await worker.register({ id: "first", ...options }, async () => {
    await waiting.done
    return deny("no")
  })
  await worker.register({ id: "second", priority: 1, ...options }, async (_, { signal }) => {
    waiting.now()
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
    ended.now(signal.reason)
    return allow()
  })
  const agent = (await router.client("agent")).agent()
  assert.equal((await agent.execute("e", {})).run.deniedBy, "first")
  assert.match(String(await ended.done), /the router discarded this call/)
  assert.equal((await agent.execute("e", {})).run.deniedBy, "first")
})

test("workers are found, and say what they did", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const worker = (await router.client("worker")).worker({ name: "my-hooks", version: "1.2.3" })
  await worker.register({ id: "a", events: ["e"] }, allow)
  await worker.register({ id: "b", events: ["e"], priority: 1 }, () => {
    throw new Error("boom")
  })
  await (await router.client("agent")).agent().emit("e", {})
  const nats = await router.raw()
  const ask = async (subject: string) => (await nats.request(subject, "", { timeout: 5000 })).json<Record<string, never>>()
  const ping = await ask("$SRV.PING.my-hooks")
  assert.deepEqual([ping.type, ping.name, ping.version], ["io.nats.micro.v1.ping_response", "my-hooks", "1.2.3"])
  const info = (await ask(`$SRV.INFO.my-hooks.${ping.id}`)) as unknown as { endpoints: unknown[] }
  assert.deepEqual(info.endpoints, ["a", "b"].map((id) => ({ name: id, subject: `hooks.call.${id}`, queue_group: id })))
  const stats = (await ask("$SRV.STATS.my-hooks")) as unknown as { endpoints: { num_requests: number; num_errors: number; data: object }[] }
  assert.deepEqual(
    stats.endpoints.map((one) => [one.num_requests, one.num_errors, one.data]),
    [
      [1, 0, { refused: {}, dropped_no_inbox: 0 }],
      [1, 1, { refused: { 500: 1 }, dropped_no_inbox: 0 }],
    ],
  )
  await worker.close()
  await assert.rejects(ask("$SRV.PING.my-hooks"))
})
