// The router's verdict on an event. An invalid verdict permits nothing.

import { createHash } from "node:crypto"

import type { Msg } from "@nats-io/transport-node"

import { InvalidReplyError, OtherDataError, reason } from "./errors.js"
import { type Run, readRun } from "./event.js"
import { type Json, type JsonObject, isPlain } from "./json.js"
import { type Member, members, text } from "./parse.js"
import { type ContextInjection, areInjections } from "./result.js"

/** Text from hooks for the agent's context. */
export interface Message {
  role: "system" | "user" | "assistant"
  content: string
  /** For the next model call only, and never stored. */
  ephemeral?: boolean
  /** Append an ephemeral message to the last message if that is a tool's result. */
  append_to_last_tool_result?: boolean
  metadata?: JsonObject
}

/** A message of one hook to the user. The text is untrusted: escape it before displaying it. */
export interface Display {
  message: string
  level: "info" | "warning" | "error"
  source?: string
  hook_id?: string
  /** The source that the hook claims for the message. Show it next to the real source. */
  user_message_source?: string
}

/** The approval request and its outcome. */
export interface Approval {
  id: string
  hook: string
  prompt: string
  options: string[]
  /** The answer; empty if there is none. */
  option: string
  decided_by: string
  cached: boolean
  timed_out: boolean
  expires: string
  data_sha256: string
}

/** The verdict on an event, and how its hooks were run. */
export class Execution {
  /** The reason of a denial. */
  reason = ""
  /** The data to continue with; undefined if nothing is permitted. */
  data: JsonObject | undefined
  /**
   * For the agent's context: all injections in one message, with the settings of the first. See
   * contextMessages.
   */
  messages: Message[] = []
  /** The individual injections of messages, each with its own role and lifetime. */
  contextInjections: ContextInjection[] = []
  /** Messages for the user, in execution order. */
  display: Display[] = []
  /** Names of hooks whose own output must be hidden. */
  suppressOutput: string[] = []
  /** Warnings about changed or dropped injections. */
  warnings: JsonObject[] = []
  /** The injection budget that the session's turn has used. */
  injectedTokens = 0
  /** The approval request, if a person was asked. */
  approval: Approval | undefined

  /** @internal */
  constructor(
    readonly action: "continue" | "deny" | "pending",
    readonly run: Run,
  ) {}

  /** Whether to continue, with the data of the verdict. Nothing else is a permission. */
  get permitted(): boolean {
    return this.action === "continue"
  }

  /**
   * The messages for the agent's context, one for each injection, with the role and lifetime that
   * its hook requested. They have the same texts as messages: apply one or the other. For a router
   * that does not list injections, they are messages.
   */
  get contextMessages(): Message[] {
    if (this.contextInjections.length === 0) return this.messages
    const timestamp = this.messages[0]?.metadata?.timestamp
    return this.contextInjections.map(({ hook_name = "", hook_id = "", event = "", ...message }) => ({
      ...message,
      metadata: { source: "hook", hook_name, hook_id, event, ...(timestamp !== undefined && { timestamp }) },
    }))
  }
}

/** Parses a verdict. Throws for one that can't be obeyed. */
export function readExecution(reply: Msg): Execution {
  let read: Execution
  let raw: string | undefined
  try {
    const all = members(text(reply.data))
    for (const [name, { value }] of all) if (value === null) all.delete(name) // null means omitted
    read = execution(all, readRun(reply.headers))
    raw = all.get("data")?.raw
  } catch (error) {
    throw new InvalidReplyError(`read the verdict: ${reason(error)}`, { cause: error })
  }
  if (read.action === "pending" && !read.approval) throw new InvalidReplyError("read the verdict: it is pending without an approval request")
  const approved = read.approval?.data_sha256
  if (read.permitted && approved !== undefined && createHash("sha256").update(raw ?? "").digest("hex") !== approved) {
    throw new OtherDataError("the verdict's data is not what was approved: do not proceed, and find out who changed it")
  }
  return read
}

const levels = ["info", "warning", "error"]
const roles = ["system", "user", "assistant"]

function execution(all: Map<string, Member>, run: Run): Execution {
  const action = all.get("action")?.value
  if (action !== "continue" && action !== "deny" && action !== "pending") throw new TypeError("it has no action that is known")
  const x = new Execution(action, run)
  const get = <T>(name: string, what: string, is: (value: unknown) => value is T): T | undefined => {
    const value = all.get(name)?.value
    if (value === undefined) return undefined
    if (!is(value)) throw new TypeError(`${name} must be ${what}`)
    return value
  }
  x.reason = get("reason", "a string", isText) ?? ""
  x.data = get("data", "an object", isObject)
  x.messages = get("messages", "a list of messages, each with a role that is known", listOf(isMessage)) ?? []
  x.contextInjections = get("context_injections", "a list of injections, each with a role that is known", areInjections) ?? []
  x.display = get("display", "a list of messages, each with a level that is known", listOf(isDisplay)) ?? []
  x.suppressOutput = get("suppress_output", "a list of strings", listOf(isText)) ?? []
  x.warnings = get("warnings", "a list of warnings", listOf(isObject)) ?? []
  x.injectedTokens = get("injected_tokens", "a whole number", isCount) ?? 0
  const approval = get("approval", "an approval", isObject)
  if (approval) x.approval = readApproval(approval)
  return x
}

function readApproval(from: JsonObject): Approval {
  const of = <T>(name: string, is: (value: unknown) => value is T, missing: T): T => {
    const value = Object.hasOwn(from, name) ? (from[name] ?? undefined) : undefined
    if (value === undefined) return missing
    if (!is(value)) throw new TypeError(`${name} of the approval has a wrong type`)
    return value
  }
  return {
    id: of("id", isText, ""),
    hook: of("hook", isText, ""),
    prompt: of("prompt", isText, ""),
    options: of("options", listOf(isText), []),
    option: of("option", isText, ""),
    decided_by: of("decided_by", isText, ""),
    cached: of("cached", isFlag, false),
    timed_out: of("timed_out", isFlag, false),
    expires: of("expires", isText, ""),
    data_sha256: of("data_sha256", isText, ""),
  }
}

const isText = (value: unknown): value is string => typeof value === "string"
const isFlag = (value: unknown): value is boolean => typeof value === "boolean"
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isObject = (value: unknown): value is JsonObject => isPlain(value)
const isOptional = (value: Json | undefined, is: (value: unknown) => boolean): boolean => value === undefined || value === null || is(value)

const isMessage = (value: unknown): value is Message & JsonObject =>
  isObject(value) &&
  roles.includes(value.role as string) &&
  isText(value.content) &&
  isOptional(value.ephemeral, isFlag) &&
  isOptional(value.append_to_last_tool_result, isFlag)

const isDisplay = (value: unknown): value is Display & JsonObject =>
  isObject(value) && levels.includes(value.level as string) && isText(value.message) && isOptional(value.user_message_source, isText)

function listOf<T>(is: (value: unknown) => value is T): (value: unknown) => value is T[] {
  return (value): value is T[] => Array.isArray(value) && value.every((item) => is(item))
}
