// The request for an event, and the router's report of how its hooks were run.

import { randomUUID } from "node:crypto"

import type { MsgHdrs } from "@nats-io/transport-node"

import { isPlain, stringify } from "./json.js"
import { checkEvent, escape, unescape } from "./names.js"
import { type Accept, type Headers, header, readError } from "./replies.js"

/** The maximum size of default fields, in bytes. */
export const maxDefaults = 8 << 10
/** The default timeout of an answer, in milliseconds: longer than a router may take. */
export const maxWait = 35_000

/** The headers and the body of one event. */
export function encodeEvent(name: string, data: unknown, session: string, source: string): { headers: Headers; body: Uint8Array } {
  checkEvent(name)
  if (!isPlain(data)) throw new TypeError(`${name}: the data of an event must be an object`)
  const own = data.session_id
  const headers: Headers = {
    "ce-specversion": "1.0",
    "ce-id": randomUUID(),
    "ce-source": escape(source),
    "ce-type": name,
    "ce-time": new Date().toISOString(),
  }
  const subject = typeof own === "string" && own ? own : session
  if (subject) headers["ce-subject"] = escape(subject)
  return { headers, body: new TextEncoder().encode(stringify(data)) }
}

/** Accepts replies that name the event. Error replies do not name an event. */
export function about(headers: Headers): Accept {
  return (reply) => {
    const id = header(reply, "Hook-Event-Id")
    return id === headers["ce-id"] || (id === "" && readError(reply) !== undefined)
  }
}

/**
 * Sends the remaining time to the router, slightly reduced so that its answer still arrives in
 * time.
 */
export function setTimeLeft(headers: Headers, left: number): void {
  headers["Hook-Timeout-Ms"] = String(Math.max(Math.floor(left - Math.min(left / 10, 100)), 1))
}

/** How the hooks of an event were run. */
export interface Run {
  eventId: string
  /** The id of this run of the chain. */
  chainId: string
  /** The number of called hooks. */
  hooks: number
  /** The id of the hook that denied; empty for none. */
  deniedBy: string
  /** Ids of hooks that failed open. */
  failedOpen: string[]
}

/** Reads how the hooks of an event were run. */
export function readRun(reply: MsgHdrs | undefined): Run {
  const failedOpen = header(reply, "Hook-Failed-Open")
  return {
    eventId: unescape(header(reply, "Hook-Event-Id")),
    chainId: header(reply, "Hook-Chain-Id"),
    hooks: Number(header(reply, "Hook-Count")) || 0,
    deniedBy: header(reply, "Hook-Denied-By"),
    failedOpen: failedOpen ? failedOpen.split(",") : [],
  }
}
