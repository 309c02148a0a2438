import assert from "node:assert/strict"
import { test } from "node:test"

import { RawNumber, parse, stringify } from "../src/index.js"

test("values that nobody changed come back as they were", () => {
  for (const text of [
    "null", "true", "0", "-1", "1.5", "9007199254740991", "9007199254740993", "-123456789012345678901234567890", "1e400",
    "3.14159265358979323846", `${"9".repeat(5000)}`, '""', '"\\"\\\\"', '"\\u0000"', "[]", "{}", '[1,[2,{"a":null}]]',
    '{"__proto__":{"polluted":true},"constructor":1}', '{"1":1,"a":2}',
  ]) {
    assert.equal(stringify(parse(text)), text)
  }
})

test("numbers are numbers where those are exact, else bigints or their text", () => {
  assert.deepEqual(parse("[1, 1.0, 0.1, 1e3, 1E+2, 12300]"), [1, 1, 0.1, 1000, 100, 12300])
  assert.equal(parse("9007199254740993"), 9007199254740993n)
  assert.deepEqual(parse("0.12345678901234567890"), new RawNumber("0.12345678901234567890"))
})

test("a name that is __proto__ is a name like any other", () => {
  const read = parse('{"__proto__":{"polluted":true}}') as object
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
  assert.equal(Object.hasOwn(read, "__proto__"), true)
})

test("what is not JSON is refused", () => {
  for (const text of [
    "", " ", "{", "[1,]", "{,}", '{"a" 1}', "01", "1.", "+1", "nul", "NaN", "'a'", '"a', '"\n"', '"\\x"', "1 2", "[1]]", '{"a":1,}',
    '{"a":1,"a":2}', '[{"b":{"a":1,"a":1}}]', "[".repeat(10_000), "\ufeff1",
  ]) {
    assert.throws(() => parse(text), SyntaxError, JSON.stringify(text.slice(0, 40)))
  }
})

test("what JSON can't hold is refused", () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  for (const value of [undefined, NaN, Infinity, () => 1, Symbol("s"), new Map(), Promise.resolve(1), new Error("e"), cycle, [undefined]]) {
    assert.throws(() => stringify({ value, list: value }.value === undefined ? [value] : { value }), TypeError)
  }
  assert.equal(stringify({ a: undefined, at: new Date(0) }), '{"at":"1970-01-01T00:00:00.000Z"}')
})
