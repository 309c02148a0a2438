// One NATS connection, which does not reconnect.

import { readFile } from "node:fs/promises"

import { type ConnectionOptions, type NatsConnection, connect, credsAuthenticator } from "@nats-io/transport-node"

import { UnreachableError, reason } from "./errors.js"
import type { Identity } from "./identity.js"

/** Connects to the first of the comma-separated servers that answers. */
export async function dial(urls: string, identity: Identity, name: string): Promise<NatsConnection> {
  const options: ConnectionOptions = {
    servers: urls.split(",").map((url) => url.trim().replace(/^(\w+:\/\/)?.*@/, "$1")),
    name,
    reconnect: false,
    timeout: 5000,
    pingInterval: 5000,
    maxPingOut: 2,
    ...user(urls),
  }
  if (urls.includes("tls://")) options.tls = {}
  if (identity.creds) options.authenticator = credsAuthenticator(await readFile(identity.creds))
  try {
    return await connect(options)
  } catch (error) {
    let hint = "is a server running there? `hook-router up` starts one"
    if (/auth/i.test(reason(error)))
      hint = identity.creds
        ? `the server refuses the credentials in ${identity.creds}: they were rotated or revoked, have expired, or are for another server`
        : "the server requires credentials: those of hookctl auth, or of the router's own server, which only its user can read"
    throw new UnreachableError(`connect to NATS at ${redacted(urls)}: ${reason(error)}: ${hint}`, { cause: error })
  }
}

/** Returns the user or the token in a URL. */
function user(urls: string): { user?: string; pass?: string; token?: string } {
  const found = urls.split(",").find((url) => url.includes("@"))
  if (!found) return {}
  const { username, password } = new URL(found.includes("://") ? found.trim() : `nats://${found.trim()}`)
  const name = decodeURIComponent(username)
  return password ? { user: name, pass: decodeURIComponent(password) } : { token: name }
}

/** Hides the credentials in server URLs. */
export function redacted(urls: string): string {
  return urls.replace(/(^|,)\s*(?:(\w+):\/\/)?[^,]*@/g, (_, before: string, scheme?: string) => `${before}${scheme ?? "nats"}://***@`)
}
