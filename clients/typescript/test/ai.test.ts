// The adapter with the real SDK, against a scripted model.

import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"

import { type Tool, generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai"
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test"
import { z } from "zod"

import { guard } from "../src/ai.js"
import { type Approval, type HookEvent, type HookResult, allow, ask, deny, inject, modify } from "../src/index.js"
import { Router } from "./router.js"

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** A model that calls bash once and finishes when it gets the result. */
function script() {
  const calls = { type: "tool-call" as const, toolCallId: "c1", toolName: "bash", input: '{"command":"ls"}' }
  const content = (prompt: { role: string }[]) => (prompt.some((message) => message.role === "tool") ? { type: "text" as const, text: "done" } : calls)
  const finishReason = (type: string) => (type === "text" ? { unified: "stop" as const, raw: "stop" } : { unified: "tool-calls" as const, raw: "tool_calls" })
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const part = content(prompt)
      return { content: [part], finishReason: finishReason(part.type), usage, warnings: [] }
    },
    doStream: async ({ prompt }) => {
      const part = content(prompt)
      const parts = part.type === "text" ? [{ type: "text-start" as const, id: "1" }, { type: "text-delta" as const, id: "1", delta: part.text }, { type: "text-end" as const, id: "1" }] : [part]
      return { stream: convertArrayToReadableStream([{ type: "stream-start" as const, warnings: [] }, ...parts, { type: "finish" as const, finishReason: finishReason(part.type), usage }]) }
    },
  })
}

/** Runs one turn of an agent with a tool whose calls it returns, next to what the model was sent. */
async function turn(t: TestContext, hook: (event: HookEvent) => HookResult, decide?: string, streamed = false) {
  const router = await Router.start(t)
  await router.guard(hook, { events: ["prompt:submit", "tool:pre", "tool:post"] })
  const nats = await router.raw()
  const onPending = ({ id }: Approval) => void router.decide(nats, id, decide ?? "")
  const agent = (await router.client("agent", { patience: 200 })).agent({ session: "s1", onPending })
  const ran: string[] = []
  const bash = tool({
    description: "Runs a command.",
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => {
      ran.push(command)
      return `ran ${command}`
    },
  })
  const shown: string[] = []
  const { tools, middleware } = guard(agent, { bash }, { onVerdict: ({ display }) => shown.push(...display.map(({ message }) => message)) })
  const model = script()
  const settings = { model: wrapLanguageModel({ model, middleware }), tools, prompt: "list files", stopWhen: isStepCount(5) }
  const run = async () => (streamed ? await streamText({ ...settings, onError() {} }).text : (await generateText(settings)).text)
  const sent = () => (streamed ? model.doStreamCalls : model.doGenerateCalls).map(({ prompt }) => JSON.stringify(prompt))
  return { router, ran, run, sent, shown }
}

const on = (name: string, result: (event: HookEvent) => HookResult) => (event: HookEvent) => (event.name === name ? result(event) : allow())

for (const streamed of [false, true]) {
  const how = streamed ? " (streamed)" : ""

  test(`pass${how}`, async (t) => {
    const { ran, run, sent } = await turn(t, allow, undefined, streamed)
    assert.equal(await run(), "done")
    assert.deepEqual(ran, ["ls"])
    assert.match(sent()[1] ?? "", /ran ls/)
  })

  test(`deny: the tool does not run, and the model hears why${how}`, async (t) => {
    const hook = on("tool:pre", () => ({ ...deny("not that"), user_message: "it tried" }))
    const { ran, run, sent, shown } = await turn(t, hook, undefined, streamed)
    assert.equal(await run(), "done")
    assert.deepEqual([ran, shown], [[], ["it tried"]])
    assert.match(sent()[1] ?? "", /denied: not that/)
  })

  test(`modify: the tool gets other input${how}`, async (t) => {
    const { ran, run } = await turn(t, on("tool:pre", ({ data }) => modify({ ...data, tool_input: { command: "echo" } })), undefined, streamed)
    await run()
    assert.deepEqual(ran, ["echo"])
  })

  test(`inject: the text is in the next request, and in those after it${how}`, async (t) => {
    const { run, sent } = await turn(t, (event) => inject(`after ${event.name}`), undefined, streamed)
    await run()
    assert.match(sent()[0] ?? "", /after prompt:submit/)
    assert.doesNotMatch(sent()[0] ?? "", /after tool:pre/)
    assert.match(sent()[1] ?? "", /list files.*after prompt:submit.*ran ls.*after tool:pre.*after tool:post/)
  })

  test(`ask yes${how}`, async (t) => {
    const { ran, run } = await turn(t, on("tool:pre", () => ask("List?")), "Allow", streamed)
    await run()
    assert.deepEqual(ran, ["ls"])
  })

  test(`ask no${how}`, async (t) => {
    const { ran, run, sent } = await turn(t, on("tool:pre", () => ask("List?")), "Deny", streamed)
    await run()
    assert.deepEqual(ran, [])
    assert.match(sent()[1] ?? "", /User denied: List\?/)
  })

  test(`router dead: nothing is sent to the model, and no tool runs${how}`, async (t) => {
    const { router, ran, run, sent } = await turn(t, allow, undefined, streamed)
    await router.kill()
    await assert.rejects(run())
    assert.deepEqual([ran, sent()], [[], []])
  })
}

