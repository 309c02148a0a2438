// Runs what the README shows, with credentials that are found as it says.

import assert from "node:assert/strict"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

import { contextName } from "../src/identity.js"
import { Router } from "./router.js"

test("the hook and the agent of the README", async (t) => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8")
  const dir = new URL("../readme/", import.meta.url) // within the package, so that its name is found
  await mkdir(dir, { recursive: true })
  for (const [, name, code] of readme.matchAll(/```js (\S+)\n([^]*?)```/g)) {
    assert.ok(code && code.trim().split("\n").length <= 10, `${name} has ten lines`)
    await writeFile(new URL(name ?? "", dir), code)
  }
  const router = await Router.start(t)
  const options = { env: { HOME: router.dir, NATS_URL: router.url.replace("127.0.0.1", "localhost") } }
  const program = (name: string) => fileURLToPath(new URL(name, dir))
  const hook = spawn(process.execPath, [program("hook.mjs")], { ...options, stdio: ["ignore", "pipe", "inherit"] })
  t.after(() => hook.kill("SIGKILL"))
  assert.deepEqual(await once(createInterface({ input: hook.stdout }), "line"), ["hook no-force-push registered"])

  const agent = async (command: string) => (await promisify(execFile)(process.execPath, [program("agent.mjs"), command], options)).stdout
  assert.equal(await agent("git push"), "run git push\n")
  assert.equal(await agent("git push --force"), "do not: A force push rewrites shared history\n")
  hook.kill("SIGTERM")
  assert.deepEqual(await once(hook, "exit"), [0, null])
})

test("contexts have one name for every spelling of a loopback address", () => {
  for (const url of ["localhost", "127.0.0.1:4222", "nats://LOCALHOST", "tls://[::1]:4222", "nats://127.8.8.8", "nats://[0:0:0:0:0:0:0:1]"]) {
    assert.equal(contextName(url, "agent"), "hookrouter-127.0.0.1-4222-agent", url)
  }
  assert.equal(contextName("nats://Example.org:99", "worker"), "hookrouter-example.org-99-worker")
  assert.equal(contextName("nats://[fe80::1]", "agent"), "hookrouter-fe80__1-4222-agent")
  for (const url of ["", "nats://", "nats://../x"]) assert.doesNotMatch(contextName(url, "agent"), /\//)
})
