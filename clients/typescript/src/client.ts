// The connection that agents and workers share, and how their requests are retried.

import { setTimeout as sleep } from "node:timers/promises"

import type { Msg } from "@nats-io/transport-node"

import { Agent, type AgentOptions } from "./agent.js"
import { Code, ConnectionLostError, DeadlineError, DisconnectedError, NoRouterError, RouterError } from "./errors.js"
import { type Role, identify } from "./identity.js"
import { checkPrefix } from "./names.js"
import type { Accept, Bound, Headers } from "./replies.js"
import { type Log, Transport } from "./transport.js"
import { Worker, type WorkerOptions } from "./worker.js"

/** Options of a client. */
export interface ClientOptions {
  /** URLs of the NATS servers, comma-separated; NATS_URL, or else nats://127.0.0.1:4222. */
  url?: string | undefined
  /**
   * The path of a NATS credentials file; NATS_CREDS, or else the credentials that a router wrote
   * for its user.
   */
  creds?: string | undefined
  /** The role for the credentials of a router; "agent". */
  role?: Role | undefined
  /** The first token of the routers' subjects; "hooks". */
  prefix?: string | undefined
  /** The program's name, shown by the NATS server; "hookrouter". */
  name?: string | undefined
  /** How long to retry a request while no router can serve it, in milliseconds; 5,000. */
  patience?: number | undefined
  /** A log for events that can't be reported otherwise, such as `console`; none by default. */
  log?: Log | undefined
}

const silent: Log = { info() {}, warn() {}, error() {} }

/**
 * Connects to NATS. Throws an UnreachableError if no server answers. The caller must close the
 * client.
 */
export async function connect(options: ClientOptions = {}): Promise<Client> {
  const url = options.url || process.env.NATS_URL || "nats://127.0.0.1:4222"
  const prefix = checkPrefix(options.prefix ?? "hooks")
  const identity = await identify(url, options.role ?? "agent", options.creds)
  const transport = new Transport(prefix, options.log ?? silent, url, identity, options.name ?? "hookrouter")
  await transport.open()
  return new Client(transport, options.patience ?? 5000)
}

/** A connection to the routers of one prefix. Create it with {@link connect}. */
export class Client {
  /** @internal */
  constructor(
    readonly transport: Transport,
    readonly patience: number,
  ) {}

  /** Returns an agent, which sends events. */
  agent(options: AgentOptions = {}): Agent {
    return new Agent(this, options)
  }

  /** Returns a worker, which serves hooks. Close it before the client. */
  worker(options: WorkerOptions = {}): Worker {
    return new Worker(this, options)
  }

  /** Whether NATS is connected now. */
  get connected(): boolean {
    return this.transport.connected
  }

  /** Disconnects; a second call does nothing. */
  close(): Promise<void> {
    return this.transport.close()
  }

  /** Closes the client at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Determines which failures of a request are retried. */
export type Retry =
  /** Only if the request certainly had no effect, and within the client's patience. */
  | "unserved"
  /** Also if an earlier attempt may have had an effect, until the timeout. */
  | "idempotent"
  | "never"

/** One request to a router. */
export interface Request {
  subject: string
  headers: Headers
  body: Uint8Array
  retry: Retry
  accept: Accept
  /** Called before each attempt with the remaining time; may change the headers. */
  before?: ((left: number) => void) | undefined
}

/** Sends a request, with retries according to its retry, and returns the reply. */
export async function send(client: Client, request: Request, bound: Bound): Promise<Msg> {
  const end = performance.now() + bound.timeout
  const backoff = new Backoff(request.retry === "unserved" ? performance.now() + client.patience : end)
  for (;;) {
    const timeout = end - performance.now()
    request.before?.(timeout)
    try {
      return await client.transport.request(request.subject, request.body, request.headers, request.accept, { timeout, signal: bound.signal })
    } catch (error) {
      if (!again(request.retry, error) || !(await backoff.wait(bound.signal))) throw error
    }
  }
}

function again(retry: Retry, error: unknown): boolean {
  if (retry === "never") return false
  if (unserved(error)) return true
  const overloaded = error instanceof RouterError && error.code === Code.overloaded
  return retry === "idempotent" && (overloaded || error instanceof ConnectionLostError)
}

/** Reports whether a request certainly had no effect, and may succeed if sent again. */
export function unserved(error: unknown): boolean {
  if (error instanceof RouterError) return error.code === Code.unavailable
  return error instanceof NoRouterError || error instanceof DisconnectedError
}

/** Reports whether an error is temporary and not about the event. */
export function passing(error: unknown): boolean {
  return unserved(error) || error instanceof ConnectionLostError || error instanceof DeadlineError
}

/** Delays the retries of one request: the pause doubles from 50 ms to a second. */
export class Backoff {
  private pause = 0

  /** No attempt starts after until, on the clock of performance.now. */
  constructor(public until: number) {}

  /** Waits before the next attempt; false if that would start too late. */
  async wait(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    this.pause = Math.min(Math.max(2 * this.pause, 50), 1000)
    if (performance.now() + this.pause > this.until) return false
    await sleep(this.pause / 2 + (Math.random() * this.pause) / 2, undefined, { signal }).catch(() => signal?.throwIfAborted())
    return true
  }

  /** Resets the pause to the shortest one. */
  reset(): void {
    this.pause = 0
  }
}