test("router dead before a tool: it does not run, and the model hears why", async (t) => {
  const router = await Router.start(t)
  const agent = (await router.client("agent", { patience: 200 })).agent()
  const ran: string[] = []
  const bash = tool({ inputSchema: z.object({ command: z.string() }), execute: ({ command }) => void ran.push(command) })
  const { tools } = guard(agent, { bash })
  await router.kill()
  const model = script()
  const { text } = await generateText({ model, tools, prompt: "list files", stopWhen: isStepCount(5) })
  assert.deepEqual([text, ran], ["done", []])
  assert.match(JSON.stringify(model.doGenerateCalls[1]?.prompt), /NATS is not connected|connection to NATS lost|no answer/)
})

test("a denied result does not reach the model, a masked one does", async (t) => {
  const denied = await turn(t, on("tool:post", () => deny("secret")))
  await denied.run()
  assert.deepEqual(denied.ran, ["ls"])
  assert.doesNotMatch(denied.sent()[1] ?? "", /ran ls/)
  const masked = await turn(t, on("tool:post", ({ data }) => modify({ ...data, tool_result: { output: "masked" } })))
  await masked.run()
  assert.doesNotMatch(masked.sent()[1] ?? "", /ran ls/)
  assert.match(masked.sent()[1] ?? "", /masked/)
})

test("a tool's toModelOutput gets only what hooks could see", async (t) => {
  const router = await Router.start(t)
  const seen: unknown[] = []
  await router.guard((event) => (seen.push(event.data.tool_result), allow()), { events: ["tool:post"] })
  const agent = (await router.client("agent")).agent()
  const secrets = [new Map([["a", "secret"]]), { rows: new Set(["secret"]) }, new Error("secret"), new URLSearchParams({ a: "secret" }), { text: () => "secret" }]
  for (const result of [{ text: "fine" }, ...secrets]) {
    const shown: unknown[] = []
    const bash = tool({
      inputSchema: z.object({ command: z.string() }),
      execute: (): unknown => result,
      toModelOutput: ({ output }) => ({ type: "text", value: String(shown.push(output)) }),
    })
    const model = script()
    await generateText({ model, tools: guard(agent, { bash }).tools, prompt: "list files", stopWhen: isStepCount(5) })
    const sent = JSON.stringify(model.doGenerateCalls[1]?.prompt)
    assert.equal(shown.includes(result), !secrets.includes(result as never))
    assert.equal(sent.includes("withheld"), secrets.includes(result as never))
  }
  assert.ok(!JSON.stringify(seen).includes("secret"))
})

test("input that the tool does not take, or another tool, does not run", async (t) => {
  for (const change of [{ tool_input: { command: 7 } }, { tool_input: "ls" }, { tool_name: "rm" }]) {
    const { ran, run } = await turn(t, on("tool:pre", ({ data }) => modify({ ...data, ...change })))
    assert.equal(await run(), "done")
    assert.deepEqual(ran, [])
  }
})

