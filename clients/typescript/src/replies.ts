// The replies to the requests of one connection, each handed to whoever waits for it.

import { Match, type Msg, type MsgHdrs } from "@nats-io/transport-node"

import { Code, RouterError } from "./errors.js"
import { token } from "./names.js"

/** Headers of a message to send. */
export type Headers = Record<string, string>

/** Says whether a reply is one to a request. */
export type Accept = (headers: MsgHdrs | undefined) => boolean

/** Bounds how long something is waited for. */
export interface Bound {
  /** Milliseconds. */
  timeout: number
  signal?: AbortSignal | undefined
}

interface Waiter {
  subject: string
  accept: Accept
  resolve: (message: Msg) => void
  reject: (error: unknown) => void
}

/** The first value of a header, whatever the case of its name; empty where it is missing. */
export function header(headers: MsgHdrs | undefined, name: string): string {
  return headers?.get(name, Match.IgnoreCase) ?? ""
}

/** The replies that are waited for. */
export class Replies {
  private readonly waiting = new Map<string, Waiter>()

  /** Sends a request under an id that nobody can guess, and waits for a reply to it that is accepted. */
  async wait(subject: string, accept: Accept, bound: Bound, send: (id: string) => void, late: () => Error): Promise<Msg> {
    bound.signal?.throwIfAborted()
    const id = token()
    let timer: NodeJS.Timeout | undefined
    let aborted: (() => void) | undefined
    try {
      return await new Promise<Msg>((resolve, reject) => {
        this.waiting.set(id, { subject, accept, resolve, reject })
        timer = setTimeout(() => reject(late()), Math.max(bound.timeout, 0))
        aborted = () => reject(bound.signal?.reason)
        bound.signal?.addEventListener("abort", aborted)
        send(id)
      })
    } finally {
      this.waiting.delete(id)
      clearTimeout(timer)
      if (aborted) bound.signal?.removeEventListener("abort", aborted)
    }
  }

  /** Takes a reply. What is not accepted is dropped: the right one may still come. */
  receive(id: string, message: Msg): void {
    const waiter = this.waiting.get(id)
    if (waiter && (noResponders(message) || waiter.accept(message.headers))) waiter.resolve(message)
  }

  /** Ends every wait, or those for replies to requests on a subject. */
  fail(error: Error, subject?: string): void {
    for (const waiter of this.waiting.values()) if (subject === undefined || waiter.subject === subject) waiter.reject(error)
  }
}

/** Reports whether the server answered in the place of a subscriber. */
export function noResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === 503
}

/** Reads the error that a reply carries. */
export function readError(headers: MsgHdrs | undefined): RouterError | undefined {
  const code = header(headers, "Nats-Service-Error-Code")
  const text = header(headers, "Nats-Service-Error")
  if (!code && !text) return undefined
  return new RouterError(/^\d{3}$/.test(code) ? Number(code) : Code.internal, text)
}
