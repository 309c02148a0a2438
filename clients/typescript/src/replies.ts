// The pending replies to the requests of one connection.

import { Match, type Msg, type MsgHdrs } from "@nats-io/transport-node"

import { Code, RouterError } from "./errors.js"
import { token } from "./names.js"

/** Headers of a message to send. */
export type Headers = Record<string, string>

/** Reports whether a reply is for a request. */
export type Accept = (headers: MsgHdrs | undefined) => boolean

/** The limits of a wait. */
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

/** Returns the first value of a header, ignoring the case of its name; empty if it is missing. */
export function header(headers: MsgHdrs | undefined, name: string): string {
  return headers?.get(name, Match.IgnoreCase) ?? ""
}

/** The pending replies. */
export class Replies {
  private readonly waiting = new Map<string, Waiter>()

  /** Sends a request with a random id, and waits for an accepted reply to it. */
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

  /** Handles a reply. It drops a reply that is not accepted: the right one may still arrive. */
  receive(id: string, message: Msg): void {
    const waiter = this.waiting.get(id)
    if (waiter && (noResponders(message) || waiter.accept(message.headers))) waiter.resolve(message)
  }

  /** Fails all waits, or those for requests on a subject. */
  fail(error: Error, subject?: string): void {
    for (const waiter of this.waiting.values()) if (subject === undefined || waiter.subject === subject) waiter.reject(error)
  }
}

/** Reports whether the server answered because there is no subscriber. */
export function noResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === 503
}

/** Returns the error in a reply. */
export function readError(headers: MsgHdrs | undefined): RouterError | undefined {
  const code = header(headers, "Nats-Service-Error-Code")
  const text = header(headers, "Nats-Service-Error")
  if (!code && !text) return undefined
  return new RouterError(/^\d{3}$/.test(code) ? Number(code) : Code.internal, text)
}
