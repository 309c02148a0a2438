// A real hook-router for tests, on a NATS server, a store and a home of its own.

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { TestContext } from "node:test"
import { fileURLToPath } from "node:url"

import { type NatsConnection, type NodeConnectionOptions, connect as dial, credsAuthenticator } from "@nats-io/transport-node"

import { type Client, type ClientOptions, type Handler, type Registration, type Worker, connect, parse } from "../src/index.js"
import { identify } from "../src/identity.js"

const program = join(process.env.HOOKROUTER_BIN ?? fileURLToPath(new URL("../bin", import.meta.url)), "hook-router")

/** A hook-router, and clients of it that end with the test. */
export class Router {
  private process: ChildProcess | undefined
  private address = "127.0.0.1:0"

  private constructor(
    private readonly test: TestContext,
    readonly dir: string,
    private readonly flags: string[],
  ) {}

  static async start(test: TestContext, ...flags: string[]): Promise<Router> {
    const router = new Router(test, await mkdtemp(join(tmpdir(), "hookrouter-")), flags)
    test.after(async () => {
      await router.kill()
      await rm(router.dir, { recursive: true, force: true })
    })
    await router.restart()
    return router
  }

  /** Starts it, again on the same store and address. */
  async restart(): Promise<void> {
    const args = ["serve", `--nats-listen=${this.address}`, `--store-dir=${join(this.dir, "store")}`, "--http-listen=127.0.0.1:0", "--agent-http-listen="]
    const child = spawn(program, [...args, "--log-level=error", ...this.flags], { env: { HOME: this.dir }, stdio: ["ignore", "pipe", "inherit"] })
    this.process = child
    for await (const line of createInterface({ input: child.stdout })) {
      this.address = /NATS +nats:\/\/(\S+)/.exec(line)?.[1] ?? this.address
      if (line.includes("console")) return
    }
    throw new Error("hook-router did not start")
  }

  /** Ends it without a warning. */
  async kill(): Promise<void> {
    const child = this.process
    this.process = undefined
    if (!child || child.exitCode !== null) return
    child.kill("SIGKILL")
    await once(child, "exit")
  }

  get url(): string {
    return `nats://${this.address}`
  }

  creds(role: string): string {
    return join(this.dir, "store", "auth", "creds", `${role}.creds`)
  }

  /** Connects as an agent or a worker. */
  async client(role: "agent" | "worker", options: ClientOptions = {}): Promise<Client> {
    const creds = this.flags.includes("--auth=off") ? undefined : this.creds(role)
    const client = await connect({ url: this.url, role, creds, ...options })
    this.test.after(() => client.close())
    return client
  }

  /** Registers a guard, which fails closed, of one event. */
  async guard(handler: Handler, registration: Partial<Registration> = {}): Promise<Worker> {
    const worker = (await this.client("worker")).worker()
    await worker.register({ id: "guard", events: ["tool:pre"], on_failure: "deny", ...registration }, handler)
    return worker
  }

  /** A NATS connection without this package: the operator's, or anybody's where nobody has credentials. */
  async raw(): Promise<NatsConnection> {
    const options: NodeConnectionOptions = { servers: this.address }
    if (!this.flags.includes("--auth=off")) {
      const creds = this.creds("admin")
      options.authenticator = credsAuthenticator(await readFile(creds))
      options.inboxPrefix = (await identify(this.url, "agent", creds)).inbox
    }
    const nats = await dial(options)
    this.test.after(() => nats.close())
    return nats
  }

  /** Answers an approval request. */
  async decide(nats: NatsConnection, id: string, option: string): Promise<void> {
    const reply = await nats.request(`hooks.approve.${id}`, JSON.stringify({ option, by: "test" }))
    const status = (parse(reply.string() || "{}") as { status?: string }).status
    if (status !== "accepted") throw new Error(`not accepted: ${reply.headers?.toString()} ${reply.string()}`)
  }
}

/** What a test waits for, and how to say that it happened. */
export function happens<T = void>(): { done: Promise<T>; now: (value: T) => void } {
  let now: (value: T) => void = () => undefined
  const done = new Promise<T>((resolve) => (now = resolve))
  return { done, now }
}
