// Runs a tool call with its hooks: tool:pre, the tool, and tool:post or tool:error.

import type { Agent, SendOptions } from "./agent.js"
import { HookRouterError } from "./errors.js"
import { isPlain, stringify } from "./json.js"
import { shorten } from "./reply.js"
import type { Execution } from "./verdict.js"

const maxMessage = 64 << 10 // bytes: an error must not be too large for an event

/** A hook or a person denied the operation. */
export class DeniedError extends HookRouterError {
  constructor(
    message: string,
    readonly execution: Execution,
  ) {
    super(message)
  }
}

/** One call of a tool. */
export interface ToolCall {
  tool_name: string
  tool_input: Record<string, unknown>
  /** Further members of the events' data: tool_call_id, prompt_id and others. */
  [name: string]: unknown
}

/** Options of a tool call. */
export interface RunToolOptions extends SendOptions {
  /**
   * Called with the verdicts on tool:pre and tool:post. Their messages are for the agent's context.
   */
  onVerdict?: (execution: Execution) => void
  /**
   * Returns what the model gets for an error. If set, tool:post decides about that as about a
   * result.
   */
  shown?: (error: unknown) => string
}

/**
 * Runs a tool with its hooks and returns its result. tool:pre decides whether fn is called, and
 * with which input. tool:post may deny or change the result. DeniedError, and any other error of
 * this package, means that the tool did not run, or that its result must not be used.
 */
export async function runTool<T>(agent: Agent, call: ToolCall, fn: (input: Record<string, unknown>) => T | Promise<T>, options: RunToolOptions = {}): Promise<T> {
  const { tool_name: name, tool_input: input } = call
  const send = async (event: string, data: Record<string, unknown>) => {
    const verdict = await agent.execute(event, data, options)
    options.onVerdict?.(verdict)
    return require(verdict)
  }
  const data = await send("tool:pre", call)
  const given = data.tool_input
  if (data.tool_name !== name || !isPlain(given)) {
    throw new HookRouterError(`a hook changed the call of ${name} into one that this agent can't make`)
  }
  const changed = stringify(given) !== stringify(input)
  const about = { ...call, tool_input: given }
  const began = performance.now()
  let result: T
  try {
    result = await fn(changed ? given : input)
  } catch (error) {
    const { name: type, message } = error instanceof Error ? error : new Error(String(error))
    // The tool has already failed; an error of the report changes nothing.
    await agent.execute("tool:error", { ...about, error: { type, message: shorten(message.toWellFormed(), maxMessage) } }, options).catch(() => undefined)
    if (options.shown === undefined) throw error
    const told = options.shown(error)
    const heard = await judged(told, false)
    throw heard === told ? error : Object.assign(new Error(typeof heard === "string" ? heard : stringify(heard)), { name: "" })
  }
  return (await judged(result, true)) as T

  /** Returns the tool's result after tool:post. */
  async function judged(result: unknown, success: boolean): Promise<unknown> {
    const json = JSON.parse(JSON.stringify(result, shown) ?? "null") as unknown // as the model would get it
    const sent = isPlain(json) ? json : { output: json }
    const took = Math.round(performance.now() - began)
    const { tool_result: heard } = await send("tool:post", { ...about, tool_result: sent, success, duration_ms: took })
    if (heard !== undefined && stringify(heard) === stringify(sent)) return result
    return !isPlain(json) && isPlain(heard) && "output" in heard && Object.keys(heard).length === 1 ? heard.output : heard
  }
}

/** A replacer of JSON.stringify that refuses what JSON omits, and hooks could not see. */
function shown(_: string, value: unknown): unknown {
  const isEmpty = typeof value === "object" && value !== null && !Array.isArray(value) && !isPlain(value) && Object.keys(value).length === 0
  if (isEmpty || value instanceof Error || typeof value === "function") {
    throw new HookRouterError(`the tool has run; its result is withheld: hooks can't see what is in ${Object.prototype.toString.call(value)}`)
  }
  return value
}

/** Returns the permitted data. Throws a DeniedError if the verdict is not a permission. */
export function require(verdict: Execution): Record<string, unknown> {
  if (!verdict.permitted || !verdict.data) throw new DeniedError(`denied: ${verdict.reason || "no permission was given"}`, verdict)
  return verdict.data
}
