// What goes wrong. None of these permits anything.

import type { Approval } from "./verdict.js"

/** An error of this package. */
export class HookRouterError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** An error reply of a router: a code of the wire protocol, and a sentence that says what to do. */
export class RouterError extends HookRouterError {
  constructor(
    readonly code: number,
    readonly text: string,
  ) {
    super(`${text} (${code})`)
  }
}

/** The codes of the wire protocol. */
export const Code = {
  malformed: 400,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  gone: 410,
  tooLarge: 413,
  overloaded: 429,
  internal: 500,
  invalidResult: 502,
  unavailable: 503,
  deadline: 504,
} as const

/** No NATS server answers at the address, or it refuses the credentials. */
export class UnreachableError extends HookRouterError {}

/** Nobody answers on the routers' subjects. */
export class NoRouterError extends HookRouterError {}

/** NATS is not connected: nothing was sent. The client reconnects by itself. */
export class DisconnectedError extends HookRouterError {}

/** The connection was lost while a reply was awaited: the request may have taken effect. */
export class ConnectionLostError extends HookRouterError {}

/** NATS does not let these credentials send the request. */
export class NotPermittedError extends HookRouterError {}

/** No answer came in time. */
export class DeadlineError extends HookRouterError {}

/** The program that answers is not the router that issued the credentials. Its answer is dropped. */
export class ImpostorError extends HookRouterError {}

/** A reply can't be understood. */
export class InvalidReplyError extends HookRouterError {}

/** The data of a verdict is not what was approved. */
export class OtherDataError extends HookRouterError {}

/** Nobody waits any more for an approval request that a person may still answer. */
export class PendingError extends HookRouterError {
  constructor(
    readonly approval: Approval,
    cause: unknown,
  ) {
    super(
      `approval request ${approval.id} of hook ${approval.hook} is still open as far as is known ` +
        `(it expires ${approval.expires}): ${reason(cause)}`,
      { cause },
    )
  }
}

/** What an error says. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