test("prompts: a denied one is not sent, a changed one is", async (t) => {
  const denied = await turn(t, on("prompt:submit", () => deny("no")))
  await assert.rejects(denied.run(), { name: "DeniedError" })
  assert.deepEqual(denied.sent(), [])
  const changed = await turn(t, on("prompt:submit", () => modify({ prompt: "masked" })))
  await changed.run()
  assert.ok(changed.sent().every((prompt) => prompt.includes("masked") && !prompt.includes("list files")))
})

test("what hooks inject may be a message of the user; what is ephemeral is sent once, joined to the result where it asks for that", async (t) => {
  const router = await Router.start(t)
  await router.guard((event) => ({ ...inject(`after ${event.name}`), ephemeral: true, append_to_last_tool_result: event.name === "tool:post" }), {
    events: ["prompt:submit", "tool:post"],
  })
  const agent = (await router.client("agent")).agent()
  const bash = tool({ inputSchema: z.object({ command: z.string() }), execute: ({ command }) => `ran ${command}` })
  const { tools, middleware } = guard(agent, { bash }, { injectAs: "user" })
  const model = script()
  await generateText({ model: wrapLanguageModel({ model, middleware }), tools, prompt: "list files", stopWhen: isStepCount(5) })
  const [first, second] = model.doGenerateCalls.map(({ prompt }) => prompt)
  assert.deepEqual(first?.map(({ role }) => role), ["user", "user"])
  assert.deepEqual(second?.map(({ role }) => role), ["user", "assistant", "tool"])
  assert.match(JSON.stringify(second), /ran ls\\n\\nafter tool:post/)
})

test("what one hook has sent once does not make another hook's text go away", async (t) => {
  const router = await Router.start(t)
  await router.guard(() => ({ ...inject("to forget"), ephemeral: true }), { events: ["prompt:submit"] })
  await router.guard(() => inject("to keep"), { id: "keeps", priority: 1, events: ["prompt:submit"] })
  const agent = (await router.client("agent")).agent()
  const bash = tool({ inputSchema: z.object({ command: z.string() }), execute: ({ command }) => `ran ${command}` })
  const { tools, middleware } = guard(agent, { bash })
  const model = script()
  await generateText({ model: wrapLanguageModel({ model, middleware }), tools, prompt: "list files", stopWhen: isStepCount(5) })
  const [first, second] = model.doGenerateCalls.map(({ prompt }) => JSON.stringify(prompt))
  assert.match(first ?? "", /to keep.*to forget/)
  assert.match(second ?? "", /to keep/)
  assert.doesNotMatch(second ?? "", /to forget/)
})

test("tools that can't be stopped are refused, unless they are named", () => {
  const tools = { remote: tool({ inputSchema: z.object({}) }) as Tool }
  assert.throws(() => guard(null as never, tools), TypeError)
  assert.equal(guard(null as never, tools, { ungated: ["remote"] }).tools.remote, tools.remote)
})

for (const [name, result, seen] of [
  ["denied", () => deny("no errors"), /denied: no errors/],
  ["changed", (event: HookEvent) => modify({ ...event.data, tool_result: { output: "MASKED" } }), /"value":"MASKED"/],
  ["passed", () => allow(), /Error: SECRET/],
] as [string, (event: HookEvent) => HookResult, RegExp][]) {
  test(`the text of an error is judged as a result: ${name}`, async (t) => {
    const router = await Router.start(t)
    const judged: unknown[] = []
    const hook = on("tool:post", (event) => {
      judged.push([event.data.success, event.data.tool_result])
      return result(event)
    })
    await router.guard(hook, { events: ["tool:post"] })
    const agent = (await router.client("agent", { patience: 200 })).agent({ session: "s1" })
    const bash = tool({
      inputSchema: z.object({ command: z.string() }),
      execute: async (): Promise<string> => {
        throw new Error("SECRET")
      },
    })
    const { tools, middleware } = guard(agent, { bash })
    const model = script()
    await generateText({ model: wrapLanguageModel({ model, middleware }), tools, prompt: "list files", stopWhen: isStepCount(5) })
    const sent = JSON.stringify(model.doGenerateCalls[1]?.prompt)
    assert.match(sent, seen)
    assert.equal(sent.includes("SECRET"), name === "passed")
    assert.deepEqual(judged, [[false, { output: "Error: SECRET" }]])
  })
}
