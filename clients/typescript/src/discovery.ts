// Service discovery of a worker, for `nats micro ls`, `info` and `stats`.

import type { Msg } from "@nats-io/transport-node"

import { type RouterError, reason } from "./errors.js"
import { token } from "./names.js"
import type { Listener, Transport } from "./transport.js"

/** Statistics of a hook since it was registered. */
export class Endpoint {
  private requests = 0
  private errors = 0
  private lastError = ""
  private nanos = 0
  private readonly refused: Record<string, number> = {}

  constructor(
    private readonly name: string,
    private readonly subject: string,
  ) {}

  /** Counts an answered call and its duration in milliseconds. */
  count(took: number, error: RouterError | undefined): void {
    this.requests++
    this.nanos += Math.round(took * 1e6)
    if (!error) return
    this.errors++
    this.lastError = `${error.code}:${error.text}`
    this.refused[error.code] = (this.refused[error.code] ?? 0) + 1
  }

  /** The description of the endpoint. */
  about(): object {
    return { name: this.name, subject: this.subject, queue_group: this.name }
  }

  /** The statistics of the endpoint. */
  stats(dropped: number): object {
    return {
      ...this.about(),
      num_requests: this.requests,
      num_errors: this.errors,
      last_error: this.lastError,
      processing_time: this.nanos,
      average_processing_time: Math.floor(this.nanos / Math.max(this.requests, 1)),
      data: { refused: this.refused, dropped_no_inbox: dropped },
    }
  }
}

/** Answers PING, INFO and STATS of the NATS micro protocol. */
export class Discovery {
  readonly endpoints = new Set<Endpoint>()
  /** Calls whose reply subject was not an inbox of the sender. */
  dropped = 0
  private readonly started = new Date().toISOString()
  private readonly id = token()
  private readonly name: string
  private listeners: Promise<Listener[]> | undefined

  constructor(
    private readonly transport: Transport,
    name: string,
    private readonly version: string,
    private readonly instance: string,
  ) {
    this.name = /^[A-Za-z0-9_-]+$/.test(name) ? name : "hook-worker"
  }

  /** Starts to answer. A second call does nothing. */
  async start(): Promise<void> {
    const subjects = ["$SRV.*", `$SRV.*.${this.name}`, `$SRV.*.${this.name}.${this.id}`]
    await (this.listeners ??= Promise.all(subjects.map((subject) => this.transport.listen(subject, "", (message) => this.answer(message)))))
  }

  /** Stops answering. */
  async stop(): Promise<void> {
    for (const listener of (await this.listeners) ?? []) await this.transport.silence(listener)
  }

  private answer({ subject, reply }: Msg): void {
    const verb = subject.split(".")[1] ?? ""
    const endpoints = [...this.endpoints]
    const more: Record<string, object> = {
      PING: {},
      INFO: { description: "", endpoints: endpoints.map((one) => one.about()) },
      STATS: { started: this.started, endpoints: endpoints.map((one) => one.stats(this.dropped)) },
    }
    if (!Object.hasOwn(more, verb) || !isInbox(this.transport, reply)) return
    const body = {
      type: `io.nats.micro.v1.${verb.toLowerCase()}_response`,
      name: this.name,
      id: this.id,
      version: this.version,
      metadata: { prefix: this.transport.prefix, instance: this.instance },
      ...more[verb],
    }
    try {
      this.transport.publish(reply, new TextEncoder().encode(JSON.stringify(body)), {})
    } catch (error) {
      this.transport.log.warn(`discovery: not answered: ${reason(error)}`)
    }
  }
}

/** Reports whether a reply subject is an inbox of another client. */
export function isInbox(transport: Transport, reply: string | undefined): reply is string {
  return reply !== undefined && /^(_INBOX|_R_)/.test(reply) && !transport.ownInbox(reply)
}
