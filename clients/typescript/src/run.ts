// Runs a program with one hook.

import { once } from "node:events"

import { type ClientOptions, connect } from "./client.js"
import type { Registration } from "./registration.js"
import type { Handler } from "./serve.js"

/**
 * Connects, registers one hook, and serves it until the signal is aborted or, without a signal,
 * until SIGINT or SIGTERM. Then it answers the calls that it has accepted, and disconnects.
 */
export async function runHook(registration: Registration, handler: Handler, options: ClientOptions & { signal?: AbortSignal } = {}): Promise<void> {
  const log = options.log ?? console
  const client = await connect({ role: "worker", name: "hook-worker", ...options, log })
  try {
    const worker = client.worker()
    await worker.register(registration, handler)
    log.info(`hook ${registration.id} registered`)
    await (options.signal ? aborted(options.signal) : Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]))
    await worker.close()
  } finally {
    await client.close()
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort")
}
