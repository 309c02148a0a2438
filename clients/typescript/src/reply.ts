// Encodes the replies of hooks.

import { reason } from "./errors.js"
import { stringify } from "./json.js"
import { type HookResult, checkResult } from "./result.js"

const maxReply = 512 << 10 // bytes, a router's default limit
const maxText = 4 << 10 // bytes of each text of a reply that was too large
const maxLabels = 16
const maxLabel = 64

/**
 * Returns the JSON of a hook's result. Throws a TypeError if it is invalid. null means continue;
 * undefined is invalid, so that a missing return lets nothing pass.
 *
 * A reply that is too large is a failure to a router, and its texts may quote an agent, which could
 * so escape a hook that fails open. Therefore a denial that can't be sent is shortened. Such a
 * question, and a result with labels, become a denial: nobody could be asked, and the session would
 * lack the labels.
 */
export function encodeResult(value: unknown): string {
  if (value === null) return "null"
  const result = checkResult(value)
  const binding = result.action === "deny" || result.action === "ask_user" || Boolean(result.labels?.length)
  try {
    const reply = stringify(result)
    const size = Buffer.byteLength(reply)
    if (size <= maxReply || !binding) return reply
    return stringify(short(result, `The hook's answer has ${size} bytes: at most ${maxReply} are allowed`))
  } catch (error) {
    if (!binding) throw error
    return stringify(short(result, `The hook's answer: ${reason(error)}`))
  }
}

/** Returns a denial with only what must not be lost. */
function short({ action, reason, user_message: message, user_message_level: level, labels }: HookResult, why: string): HookResult {
  const keep = labels && labels.length <= maxLabels && labels.every((label) => label.length <= maxLabel)
  return {
    action: "deny",
    reason: shorten(action === "deny" ? (reason ?? "") : why),
    ...(typeof message === "string" && { user_message: shorten(message) }),
    ...(level && { user_message_level: level }),
    ...(keep && { labels }),
  }
}

/** Cuts a text that is longer than a number of bytes. */
export function shorten(text: string, most = maxText): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= most) return text
  return `${new TextDecoder().decode(bytes.subarray(0, most)).replace(/\ufffd$/, "")}...[truncated]`
}
