// Registrations of hooks and contributors.

import { checkChannel, checkHook, checkPattern } from "./names.js"

/**
 * The approval that a hook's questions need: a number of people of each group. The router's
 * operator defines the groups.
 */
export interface ApprovalNeeds {
  /** A person in two groups counts for one of them. The default count is 1. */
  approvers: { group: string; count?: number }[]
  /** Whether the requester's own approval is excluded. */
  exclude_requester?: boolean
}

/** The registration of a hook or a contributor, with the names of the wire protocol. */
export interface Registration {
  /** Unique on the bus. */
  id: string
  /** A name for people; the id. */
  name?: string
  /** The event patterns of a hook: names, "domain:*" or "*". */
  events?: string[]
  /** The channels of a contributor. */
  channels?: string[]
  /** Lower runs first. */
  priority?: number
  /** The timeout of a call in milliseconds; 5,000, at most 30,000. */
  timeout_ms?: number
  /** The effect of a failure; "continue". Guards use "deny". */
  on_failure?: "continue" | "deny"
  /** A CEL expression; the hook is called only if it is true. */
  match?: string
  mode?: "enforce" | "shadow" | "observe" | "async"
  /** The only session for which the hook is called. */
  session_id?: string
  /** Whether the hook stays registered without a live instance; true if on_failure is deny. */
  durable?: boolean
  /**
   * validate: the hook never changes the event, and a discarded call does no harm. Adjacent hooks
   * with this effect are called concurrently.
   */
  effect?: "validate"
  /** The approval that the hook's questions need; by default, anyone who may answer decides. */
  approval?: ApprovalNeeds
  /** Whether it is safe to call the hook twice for one event. */
  replay_safe?: boolean
  /** The version of the hook's code. An older one can't replace a newer one. */
  version?: string
}

const known = new Set([
  "id", "name", "events", "channels", "priority", "timeout_ms", "on_failure", "match", "mode", "session_id", "durable",
  "effect", "approval", "replay_safe", "version",
])

/**
 * Returns a copy of a registration. Throws if it is obviously invalid; the router checks the rest.
 */
export function checkRegistration(registration: Registration, of: "events" | "channels"): Registration {
  const stranger = Object.keys(registration).find((name) => !known.has(name))
  if (stranger !== undefined) throw new TypeError(`registration: ${stranger} is not a member of one`)
  checkHook(registration.id)
  const list = registration[of]
  if (!Array.isArray(list) || list.length === 0) throw new TypeError(`registration of ${registration.id}: ${of} must be a list that is not empty`)
  list.forEach(of === "events" ? checkPattern : checkChannel)
  if (of === "events" ? registration.channels : registration.events) {
    throw new TypeError(`registration of ${registration.id}: a hook has events, a contributor has channels, nothing has both`)
  }
  return structuredClone(registration)
}
