// A JSON parser that keeps all digits of numbers and rejects duplicate names.

import { type Json, type JsonObject, RawNumber, maxDepth } from "./json.js"

/** Longer integers stay text, since converting them to a bigint is slow. */
const maxDigits = 400

/** A member of an object, with the text of its value. */
export interface Member {
  value: Json
  raw: string
}

/** Parses one JSON document. Throws a SyntaxError if it is invalid. */
export function parse(text: string): Json {
  return new Reader(text).document()
}

/** Parses one JSON object, and keeps the text of each member's value. */
export function members(text: string): Map<string, Member> {
  return new Reader(text).members()
}

/** Decodes UTF-8. Throws a TypeError for invalid bytes. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
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

/**
 * Returns the value of a number's text: its digits without leading and trailing zeros, and the
 * exponent of the last digit.
 */
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
