// JSON as the wire protocol has it: no number loses a digit, no name is there twice.

/** A number that neither a JavaScript number nor a bigint holds exactly; its text does. */
export class RawNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text
  }
}

/** What JSON can hold. Integers beyond ±2^53 are bigints. */
export type Json = null | boolean | number | bigint | string | RawNumber | Json[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  [name: string]: Json
}

/** A member of an object, with the text that its value was read from. */
export interface Member {
  value: Json
  raw: string
}

/** How deep arrays and objects may nest: far deeper than the protocol allows. */
const maxDepth = 500
/** Longer integers stay text: a bigint of them takes its time. */
const maxDigits = 400

/** Reads one JSON document; SyntaxError where it is none. */
export function parse(text: string): Json {
  return new Reader(text).document()
}

/** Reads one JSON object and keeps the text of each member's value. */
export function members(text: string): Map<string, Member> {
  return new Reader(text).members()
}

/** Reads bytes as UTF-8; TypeError where they are not. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
}

/**
 * Writes a value as JSON. Members that are undefined are left out, toJSON is honored. TypeError for
 * what JSON can't hold: NaN, a function, a Map, a Promise that nobody awaited.
 */
export function stringify(value: unknown): string {
  return write(value, 0)
}

/** Reports whether a value is an object as a literal makes it, not an instance of a class. */
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

const aNumber = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const space = /[ \t\r\n]*/y
const words: Record<string, Json> = { true: true, false: false, null: null }

class Reader {
  private at = 0

  constructor(private readonly text: string) {}

  document(): Json {
    const value = this.value(0)
    this.end()
    return value
  }

  members(): Map<string, Member> {
    const found = new Map<string, Member>()
    this.object((name) => {
      if (found.has(name)) this.twice(name)
      this.skip()
      const start = this.at
      const value = this.value(1)
      found.set(name, { value, raw: this.text.slice(start, this.at) })
    })
    this.end()
    return found
  }

  private value(depth: number): Json {
    if (depth > maxDepth) throw new SyntaxError("the JSON nests too deep")
    this.skip()
    const c = this.text[this.at]
    switch (c) {
      case "{": {
        const object: JsonObject = {}
        this.object((name) => {
          if (Object.hasOwn(object, name)) this.twice(name)
          const value = this.value(depth + 1)
          if (name === "__proto__") Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true })
          else object[name] = value
        })
        return object
      }
      case "[":
        return this.list(depth)
      case '"':
        return this.string()
      case "t":
      case "f":
      case "n": {
        const word = c === "f" ? "false" : c === "t" ? "true" : "null"
        if (!this.text.startsWith(word, this.at)) this.unexpected()
        this.at += word.length
        return words[word] as Json
      }
      default:
        return this.number()
    }
  }

  private object(member: (name: string) => void): void {
    this.expect("{")
    if (this.next("}")) return
    do {
      this.skip()
      const name = this.string()
      this.expect(":")
      member(name)
    } while (this.next(","))
    this.expect("}")
  }

  private list(depth: number): Json[] {
    const list: Json[] = []
    this.expect("[")
    if (this.next("]")) return list
    do list.push(this.value(depth + 1))
    while (this.next(","))
    this.expect("]")
    return list
  }

  private string(): string {
    if (this.text[this.at] !== '"') this.unexpected()
    const start = this.at
    let end = start
    do end = this.text.indexOf('"', end + 1)
    while (end >= 0 && this.escaped(end))
    if (end < 0) throw new SyntaxError("the JSON ends within a string")
    this.at = end + 1
    return JSON.parse(this.text.slice(start, this.at)) as string
  }

  /** Reports whether an odd number of backslashes precedes a character. */
  private escaped(at: number): boolean {
    let before = at
    while (this.text[before - 1] === "\\") before--
    return (at - before) % 2 === 1
  }

  private number(): Json {
    aNumber.lastIndex = this.at
    const match = aNumber.exec(this.text)
    if (match === null) return this.unexpected()
    this.at = aNumber.lastIndex
    const [text, fraction, exponent] = match
    const number = Number(text)
    if (fraction === undefined && exponent === undefined) {
      if (Number.isSafeInteger(number)) return number
      return text.length > maxDigits ? new RawNumber(text) : BigInt(text)
    }
    return Number.isFinite(number) && canonical(text) === canonical(String(number)) ? number : new RawNumber(text)
  }

  private skip(): void {
    space.lastIndex = this.at
    space.exec(this.text)
    this.at = space.lastIndex
  }

  private next(c: string): boolean {
    this.skip()
    if (this.text[this.at] !== c) return false
    this.at++
    return true
  }

  private expect(c: string): void {
    if (!this.next(c)) this.unexpected()
  }

  private end(): void {
    this.skip()
    if (this.at < this.text.length) this.unexpected()
  }

  private unexpected(): never {
    const c = this.text[this.at]
    throw new SyntaxError(c === undefined ? "the JSON ends early" : `unexpected ${JSON.stringify(c)} at character ${this.at} of the JSON`)
  }

  private twice(name: string): never {
    throw new SyntaxError(`the JSON has the name ${JSON.stringify(name.slice(0, 80))} twice in one object`)
  }
}

/** The value of a number's text: its digits without zeros around them, and the exponent of the last one. */
function canonical(text: string): string {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e")
  const negative = mantissa.startsWith("-")
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".")
  const all = (whole + fraction).replace(/^0+/, "")
  let end = all.length
  while (end > 0 && all[end - 1] === "0") end--
  if (end === 0) return "0"
  return `${negative ? "-" : ""}${all.slice(0, end)}e${BigInt(exponent.replace("+", "")) - BigInt(fraction.length) + BigInt(all.length - end)}`
}
