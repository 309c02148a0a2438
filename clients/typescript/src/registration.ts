// Which events a hook wants, and how it is called.

import { checkChannel, checkHook, checkPattern } from "./names.js"

/** Whose approval it takes where a hook asks: so many people of each group, whom the router's operator names. */
export interface ApprovalNeeds {
  /** Who is in two groups counts for one of them; a count is 1 where it is not given. */
  approvers: { group: string; count?: number }[]
  /** Nobody approves what they asked for themselves. */
  exclude_requester?: boolean
}

/** How a hook or a contributor is called, with the names of the wire protocol. */
export interface Registration {
  /** Unique on the bus. */
  id: string
  /** For people; the id. */
  name?: string
  /** The patterns of a hook: names, "domain:*" or "*". */
  events?: string[]
  /** The channels of a contributor. */
  channels?: string[]
  /** Lower runs first. */
  priority?: number
  /** Milliseconds for one call; 5,000, at most 30,000. */
  timeout_ms?: number
  /** What a failure means; "continue". A guard says "deny". */
  on_failure?: "continue" | "deny"
  /** A CEL expression; the hook is not called where it is false. */
  match?: string
  mode?: "enforce" | "shadow" | "observe" | "async"
  /** The one session to be called for. */
  session_id?: string
  /** Stay registered without a live instance; true where on_failure is deny. */
  durable?: boolean
  /** The hook never changes the event, and a call in vain does no harm: neighbors of that kind are called at the same time. */
  effect?: "validate"
  /** Where the hook asks a person; without it anyone who may answer decides. */
  approval?: ApprovalNeeds
  /** Calling it twice for one event does no harm. */
  replay_safe?: boolean
  /** Of the hook's code: an older one can't replace a newer one. */
  version?: string
}

const known = new Set([
  "id", "name", "events", "channels", "priority", "timeout_ms", "on_failure", "match", "mode", "session_id", "durable",
  "effect", "approval", "replay_safe", "version",
])

/** Returns a copy of a registration, or says what is wrong with it. The router checks the rest. */
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
