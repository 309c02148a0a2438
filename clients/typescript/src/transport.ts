// A NATS connection that reconnects, and whose replies prove that the router has seen the request.
//
// The client library buffers messages while it reconnects, and its inboxes come from a predictable
// generator. So each of its connections is used once here, and replaced by a new one when it is
// lost.

import { setTimeout as sleep } from "node:timers/promises"

import { type Msg, type NatsConnection, PermissionViolationError, type Subscription, headers as newHeaders } from "@nats-io/transport-node"

import { dial, redacted } from "./dial.js"
import { Code, ConnectionLostError, DeadlineError, DisconnectedError, HookRouterError, ImpostorError, NoRouterError, NotPermittedError, RouterError, reason } from "./errors.js"
import { type Identity, proven } from "./identity.js"
import { token } from "./names.js"
import { type Accept, type Bound, type Headers, Replies, header, noResponders, readError } from "./replies.js"

/** A log for events that a client can't report otherwise. */
export interface Log {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** A subscription that outlives connections. */
export interface Listener {
  subject: string
  queue: string
  handle: (message: Msg) => void
  current?: Subscription | undefined
}

/** One connection at a time to the NATS servers at a URL. */
export class Transport {
  private nats: NatsConnection | undefined
  private generation = 0 // changes with each connection
  private provenGeneration = 0
  private inbox = ""
  /** Whether the transport was closed permanently. */
  closed = false
  private redialing: Promise<void> = Promise.resolve()
  private refused = "" // the server's last message about a missing permission
  private readonly stop = new AbortController()
  private readonly replies = new Replies()
  private readonly listeners = new Set<Listener>()
  private readonly reconnected = new Set<() => void>()

  constructor(
    readonly prefix: string,
    readonly log: Log,
    private readonly url: string,
    private readonly identity: Identity,
    private readonly name: string,
  ) {}

  /** Whether the connection is up. */
  get connected(): boolean {
    return this.nats !== undefined && !this.nats.isClosed()
  }

  /** The subject of a verb; the colons of an event become dots. */
  subject(verb: string, name = ""): string {
    return `${this.prefix}.${verb}${name && `.${name.replaceAll(":", ".")}`}`
  }

  /** Connects. */
  async open(): Promise<void> {
    const nats = await dial(this.url, this.identity, this.name)
    const inbox = `${this.identity.inbox}.${token()}.`
    // Before the hooks listen, since a call may arrive immediately and is answered on this
    // connection.
    this.inbox = inbox
    this.nats = nats
    this.generation++
    try {
      nats.subscribe(`${inbox}*`, { callback: (_, message) => this.replies.receive(message.subject.slice(inbox.length), message) })
      for (const listener of this.listeners) this.subscribe(nats, listener)
      await Promise.race([nats.flush(), nats.closed().then((error) => Promise.reject(error ?? new Error("the connection was closed")))])
    } catch (error) {
      this.abandon()
      await nats.close()
      throw error
    }
    if (this.closed) {
      this.abandon()
      await nats.close()
      return
    }
    void nats.closed().then(() => this.lost(nats))
    void this.watch(nats)
  }

  /** Calls `do` after each reconnect until the returned function is called. */
  onReconnect(does: () => void): () => void {
    this.reconnected.add(does)
    return () => this.reconnected.delete(does)
  }

  /** Subscribes, and waits until the server has the subscription. */
  async listen(subject: string, queue: string, handle: (message: Msg) => void): Promise<Listener> {
    const listener: Listener = { subject, queue, handle }
    this.listeners.add(listener)
    if (this.nats && this.connected) {
      this.subscribe(this.nats, listener)
      await this.flush()
    }
    return listener
  }

  private subscribe(nats: NatsConnection, listener: Listener): void {
    listener.current = nats.subscribe(listener.subject, { queue: listener.queue, callback: (_, message) => listener.handle(message) })
  }

  /** Unsubscribes, and waits until all received messages were passed to their handler. */
  async silence(listener: Listener): Promise<void> {
    this.listeners.delete(listener)
    const current = listener.current
    listener.current = undefined
    if (current && this.connected) await Promise.race([current.drain().catch(() => undefined), this.nats?.closed()])
  }

  /** Waits until the server has everything that was sent. */
  async flush(): Promise<void> {
    if (this.nats && this.connected) await Promise.race([this.nats.flush().catch(() => undefined), this.nats.closed()])
  }

