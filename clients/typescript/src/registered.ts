// One hook of a worker: its subscription, its calls in flight and its renewals.

import type { Msg } from "@nats-io/transport-node"

import type { Retry } from "./client.js"
import { type Discovery, Endpoint, isInbox } from "./discovery.js"
import { ConnectionLostError, reason } from "./errors.js"
import { isPlain, stringify } from "./json.js"
import type { Registration } from "./registration.js"
import { header } from "./replies.js"
import { type Serve, answer } from "./serve.js"
import { Slots } from "./slots.js"
import type { Listener, Transport } from "./transport.js"

/** The delay before a failed renewal is retried, in milliseconds. */
const retryAfter = 500

/** What a hook needs of its worker. */
export interface Registrar {
  transport: Transport
  discovery: Discovery
  /** Sends the registration and returns the router's reply. */
  announce(registration: Registration, retry: Retry): Promise<Record<string, unknown>>
  /** Called when a registration of another process has replaced this one. */
  replaced(id: string, inForce: Record<string, unknown>): void
}

/** A hook that a worker serves. */
export class Registered {
  private readonly listeners: Listener[] = []
  private readonly endpoint: Endpoint
  private readonly cancelable = new Map<string, AbortController>() // by call id; only for hooks with effect validate
  private timer: NodeJS.Timeout | undefined
  private renewal: Promise<void> | undefined
  private stopped = false
  private inForce = "" // the replacing registration that was reported last; empty for none
  private readonly underWay = new Set<Promise<void>>()
  private readonly slots: Slots

  constructor(
    private readonly registrar: Registrar,
    private readonly registration: Registration,
    private readonly serve: Serve,
    maxInFlight: number,
  ) {
    this.slots = new Slots(maxInFlight)
    this.endpoint = new Endpoint(registration.id, registrar.transport.subject("call", registration.id))
  }

  /**
   * Subscribes before it registers, since the router may call as soon as the hook is registered.
   */
  async start(): Promise<void> {
    const { id, effect } = this.registration
    const { transport, discovery } = this.registrar
    const subject = transport.subject("call", id)
    if (effect === "validate") this.listeners.push(await transport.listen(`${subject}.cancel`, "", (message) => this.cancel(message)))
    this.listeners.push(await transport.listen(subject, id, (message) => this.receive(message)))
    discovery.endpoints.add(this.endpoint)
    await this.announce("idempotent")
  }

  private async announce(retry: Retry): Promise<void> {
    const reply = await this.registrar.announce(this.registration, retry)
    if (!this.timer && Array.isArray(reply.ignored)) {
      this.registrar.transport.log.error(`hook ${this.registration.id}: the router does not know ${reply.ignored.join(", ")} of its registration`)
    }
    const ttl = typeof reply.ttl_ms === "number" ? reply.ttl_ms : 0
    this.renewIn(Math.max(ttl, 30) / 3)
    this.compare(reply.in_force)
  }

  /** Reports once that another registration is in force. */
  private compare(inForce: unknown): void {
    const content = isPlain(inForce) ? stringify({ ...inForce, instance: undefined }) : ""
    if (content === this.inForce) return
    this.inForce = content
    if (isPlain(inForce)) this.registrar.replaced(this.registration.id, inForce)
    else this.registrar.transport.log.info(`hook ${this.registration.id}: its registration is in force again`)
  }

  private renewIn(milliseconds: number): void {
    clearTimeout(this.timer)
    if (this.stopped || this.registrar.transport.closed) return
    this.timer = setTimeout(() => void this.renew(), milliseconds)
    this.timer.unref() // the connection keeps the process alive
  }

  /** Sends the registration again. It never fails: a reconnect renews what can't be renewed now. */
  renew(): Promise<void> {
    if (this.stopped || !this.timer) return Promise.resolve()
    this.renewal ??= this.announce("never")
      .catch((error: unknown) => {
        this.renewIn(retryAfter)
        if (error instanceof ConnectionLostError || this.stopped || !this.registrar.transport.connected) return // a reconnect renews it
        this.registrar.transport.log.warn(`hook ${this.registration.id}: renewal failed; retrying: ${reason(error)}`)
      })
      .finally(() => (this.renewal = undefined))
    return this.renewal
  }

  /** Stops renewals and waits for one in flight. */
  async stopRenewing(): Promise<void> {
    this.stopped = true
    clearTimeout(this.timer)
    await this.renewal
  }

  private receive(message: Msg): void {
    const { transport, discovery } = this.registrar
    if (message.reply && !isInbox(transport, message.reply)) {
      discovery.dropped++
      transport.log.warn(`call of ${this.registration.id} dropped: its reply subject is not an inbox of the sender`)
      return
    }
    const call: Promise<void> = this.call(message).finally(() => this.underWay.delete(call))
    this.underWay.add(call)
  }

  /** Aborts a call whose answer is no longer needed. */
  private cancel({ headers }: Msg): void {
    this.cancelable.get(header(headers, "Hook-Call-Id"))?.abort(new Error("the router discarded this call: its result is no longer needed"))
  }

  private async call(message: Msg): Promise<void> {
    const arrived = performance.now()
    const ended = new AbortController()
    const id = header(message.headers, "Hook-Call-Id")
    if (id && this.registration.effect === "validate") this.cancelable.set(id, ended)
    try {
      const error = await answer(this.registrar.transport, this.registration.id, this.serve, message, this.slots, ended)
      this.endpoint.count(performance.now() - arrived, error)
    } catch (error) {
      this.registrar.transport.log.error(`hook ${this.registration.id}: ${reason(error)}`)
    } finally {
      this.cancelable.delete(id)
    }
  }

  /** Stops listening. */
  async silence(): Promise<void> {
    await this.stopRenewing()
    this.registrar.discovery.endpoints.delete(this.endpoint)
    for (const listener of this.listeners) await this.registrar.transport.silence(listener)
  }

  /** Stops listening, and answers the calls that have arrived. */
  async drain(): Promise<void> {
    await this.silence()
    await Promise.all(this.underWay)
  }
}
