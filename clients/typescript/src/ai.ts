// An adapter for Vercel's AI SDK (`ai`): it runs hooks for tools, and adds the context that hooks
// inject to the model's next request.

import { type LanguageModelMiddleware, type ToolSet, asSchema } from "ai"

import type { Agent } from "./agent.js"
import { HookRouterError, reason } from "./errors.js"
import { stringify } from "./json.js"
import { require, runTool } from "./tool.js"
import type { Execution, Message } from "./verdict.js"

type Transform = NonNullable<LanguageModelMiddleware["transformParams"]>
type Prompt = Awaited<ReturnType<Transform>>["prompt"]
type PromptMessage = Prompt[number]

/** Options of a {@link guard}. */
export interface GuardOptions {
  /**
   * Names of tools that run without hooks. Tools without `execute` can't be stopped here and are
   * refused unless they are listed.
   */
  ungated?: string[]
  /** The role of injected context, for a model that accepts system messages only at the start. */
  injectAs?: "system" | "user"
  /** Called with each verdict; its `display` is for the user. */
  onVerdict?: (execution: Execution) => void
}

/** One conversation with its hooks. */
export interface Guard<T extends ToolSet> {
  /**
   * The tools, each of which asks the router before it runs. A denied call fails with the reason,
   * which the model gets.
   */
  tools: T
  /**
   * For wrapLanguageModel: asks about each prompt, and adds injected context to the next request.
   */
  middleware: LanguageModelMiddleware
}

/**
 * Runs the hooks of an agent for the tools and prompts of one conversation. Create one for each
 * conversation.
 */
export function guard<T extends ToolSet>(agent: Agent, tools: T, options: GuardOptions = {}): Guard<T> {
  const context = new Context(options)
  const guarded: ToolSet = {}
  for (const [name, tool] of Object.entries(tools)) {
    const { execute, inputSchema } = tool
    if (options.ungated?.includes(name)) {
      guarded[name] = tool
      continue
    }
    if (typeof execute !== "function") {
      throw new TypeError(`tool ${name} has no execute: it runs where hooks can't stop it. Leave it out, or name it in ungated`)
    }
    const asking: typeof execute = (input: Record<string, unknown>, about) =>
      runTool(
        agent,
        { tool_name: name, tool_input: input, tool_call_id: about.toolCallId },
        async (given) => last(execute.call(tool, given === input ? input : await validated(name, inputSchema, given), about)),
        { signal: about.abortSignal, onVerdict: (verdict) => context.add(verdict), shown: shownError },
      )
    guarded[name] = { ...tool, execute: asking } as ToolSet[string]
  }
  const transformParams: Transform = async ({ params }) => {
    const prompt = await context.submit(agent, params.prompt, params.abortSignal)
    return { ...params, prompt: context.inject(prompt) }
  }
  return { tools: guarded as T, middleware: { transformParams } }
}

/** Validates a tool's input that hooks changed. */
async function validated(name: string, schema: Parameters<typeof asSchema>[0], input: unknown): Promise<unknown> {
  const checked = (await asSchema(schema).validate?.(input)) ?? { success: true, value: input }
  if (checked.success) return checked.value
  throw new HookRouterError(`a hook changed the input of ${name} into one that it does not take: ${reason(checked.error)}`)
}

/** Returns what the SDK sends to the model for an error. */
function shownError(error: unknown): string {
  if (error === undefined || error === null) return "unknown error"
  return error instanceof Error || typeof error === "string" ? String(error) : stringify(error)
}

/** Waits for a result, or for the last one of a tool that yields several. */
async function last(result: unknown): Promise<unknown> {
  let value = await result
  if (typeof value === "object" && value !== null && Symbol.asyncIterator in value) {
    const all = value as AsyncIterable<unknown>
    value = undefined
    for await (value of all);
  }
  return value
}

/** The context that hooks injected into one conversation. */
class Context {
  private queue: Message[] = []
  private readonly kept: { at: number; message: PromptMessage }[] = []
  private readonly prompts = new Map<string, string>() // by prompt: the text that hooks made of it

  constructor(private readonly options: GuardOptions) {}

  /** Stores what a verdict injects. */
  add(verdict: Execution): void {
    this.queue.push(...verdict.contextMessages)
    this.options.onVerdict?.(verdict)
  }

  /** Asks about the user's messages that are new. The SDK sends all messages with each request. */
  async submit(agent: Agent, prompt: Prompt, signal: AbortSignal | undefined): Promise<Prompt> {
    const seen = new Map<string, number>()
    const result: Prompt = []
    for (const message of prompt) {
      if (message.role !== "user") {
        result.push(message)
        continue
      }
      const asked = message.content.map((part) => (part.type === "text" ? part.text : "")).join("")
      const nth = (seen.get(asked) ?? 0) + 1 // the same text may occur again
      seen.set(asked, nth)
      const given = await this.permitted(agent, asked, nth, signal)
      result.push(given === asked ? message : { ...message, content: [{ type: "text", text: given }, ...message.content.filter((part) => part.type !== "text")] })
    }
    return result
  }

  private async permitted(agent: Agent, asked: string, nth: number, signal: AbortSignal | undefined): Promise<string> {
    const key = `${nth} ${asked}`
    const before = this.prompts.get(key)
    if (before !== undefined) return before
    const verdict = await agent.execute("prompt:submit", { prompt: asked }, { signal })
    this.add(verdict)
    const { prompt: given } = require(verdict)
    if (typeof given !== "string") throw new HookRouterError("a hook changed the prompt into what is not text")
    this.prompts.set(key, given)
    return given
  }

  /** Adds injected messages: kept ones always at the same place, ephemeral ones once. */
  inject(prompt: Prompt): Prompt {
    const once: Message[] = []
    for (const message of this.queue.splice(0)) {
      if (message.ephemeral) once.push(message)
      else this.kept.push({ at: prompt.length, message: this.message(message) })
    }
    const result = [...prompt]
    for (const { at, message } of [...this.kept].reverse()) result.splice(Math.min(at, prompt.length), 0, message)
    for (const message of once) {
      if (!message.append_to_last_tool_result || !append(result, message.content)) result.push(this.message(message))
    }
    return result
  }

  private message({ role, content }: Message): PromptMessage {
    const as = role === "system" ? (this.options.injectAs ?? role) : role
    if (as === "system") return { role: as, content }
    return { role: as, content: [{ type: "text", text: content }] }
  }
}

/** Appends text to the last message if that is the result of a tool. */
function append(prompt: Prompt, text: string): boolean {
  const message = prompt.at(-1)
  if (message?.role !== "tool") return false
  const part = message.content.at(-1)
  if (part?.type !== "tool-result" || (part.output.type !== "text" && part.output.type !== "error-text")) return false
  const output = { ...part.output, value: `${part.output.value}\n\n${text}` }
  prompt[prompt.length - 1] = { ...message, content: [...message.content.slice(0, -1), { ...part, output }] }
  return true
}
