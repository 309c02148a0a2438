// Answers calls of hooks. The router gets an answer whatever happens in the handler.

import type { Msg, MsgHdrs } from "@nats-io/transport-node"

import { Code, DisconnectedError, RouterError, reason } from "./errors.js"
import { type JsonObject, isPlain, stringify } from "./json.js"
import { oneLine, unescape } from "./names.js"
import { parse, text } from "./parse.js"
import { type Headers, header } from "./replies.js"
import { encodeResult } from "./reply.js"
import type { HookResult } from "./result.js"
import type { Slots } from "./slots.js"
import type { Transport } from "./transport.js"

/** The event that a handler gets, with its own copy of the data. */
export interface HookEvent {
  name: string
  /** Integers beyond ±2^53 are bigints. */
  data: JsonObject
  id: string
  session: string
  source: string
  time: string
  /**
   * The other attributes. The router adds the authenticated sender (hookemitter, hookrole) and the
   * labels of the session (hooklabels).
   */
  extensions: Record<string, string>
}

/** The context of a call. */
export interface Call {
  /** The id of the hook. */
  hook: string
  /** The id of the chain run, the same for all of its hooks. */
  chainId: string
  /** The id of this call. */
  callId: string
  mode: string
  /** How long the router waits, in milliseconds. */
  timeout: number
  /**
   * Aborted when the router stops waiting, after the timeout or because another hook denied the
   * event.
   */
  signal: AbortSignal
  traceparent: string
  tracestate: string
}

/** Handles one event; null lets it pass. An exception is a failure of the hook, never a denial. */
export type Handler = (event: HookEvent, call: Call) => HookResult | null | Promise<HookResult | null>

/** Returns the contribution to a channel; null for none. */
export type Contributor = (channel: string, call: Call) => unknown

/** The content of a reply: JSON, and the rule that decided. */
export interface Served {
  body: string
  rule?: string | undefined
}

/** Runs a handler on the data of a call. */
export type Serve = (message: Msg, data: JsonObject, call: Call) => Promise<Served>

/** Serves a hook. */
export function serveHook(handler: Handler): Serve {
  return async ({ headers }, data, call) => {
    const attribute = (name: string) => unescape(header(headers, `ce-${name}`))
    const about = { id: attribute("id"), session: attribute("subject"), source: attribute("source"), time: attribute("time") }
    const event = { name: attribute("type"), data, ...about, extensions: extensionsOf(headers) }
    const result = await handler(event, call)
    return { body: valid(encodeResult, result), rule: result?.rule ?? undefined }
  }
}

const known = new Set(["specversion", "id", "source", "type", "subject", "time"])

function extensionsOf(headers: MsgHdrs | undefined): Record<string, string> {
  const found: [string, string][] = []
  for (const key of headers?.keys() ?? []) {
    const name = key.toLowerCase()
    if (name.startsWith("ce-") && !known.has(name.slice(3))) found.push([name.slice(3), unescape(headers?.get(key) ?? "")])
  }
  return Object.fromEntries(found)
}

/** Serves a contributor. */
export function serveContributor(contributor: Contributor): Serve {
  return async (_, { channel }, call) => {
    if (typeof channel !== "string") throw new RouterError(Code.malformed, "the call names no channel")
    return { body: valid(stringify, await contributor(channel, call)) }
  }
}

function valid(encode: (value: unknown) => string, value: unknown): string {
  try {
    return encode(value)
  } catch (error) {
    throw new RouterError(Code.invalidResult, `invalid result: ${reason(error)}`)
  }
}

/**
 * Answers one call. The wait for a slot is part of its timeout. It resolves when the handler is
 * done, and returns the error that it answered, if any.
 */
export async function answer(
  transport: Transport, hook: string, serve: Serve, message: Msg, slots: Slots, aborted: AbortController,
): Promise<RouterError | undefined> {
  let running: Promise<Served> | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    const call = callOf(hook, message, aborted.signal)
    const data = dataOf(message)
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new RouterError(Code.deadline, `the hook had ${call.timeout} ms`)), call.timeout)
    })
    running = slots.take(aborted.signal).then((leave) => serve(message, data, call).finally(leave))
    reply(transport, hook, message, await Promise.race([running, over]), undefined)
    return undefined
  } catch (failure) {
    const error = failure instanceof RouterError ? failure : new RouterError(Code.internal, describe(failure))
    reply(transport, hook, message, { body: "" }, error)
    return error
  } finally {
    clearTimeout(timer)
    aborted.abort()
    await running?.catch(() => undefined)
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : `the hook threw ${String(error)}`
}

function callOf(hook: string, { headers }: Msg, signal: AbortSignal): Call {
  const timeout = header(headers, "Hook-Timeout-Ms")
  if (timeout && !/^[1-9][0-9]{0,15}$/.test(timeout)) {
    throw new RouterError(Code.malformed, `Hook-Timeout-Ms is ${timeout.slice(0, 80)}: a whole number from 1 is needed`)
  }
  return {
    hook,
    chainId: header(headers, "Hook-Chain-Id"),
    callId: header(headers, "Hook-Call-Id"),
    mode: header(headers, "Hook-Mode") || "enforce",
    timeout: timeout ? Math.min(Number(timeout), 30_000) : 5000,
    signal,
    traceparent: header(headers, "traceparent"),
    tracestate: header(headers, "tracestate"),
  }
}

function dataOf(message: Msg): JsonObject {
  try {
    const data = parse(text(message.data))
    if (isPlain(data)) return data as JsonObject
  } catch (error) {
    throw new RouterError(Code.malformed, `the data of the call can't be read: ${reason(error)}`)
  }
  throw new RouterError(Code.malformed, "the data of the call is not a JSON object")
}

/** Sends a reply with the headers that bind it to its request. */
function reply(transport: Transport, hook: string, message: Msg, { body, rule }: Served, error: RouterError | undefined): void {
  if (error) transport.log.warn(`hook ${hook}: no result: ${error.message}`)
  if (!message.reply) return
  const echo: Headers = {}
  for (const name of message.headers?.keys() ?? []) {
    const value = message.headers?.get(name) ?? ""
    if (/^hook-(nonce|call-id)$/i.test(name) && value.length <= 128) echo[name] = value
  }
  if (rule) echo["Hook-Rule"] = oneLine(rule, 250)
  try {
    transport.publish(message.reply, new TextEncoder().encode(body), error ? { ...echo, ...headersOf(error) } : echo)
  } catch (failure) {
    if (error || failure instanceof DisconnectedError) {
      transport.log.warn(`hook ${hook}: its reply was lost: ${reason(failure)}`)
      return
    }
    // The reply exceeds the server's limit: report that instead.
    reply(transport, hook, message, { body: "" }, failure instanceof RouterError ? failure : new RouterError(Code.internal, reason(failure)))
  }
}

function headersOf(error: RouterError): Headers {
  return { "Nats-Service-Error-Code": String(error.code), "Nats-Service-Error": oneLine(error.text) || "it failed" }
}