  /** Sends one message. It does not buffer messages while there is no connection. */
  publish(subject: string, body: Uint8Array, headers: Headers, reply = ""): void {
    if (this.closed) throw new HookRouterError("the client is closed")
    if (!this.nats || !this.connected) throw new DisconnectedError("NATS is not connected: reconnecting")
    const all = newHeaders()
    let size = body.length + 64
    for (const [name, value] of Object.entries(headers)) {
      all.set(name, value)
      size += name.length + Buffer.byteLength(value) + 4
    }
    const most = this.nats.info?.max_payload ?? 1 << 20
    if (size > most) {
      throw new RouterError(Code.tooLarge, `the message has ${size} bytes, more than the server's max_payload of ${most}: send less`)
    }
    try {
      this.nats.publish(subject, body, { headers: all, reply })
    } catch (error) {
      if (!this.connected || this.nats.isDraining()) throw new DisconnectedError("NATS is not connected: reconnecting", { cause: error })
      throw error
    }
  }

  /** Sends a request to the router that the credentials name, and waits for an accepted reply. */
  async request(subject: string, body: Uint8Array, headers: Headers, accept: Accept, bound: Bound): Promise<Msg> {
    const end = performance.now() + bound.timeout
    await this.prove(bound)
    const nonce = token()
    const mine: Accept = (reply) => header(reply, "Hook-Nonce") === nonce && accept(reply)
    const left = { timeout: end - performance.now(), signal: bound.signal }
    return this.exchange(subject, body, { ...headers, "Hook-Nonce": nonce }, mine, left)
  }

  private async exchange(subject: string, body: Uint8Array, headers: Headers, accept: Accept, bound: Bound): Promise<Msg> {
    const reply = await this.replies.wait(subject, accept, bound, (id) => this.publish(subject, body, headers, this.inbox + id), () => this.late(bound.timeout))
    if (noResponders(reply)) throw new NoRouterError(`no router answers on ${subject}: start \`hook-router\`, see on its /readyz why it is not ready, or check the prefix`)
    const error = readError(reply.headers)
    if (error) throw error
    return reply
  }

  private late(timeout: number): Error {
    return new DeadlineError(`no answer came within ${Math.max(Math.round(timeout), 0)} ms${this.refused && `; the server said: ${this.refused}`}`)
  }

  /** Reports whether replies to this connection's requests go to a subject. */
  ownInbox(subject: string): boolean {
    const own = this.identity.inbox === "_INBOX" ? this.inbox : `${this.identity.inbox}.`
    return own !== "" && subject.startsWith(own)
  }

  /** Verifies the router's identity unless that was already done on this connection. */
  private async prove(bound: Bound): Promise<void> {
    if (!this.identity.router) return
    while (this.provenGeneration !== this.generation) await this.challenge(bound)
  }

  private async challenge(bound: Bound): Promise<void> {
    const generation = this.generation
    const challenge = token()
    const reply = await this.exchange(this.subject("prove"), new TextEncoder().encode(challenge), {}, () => true, bound)
    if (!proven(this.identity.router, challenge, reply.string())) {
      throw new ImpostorError("the program that answers is not the router that issued these credentials: another program may have taken its port")
    }
    this.provenGeneration = generation
  }

  private async watch(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status()) {
      if (status.type !== "error") continue
      this.refused = reason(status.error)
      this.log.warn(`NATS: ${this.refused}`)
      if (status.error instanceof PermissionViolationError && status.error.operation === "publish") {
        const hint = "use credentials that permit it: see `hookctl auth`"
        this.replies.fail(new NotPermittedError(`${this.refused}: ${hint}`, { cause: status.error }), status.error.subject)
      }
    }
  }

  private lost(nats: NatsConnection): void {
    if (nats !== this.nats) return
    this.abandon()
    if (this.closed) return
    this.log.warn("NATS disconnected; reconnecting")
    this.redialing = this.redial()
  }

  /** Fails all requests of the connection, since no replies will arrive. */
  private abandon(): void {
    this.nats = undefined
    this.generation++
    this.replies.fail(new ConnectionLostError("connection to NATS lost while waiting for the reply: the request may have taken effect"))
    for (const listener of this.listeners) listener.current = undefined
  }

  private async redial(): Promise<void> {
    while (!this.closed) {
      try {
        await this.open()
      } catch (error) {
        if (!(error instanceof HookRouterError)) this.log.warn(`connect to NATS at ${redacted(this.url)}: ${reason(error)}; trying again`)
        await sleep(250 + Math.random() * 250, undefined, { signal: this.stop.signal }).catch(() => undefined)
        continue
      }
      if (this.closed) return
      this.log.info("NATS reconnected")
      for (const does of [...this.reconnected]) does()
      return
    }
  }

  /** Flushes pending messages and disconnects. A second call does nothing. */
  async close(): Promise<void> {
    this.closed = true
    this.stop.abort()
    await this.redialing
    await this.flush()
    await this.nats?.close()
  }
}
