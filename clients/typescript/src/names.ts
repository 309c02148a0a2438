// Names and subjects of the wire protocol.

import { randomBytes } from "node:crypto"

const part = "[A-Za-z0-9_-]{1,64}"
const anEvent = new RegExp(`^${part}(:${part}){0,7}$`)
const aChannel = new RegExp(`^${part}(\\.${part}){0,7}$`)
const aHook = /^[a-z0-9][a-z0-9_-]{0,63}$/
const aPrefix = /^[a-z0-9_-]{1,32}$/

/** Returns an event name. Throws if it is invalid. */
export function checkEvent(name: string): string {
  return check(name, anEvent, "event name", "1 to 8 parts of letters, digits, '_' or '-', joined by ':'")
}

/** Returns a channel. Throws if it is invalid. */
export function checkChannel(name: string): string {
  return check(name, aChannel, "channel", "1 to 8 parts of letters, digits, '_' or '-', joined by '.'")
}

/** Returns a pattern. Throws if it is invalid. */
export function checkPattern(pattern: string): string {
  if (pattern !== "*") checkEvent(String(pattern).replace(/:\*$/, ""))
  return pattern
}

/** Returns the id of a hook. Throws if it is invalid. */
export function checkHook(id: string): string {
  return check(id, aHook, "hook id", "1 to 64 of a-z, 0-9, '_' and '-', beginning with a letter or digit")
}

/** Returns a prefix. Throws if it is invalid. */
export function checkPrefix(prefix: string): string {
  return check(prefix, aPrefix, "prefix", "1 to 32 of a-z, 0-9, '_' and '-'")
}

function check(name: unknown, pattern: RegExp, what: string, rule: string): string {
  if (typeof name === "string" && pattern.test(name) && !name.endsWith("\n")) return name
  throw new TypeError(`${what} ${String(name).slice(0, 100)}: it must be ${rule}`)
}

/** Returns 160 random bits as 32 characters of A-Z and 2-7. */
export function token(): string {
  return Array.from(randomBytes(32), (byte) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[byte & 31]).join("")
}

/** Percent-encodes a value for a header, as the CloudEvents bindings specify. */
export function escape(text: string): string {
  return text.toWellFormed().replace(/[^!#$&-~]/gu, encodeURIComponent)
}

/** Reverses escape. Returns text with invalid escapes unchanged. */
export function unescape(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Escapes characters in JSON that a header value can't contain. */
export function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/** Makes text valid for a header: one line of limited length. */
export function oneLine(text: string, most = 1024): string {
  const line = text.toWellFormed().replace(/[\u0000-\u001f\u007f]/g, " ").trim()
  const bytes = new TextEncoder().encode(line)
  return bytes.length <= most ? line : `${new TextDecoder().decode(bytes.subarray(0, most - 4)).replace(/\ufffd$/, "")}...`
}
