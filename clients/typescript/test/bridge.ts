// Runs the scripted hooks of the conformance suite with this package, as test/conformance/hooks.go says.

import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

import { type Call, type Client, type HookResult, type Json, type JsonObject, type Registration, type Worker, connect, parse, stringify } from "../src/index.js"

interface Behavior {
  return?: Json
  return_raw?: Json
  return_text?: string
  return_empty?: boolean
  error?: string
  set?: JsonObject
  remove?: string
  increment?: string
  append?: { key: string; value: Json }
  mutate?: JsonObject
  value?: Json
  sequence?: Behavior[]
  sleep_ms?: number
}

interface Command {
  n: number
  op: "register" | "unregister" | "quiet"
  prefix: string
  id: string
  on: boolean
  registration: Registration
  behavior: Behavior
}

class Lane {
  quiet = false

  constructor(
    readonly client: Client,
    readonly worker: Worker,
  ) {}

  async do(command: Command): Promise<void> {
    const { op, registration, behavior } = command
    if (op === "quiet") this.quiet = command.on
    else if (op === "unregister") await this.worker.retire(command.id)
    else if (registration.channels) {
      const next = this.script(behavior)
      await this.worker.contribute(registration, (_, call) => answer(next(call), {}))
    } else {
      const next = this.script(behavior)
      await this.worker.register(registration, (event, call) => answer(next(call), event.data) as Promise<HookResult | null>)
    }
  }

  /** Returns what a hook does with its next call; an unscripted one where it is quiet. */
  private script(behavior: Behavior): (call: Call) => Behavior {
    let served = 0
    return (call) => {
      if (this.quiet || call.mode === "observe") return {}
      const all = behavior.sequence
      if (!all) return behavior
      const one = all[Math.min(served++, all.length - 1)] ?? {}
      return { ...one, sleep_ms: (one.sleep_ms ?? 0) + (behavior.sleep_ms ?? 0) }
    }
  }
}

async function answer(behavior: Behavior, data: JsonObject): Promise<unknown> {
  if (behavior.sleep_ms) await sleep(behavior.sleep_ms)
  if (behavior.error !== undefined) throw new Error(behavior.error)
  for (const key of ["return", "return_raw", "return_text", "value"] as const) {
    if (behavior[key] !== undefined) return behavior[key]
  }
  if (behavior.mutate) {
    Object.assign(data, behavior.mutate)
    return { action: "continue" }
  }
  const changed = change(behavior, data)
  return changed ? { action: "modify", data: changed } : null
}

function change(behavior: Behavior, data: JsonObject): JsonObject | undefined {
  const { set, remove, increment, append } = behavior
  if (set) return { ...data, ...set }
  if (remove !== undefined) return Object.fromEntries(Object.entries(data).filter(([name]) => name !== remove))
  if (increment !== undefined) return { ...data, [increment]: plusOne(data[increment]) }
  if (append) {
    const list = data[append.key]
    return { ...data, [append.key]: [...(Array.isArray(list) ? list : []), append.value] }
  }
  return undefined
}

function plusOne(value: Json | undefined): Json {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) return BigInt(value) + 1n
  return 1
}

const lanes = new Map<string, Promise<Lane>>()

function lane(prefix: string): Promise<Lane> {
  let found = lanes.get(prefix)
  if (!found) {
    found = connect({ prefix, role: "worker" }).then((client) => new Lane(client, client.worker()))
    lanes.set(prefix, found)
  }
  return found
}

async function obey(command: Command): Promise<void> {
  let error: string | undefined
  try {
    await (await lane(command.prefix)).do(command)
  } catch (failure) {
    error = String(failure)
  }
  process.stdout.write(`${stringify({ n: command.n, error })}\n`)
}

for await (const line of createInterface({ input: process.stdin })) void obey(parse(line) as unknown as Command)
for (const one of lanes.values()) {
  const { client, worker } = await one
  await worker.close()
  await client.close()
}
