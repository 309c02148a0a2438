// Replies that are not the router's, or not what was approved.

import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { test } from "node:test"

import { type Msg, type MsgHdrs, headers } from "@nats-io/transport-node"

import { ImpostorError, InvalidReplyError, NotPermittedError, OtherDataError, connect } from "../src/index.js"
import { Router } from "./router.js"

const permission = '{"action":"continue","data":{},"injected_tokens":0}'

/** The headers of a reply, with what the request sent unless others are given. */
function reply(request: Msg, other: Record<string, string> = {}): { headers: MsgHdrs } {
  const all = headers()
  const own = { "Hook-Nonce": request.headers?.get("Hook-Nonce") ?? "", "Hook-Event-Id": request.headers?.get("ce-id") ?? "" }
  for (const [name, value] of Object.entries({ ...own, ...other })) all.set(name, value)
  return { headers: all }
}

async function agentOf(router: Router, answer: (request: Msg) => void) {
  const nats = await router.raw()
  nats.subscribe("fake.execute.>", { callback: (_, request) => answer(request) })
  await nats.flush()
  return (await router.client("agent", { prefix: "fake", patience: 100 })).agent()
}

test("replies that do not repeat the nonce or name another event are dropped", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const agent = await agentOf(router, (request) => {
    request.respond(permission)
    request.respond(permission, reply(request, { "Hook-Nonce": "guessed" }))
    request.respond(permission, reply(request, { "Hook-Event-Id": "another" }))
    request.respond("", reply(request, { "Hook-Nonce": "guessed", "Nats-Service-Error-Code": "503" }))
    request.respond('{"action":"deny","reason":"the router","injected_tokens":0}', reply(request))
  })
  const { permitted, reason } = await agent.execute("tool:pre", {})
  assert.deepEqual([permitted, reason], [false, "the router"])
})

test("data that was not approved is refused", async (t) => {
  const router = await Router.start(t, "--auth=off")
  const approved = '{"n": 1.0, "s":"\\u0061"}'
  const digest = createHash("sha256").update(approved).digest("hex")
  let data = approved
  const agent = await agentOf(router, (request) => {
    request.respond(`{"action":"continue", "data" : ${data} ,"approval":{"id":"a","data_sha256":"${digest}"},"injected_tokens":0}`, reply(request))
  })
  const { permitted, data: got } = await agent.execute("tool:pre", {})
  assert.deepEqual([permitted, got], [true, { n: 1, s: "a" }])
  data = '{"n": 2.0, "s":"\\u0061"}'
  await assert.rejects(agent.execute("tool:pre", {}), OtherDataError)
})

test("what is not a verdict permits nothing", async (t) => {
  const router = await Router.start(t, "--auth=off")
  let body = ""
  const agent = await agentOf(router, (request) => request.respond(body, reply(request)))
  for (body of [
    "", "null", "[]", "{}", '{"action":"allow"}', '{"action":"pending"}', '{"action":"continue","data":[]}', '{"action":"deny","action":"continue"}',
    '{"action":"continue","messages":[{"role":"tool","content":"x"}]}', '{"action":"continue","context_injections":[{"role":"tool","content":"x"}]}', '{"action":"continue","injected_tokens":"0"}', "\ufeff" + permission,
    '{"action":"continue","approval":{"data_sha256":7}}',
  ]) {
    await assert.rejects(agent.execute("tool:pre", {}), InvalidReplyError, body)
  }
})

test("what NATS does not permit fails at once", async (t) => {
  const router = await Router.start(t)
  const client = await connect({ url: router.url, creds: router.creds("worker") })
  t.after(() => client.close())
  await assert.rejects(client.agent().execute("tool:pre", {}, { timeout: 3_600_000 }), NotPermittedError)
})

test("a program that took the router's port is not believed", async (t) => {
  const router = await Router.start(t)
  const impostor = await Router.start(t, "--auth=off")
  const nats = await impostor.raw()
  nats.subscribe("taken.prove", { callback: (_, request) => void request.respond("A".repeat(86) + "==") })
  nats.subscribe("taken.execute.>", { callback: (_, request) => void request.respond(permission, reply(request)) })
  await nats.flush()
  const client = await connect({ url: impostor.url, creds: router.creds("agent"), prefix: "taken" })
  t.after(() => client.close())
  await assert.rejects(client.agent().execute("tool:pre", {}), ImpostorError)
})
