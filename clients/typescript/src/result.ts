// Results of hooks.

import { type Json, type JsonObject, isPlain } from "./json.js"
import { parse } from "./parse.js"

/** Context that one hook of a chain adds, with its role and lifetime. */
export interface ContextInjection {
  content: string
  role: "system" | "user" | "assistant"
  /** For the next model call only, and never stored. */
  ephemeral?: boolean
  append_to_last_tool_result?: boolean
  hook_name?: string
  hook_id?: string
  event?: string
}

/** The result of a hook, with the names of the wire protocol. The default action is continue. */
export interface HookResult {
  action?: "continue" | "deny" | "modify" | "inject_context" | "ask_user"
  /** The data to continue with if the action is modify. */
  data?: Record<string, unknown> | null
  reason?: string | null
  context_injection?: string | null
  context_injection_role?: "system" | "user" | "assistant"
  ephemeral?: boolean
  append_to_last_tool_result?: boolean
  approval_prompt?: string | null
  approval_options?: string[] | null
  /** Seconds. */
  approval_timeout?: number
  approval_default?: "deny" | "allow"
  /** The scope of an "Allow always", instead of the tool's input; at most 1024 bytes. */
  approval_key?: string | null
  suppress_output?: boolean
  user_message?: string | null
  user_message_level?: "info" | "warning" | "error"
  /** The source that the hook claims for the message; it is shown next to the hook's name. */
  user_message_source?: string | null
  /** In the answer to an emit: the individual injections. It is ignored in a hook's result. */
  context_injections?: ContextInjection[] | null
  /** Labels to add to the event's session: what it has seen. */
  labels?: string[] | null
  /** Labels to remove from the session if a person allows what ask_user asks. */
  unlabel?: string[] | null
  /**
   * The rule that decided, with file, line and name, for the router's records. Agents do not get
   * it.
   */
  rule?: string | null
}

/** Lets the event pass. */
export function allow(): HookResult {
  return { action: "continue" }
}

/** Denies the operation; the agent gets the reason. */
export function deny(reason: string): HookResult {
  return { action: "deny", reason }
}

/** Continues with other data. */
export function modify(data: Record<string, unknown>): HookResult {
  return { action: "modify", data }
}

/** Adds text to the agent's context, as a system message. */
export function inject(text: string): HookResult {
  return { action: "inject_context", context_injection: text }
}

/** Asks a person. The default options are Allow and Deny. */
export function ask(prompt: string, options?: string[]): HookResult {
  return { action: "ask_user", approval_prompt: prompt, ...(options && { approval_options: options }) }
}

type Rule = [what: string, holds: (value: unknown) => boolean]

const flag: Rule = ["a boolean", (value) => typeof value === "boolean"]
const text: Rule = ["a string or null", (value) => value === null || typeof value === "string"]
const texts: Rule = ["a list of strings or null", (v) => v === null || (Array.isArray(v) && v.every((item) => typeof item === "string"))]
const one = (...of: string[]): Rule => [`one of ${of.join(", ")}`, (value) => typeof value === "string" && of.includes(value)]

const roles = ["system", "user", "assistant"]
const optional = (value: unknown, type: string): boolean => value === undefined || value === null || typeof value === type

/** Reports whether a value is a list of injections. */
export function areInjections(value: unknown): value is ContextInjection[] {
  return Array.isArray(value) && value.every(isInjection)
}

function isInjection(value: unknown): boolean {
  if (!isPlain(value) || typeof value.content !== "string" || !roles.includes(value.role as string)) return false
  const { ephemeral, append_to_last_tool_result: append, hook_name: name, hook_id: id, event } = value
  return optional(ephemeral, "boolean") && optional(append, "boolean") && [name, id, event].every((one) => optional(one, "string"))
}

const rules: Record<string, Rule> = {
  action: one("continue", "deny", "modify", "inject_context", "ask_user"),
  data: ["an object or null", (value) => value === null || isPlain(value)],
  reason: text,
  context_injection: text,
  context_injection_role: one("system", "user", "assistant"),
  ephemeral: flag,
  append_to_last_tool_result: flag,
  approval_prompt: text,
  approval_options: texts,
  approval_timeout: ["a number", (value) => typeof value === "number" && Number.isFinite(value)],
  approval_default: one("deny", "allow"),
  approval_key: text,
  suppress_output: flag,
  user_message: text,
  user_message_level: one("info", "warning", "error"),
  user_message_source: text,
  context_injections: ["a list of injections or null", (value) => value === null || areInjections(value)],
  labels: texts,
  unlabel: texts,
}

/** Returns a hook's result without its rule. Throws a TypeError if it is invalid. */
export function checkResult(value: unknown): HookResult {
  if (value === undefined) throw new TypeError("it returned undefined: return allow(), or null, to let an event pass")
  if (!isPlain(value)) throw new TypeError(`it returned ${describe(value)}: return allow(), deny(reason) or another result`)
  if ("action" in value && value.action === undefined) throw new TypeError("action is undefined: leave it out, or return allow(), to let an event pass")
  const { rule, ...result } = value
  if (rule !== undefined && rule !== null && typeof rule !== "string") throw new TypeError(`rule must be a string or null, not ${describe(rule)}`)
  const known = check(result) + (rule === undefined ? 0 : 1)
  if (known === 0 && Object.keys(value).length > 0) {
    throw new TypeError(`it returned an object without a member of a result: ${Object.keys(value).slice(0, 5).join(", ").slice(0, 200)}`)
  }
  return result
}

/** Parses the result in a router's answer. Throws if it is invalid. */
export function decodeResult(body: string): HookResult & { data?: JsonObject | null } {
  const value: Json = body === "" ? null : parse(body)
  if (value === null) return {}
  if (!isPlain(value)) throw new TypeError("it is not an object")
  check(value)
  return value as HookResult & { data?: JsonObject | null }
}

/** Returns the number of members of a result that an object has. */
function check(value: Record<string, unknown>): number {
  let known = 0
  for (const [name, [what, holds]] of Object.entries(rules)) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) continue
    if (!holds(value[name])) throw new TypeError(`${name} must be ${what}, not ${describe(value[name])}`)
    known++
  }
  return known
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object" && value !== null) return `an object of type ${value.constructor?.name ?? "unknown"}`
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(value)
}
