// Workers: serve hooks and keep them registered.

import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import type { Msg } from "@nats-io/transport-node"

import { type Client, type Retry, send } from "./client.js"
import { Discovery } from "./discovery.js"
import { Code, HookRouterError, RouterError } from "./errors.js"
import { isPlain, stringify } from "./json.js"
import { parse, text } from "./parse.js"
import { Registered, type Registrar } from "./registered.js"
import { type Registration, checkRegistration } from "./registration.js"
import { type Contributor, type Handler, type Serve, serveContributor, serveHook } from "./serve.js"

/** Options of a worker. */
export interface WorkerOptions {
  /**
   * The maximum number of concurrent calls of one hook; 64. Further calls wait, within their
   * timeout.
   */
  maxInFlight?: number | undefined
  /** Called once for each registration of another process that replaced one of this worker. */
  onReplaced?: ((hook: string, inForce: Record<string, unknown>) => void) | undefined
  /** The name of the program in `nats micro ls`; "hook-worker". */
  name?: string | undefined
  /** The semantic version of the program; "0.0.0". */
  version?: string | undefined
}

/** A process that serves hooks. Create it with {@link Client.worker}. */
export class Worker {
  private readonly hooks = new Map<string, Registered>()
  private readonly instance = randomUUID()
  private readonly discovery: Discovery
  private readonly forgetReconnects: () => void
  private closed = false

  /** @internal */
  constructor(
    private readonly client: Client,
    private readonly options: WorkerOptions,
  ) {
    this.discovery = new Discovery(client.transport, options.name ?? "hook-worker", options.version ?? "0.0.0", this.instance)
    this.forgetReconnects = client.transport.onReconnect(() => void this.renewAll())
  }

  /**
   * Starts to serve a hook. When it resolves, every router calls the hook from the next event on.
   * The registration is renewed automatically, also after a reconnect.
   */
  register(registration: Registration, handler: Handler): Promise<void> {
    return this.add(registration, "events", serveHook(handler))
  }

  /** Starts to contribute to channels. */
  contribute(registration: Registration, contributor: Contributor): Promise<void> {
    return this.add(registration, "channels", serveContributor(contributor))
  }

  private async add(registration: Registration, of: "events" | "channels", serve: Serve): Promise<void> {
    const checked = checkRegistration(registration, of)
    const id = checked.id
    if (this.closed) throw new HookRouterError("the worker is closed")
    if (this.hooks.has(id)) throw new HookRouterError(`hook ${id} is registered by this worker already`)
    const hook = new Registered(this.registrar(), { ...checked }, serve, this.options.maxInFlight ?? 64)
    this.hooks.set(id, hook)
    try {
      await this.discovery.start()
      await hook.start()
    } catch (error) {
      if (uncertain(error)) await this.leave(id, 1000).catch(() => undefined) // best effort
      if (this.hooks.get(id) === hook) this.hooks.delete(id)
      await hook.silence()
      throw error
    }
  }

  private registrar(): Registrar {
    const { transport } = this.client
    return {
      transport,
      discovery: this.discovery,
      announce: async (registration, retry) => {
        const body = { ...registration, instance: this.instance, protocol: 2 }
        const reply = parse(text((await this.ask("register", registration.id, body, retry, retry === "never" ? 5000 : 15_000)).data))
        return isPlain(reply) ? reply : {}
      },
      replaced: (id, inForce) => {
        transport.log.error(`hook ${id}: another registration has replaced this worker's, which does not hold`)
        this.options.onReplaced?.(id, inForce)
      },
    }
  }

  /**
   * Removes this worker from a hook. With its last worker, a hook that is not durable is removed as
   * well.
   */
  async unregister(id: string): Promise<void> {
    await this.remove(id, () => this.leave(id))
  }

  /** Removes a hook from the bus with all its instances, durable or not. */
  async retire(id: string): Promise<void> {
    await this.remove(id, () => this.ask("unregister", id, {}, "never", 10_000))
  }

  private async remove(id: string, tell: () => Promise<unknown>): Promise<void> {
    const hook = this.hooks.get(id)
    this.hooks.delete(id)
    await hook?.stopRenewing()
    try {
      await tell()
    } finally {
      await hook?.silence()
    }
  }

  private leave(id: string, timeout = 10_000): Promise<unknown> {
    return this.ask("unregister", id, { instance: this.instance }, "never", timeout)
  }

  private ask(verb: string, id: string, body: object, retry: Retry, timeout: number): Promise<Msg> {
    const subject = this.client.transport.subject(verb, id)
    return send(this.client, { subject, headers: {}, body: new TextEncoder().encode(stringify(body)), retry, accept: () => true }, { timeout })
  }

  /**
   * Renews all hooks in registration order, which routers that lost them must get again. A slow
   * answer for one hook does not delay the others.
   */
  private async renewAll(): Promise<void> {
    for (const hook of [...this.hooks.values()]) {
      if (!this.client.connected) return
      await Promise.race([hook.renew(), sleep(50)])
    }
  }

  /**
   * Removes this worker from its hooks, and answers the calls that it has accepted, for at most the
   * given time in milliseconds.
   */
  async close(timeout = 30_000): Promise<void> {
    if (this.closed) return
    this.closed = true
    this.forgetReconnects()
    const hooks = [...this.hooks]
    this.hooks.clear()
    const errors: unknown[] = []
    for (const [id, hook] of hooks) {
      await hook.stopRenewing()
      await this.leave(id).catch((error: unknown) => errors.push(error))
    }
    // The hooks listen until here, so that calls that were sent before the routers knew are
    // answered.
    const drained = Promise.all(hooks.map(([, hook]) => hook.drain())).then(() => true)
    await this.discovery.stop()
    const over = new AbortController()
    const inTime = await Promise.race([drained, sleep(timeout, false, { signal: over.signal })])
    over.abort()
    await this.client.transport.flush()
    if (!inTime) errors.push(new HookRouterError("calls are still under way: their hooks did not answer in time"))
    if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join("; "))
  }

  /** Closes the worker at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Reports whether a failed registration may still be stored. */
function uncertain(error: unknown): boolean {
  return !(error instanceof RouterError) || error.code >= Code.overloaded
}
