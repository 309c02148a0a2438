// A tool call behind its hooks: tool:pre, the tool, and tool:post or tool:error.

import type { Agent, SendOptions } from "./agent.js"
import { HookRouterError } from "./errors.js"
import { isPlain, stringify } from "./json.js"
import type { Execution } from "./verdict.js"

/** Hooks, or a person, said no. */
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

/** How a tool is run. */
export interface RunToolOptions extends SendOptions {
  /** Gets the verdicts on tool:pre and tool:post: their messages are for the agent's context. */
  onVerdict?: (execution: Execution) => void
  /** What the model gets of an error. Where it is given, tool:post decides about that as about a result. */
  shown?: (error: unknown) => string
}

/**
 * Runs a tool behind its hooks and returns its result. tool:pre decides whether fn is called, and with
 * which input. tool:post may deny the result, or change it. DeniedError, and any other error of this
 * package, means that the tool did not run, or that its result must not be used.
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
    // It failed already; a hook that can't be told of it changes nothing.
    await agent.execute("tool:error", { ...about, error: { type, message } }, options).catch(() => undefined)
    if (options.shown === undefined) throw error
    const told = options.shown(error)
    const heard = await judged(told, false)
    throw heard === told ? error : Object.assign(new Error(typeof heard === "string" ? heard : stringify(heard)), { name: "" })
  }
  return (await judged(result, true)) as T

  /** Returns what tool:post makes of what the tool gave. */
  async function judged(result: unknown, success: boolean): Promise<unknown> {
    const json = JSON.parse(JSON.stringify(result) ?? "null") as unknown // what the model would get
    const sent = isPlain(json) ? json : { output: json }
    const took = Math.round(performance.now() - began)
    const { tool_result: heard } = await send("tool:post", { ...about, tool_result: sent, success, duration_ms: took })
    if (heard !== undefined && stringify(heard) === stringify(sent)) return result
    return !isPlain(json) && isPlain(heard) && "output" in heard && Object.keys(heard).length === 1 ? heard.output : heard
  }
}

/** Returns the data of a permission; DeniedError where there is none. */
export function require(verdict: Execution): Record<string, unknown> {
  if (!verdict.permitted || !verdict.data) throw new DeniedError(`denied: ${verdict.reason || "no permission was given"}`, verdict)
  return verdict.data
}
