// JSON for the wire protocol: numbers keep all digits.

/** A number that neither a JavaScript number nor a bigint can represent exactly, as text. */
export class RawNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text
  }
}

/** A JSON value. Integers beyond ±2^53 are bigints. */
export type Json = null | boolean | number | bigint | string | RawNumber | Json[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  [name: string]: Json
}

/** The maximum nesting of arrays and objects: far more than the protocol allows. */
export const maxDepth = 500

/**
 * Encodes a value as JSON. It omits undefined members and honors toJSON. It throws a TypeError for
 * values that JSON can't represent, such as NaN, functions, Maps and Promises.
 */
export function stringify(value: unknown): string {
  return write(value, 0)
}

/** Reports whether a value is a plain object, not an instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function write(value: unknown, depth: number): string {
  if (depth > maxDepth) throw new TypeError("it can't be written as JSON: it nests too deep, or contains itself")
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value)
    case "bigint":
      return value.toString()
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} can't be written as JSON`)
      return JSON.stringify(value)
    case "object":
      return writeObject(value, depth)
    default:
      throw new TypeError(`${typeof value} can't be written as JSON`)
  }
}

function writeObject(value: object | null, depth: number): string {
  if (value === null) return "null"
  if (value instanceof RawNumber) return value.text
  if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item, depth + 1)).join(",")}]`
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON(), depth + 1)
  if (!isPlain(value)) throw new TypeError(`a ${value.constructor.name} can't be written as JSON: was an await forgotten?`)
  const parts: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) parts.push(`${JSON.stringify(name)}:${write(member, depth + 1)}`)
  }
  return `{${parts.join(",")}}`
}
