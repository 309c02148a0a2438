// Finds a program's NATS credentials and their claims about the router.

import { readFile } from "node:fs/promises"
import { BlockList, isIP } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"

import { nkeys } from "@nats-io/transport-node"

/** The role of a program: agents send events, workers serve hooks. */
export type Role = "agent" | "worker"

/** The identity of a connection: a credentials file and its claims. */
export interface Identity {
  /** The path of the credentials file; empty for none. */
  creds: string
  /** The prefix of reply subjects. */
  inbox: string
  /** The public key of the router that issued the credentials; empty if they name none. */
  router: string
}

/**
 * Finds the credentials for a role: the given ones, NATS_CREDS, or those that a router wrote for
 * its user. A user in the URL takes the place of credentials.
 */
export async function identify(url: string, role: Role, creds?: string): Promise<Identity> {
  const path = creds || (url.includes("@") ? "" : process.env.NATS_CREDS || (await fromContext(url, role)))
  if (!path) return { creds: "", inbox: "_INBOX", router: "" }
  const claims = await readClaims(path)
  return { creds: path, inbox: inboxOf(claims), router: routerOf(claims) }
}

/**
 * Returns the name of the context that a router writes for a role; empty if the URL has no host.
 */
export function contextName(server: string, role: Role): string {
  let url: URL
  try {
    url = new URL(server.includes("://") ? server : `nats://${server}`)
  } catch {
    return ""
  }
  let host = url.hostname.toLowerCase().replace(/^\[|\]$/g, "")
  if (!host || host.includes("/") || host.includes("%")) return ""
  if (host === "localhost" || isLoopback(host)) host = "127.0.0.1"
  return `hookrouter-${host.replaceAll(":", "_")}-${url.port || "4222"}-${role}`
}

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

function isLoopback(host: string): boolean {
  const version = isIP(host)
  return version !== 0 && loopback.check(host, version === 6 ? "ipv6" : "ipv4")
}

/** Finds the credentials file of the first server that has a context. */
async function fromContext(url: string, role: Role): Promise<string> {
  const { XDG_CONFIG_HOME: config, HOME: home } = process.env
  const parent = config || (home ? join(home, ".config") : "")
  if (!parent) return ""
  for (const server of url.split(",")) {
    const name = contextName(server.trim(), role)
    if (!name) continue
    const path = join(parent, "nats", "context", `${name}.json`)
    let text: string
    try {
      text = await readFile(path, "utf8")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue
      throw error
    }
    const context = JSON.parse(text) as { creds?: unknown; nsc?: unknown } | null
    const creds = context?.creds ?? ""
    if (typeof creds !== "string" || creds.startsWith("op://") || context?.nsc) {
      throw new TypeError(`NATS context ${path}: nsc and op:// are not supported: give a credentials file`)
    }
    return creds.replace(/^(?:~|\$HOME|\$\{HOME\})\//, `${home ?? homedir()}/`)
  }
  return ""
}

interface Claims {
  tags?: unknown
  sub?: { allow?: unknown }
}

/** Returns the NATS claims of a credentials file. */
async function readClaims(path: string): Promise<Claims> {
  const file = await readFile(path, "utf8")
  const payload = file.split("-----BEGIN NATS USER JWT-----")[1]?.trim().split(".")[1]
  if (!payload) throw new TypeError(`${path} is not a NATS credentials file: it has no user JWT`)
  const { nats } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as { nats?: Claims }
  return nats ?? {}
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : []
}

function inboxOf(claims: Claims): string {
  const allowed = texts(claims.sub?.allow).find((subject) => subject.startsWith("_INBOX") && subject.endsWith(".>"))
  return allowed?.slice(0, -2) ?? "_INBOX"
}

function routerOf(claims: Claims): string {
  const tag = texts(claims.tags).find((tag) => tag.startsWith("router:"))
  return tag?.slice("router:".length).toUpperCase() ?? ""
}

/** Reports whether the router with a public key signed a challenge. */
export function proven(router: string, challenge: string, signature: string): boolean {
  try {
    const text = new TextEncoder().encode(`hookrouter prove v1\n${challenge}`)
    return nkeys.fromPublic(router).verify(text, Buffer.from(signature, "base64"))
  } catch {
    return false
  }
}
