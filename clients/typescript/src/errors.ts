// The errors of this package. None of them is a permission.

import type { Approval } from "./verdict.js"

/** An error of this package. */
export class HookRouterError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** An error reply of a router: a code of the wire protocol, and a message that says what to do. */
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

/** No router answers on the routers' subjects. */
export class NoRouterError extends HookRouterError {}

/** NATS is not connected, so nothing was sent. The client reconnects automatically. */
export class DisconnectedError extends HookRouterError {}

/** The connection was lost before the reply arrived. The request may have had an effect. */
export class ConnectionLostError extends HookRouterError {}

/** The credentials have no permission for the request. */
export class NotPermittedError extends HookRouterError {}

/** No answer arrived in time. */
export class DeadlineError extends HookRouterError {}

/** The responder is not the router that issued the credentials. Its answer is dropped. */
export class ImpostorError extends HookRouterError {}

/** A reply is invalid. */
export class InvalidReplyError extends HookRouterError {}

/** The data of a verdict differs from the approved data. */
export class OtherDataError extends HookRouterError {}

/** The wait for an approval request ended, and a person may still answer it. */
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

/** Returns the message of an error. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
