// Sends one event and waits for its verdict, across lost connections and while a person decides.
//
// All attempts have the same id and the same bytes, so there is only one decision, whichever router
// answers.

import { setTimeout as sleep } from "node:timers/promises"

import { Backoff, type Client, type Request, passing, send } from "./client.js"
import { Code, DeadlineError, InvalidReplyError, OtherDataError, PendingError, RouterError } from "./errors.js"
import { maxWait, setTimeLeft } from "./event.js"
import { type Approval, type Execution, readExecution } from "./verdict.js"

/**
 * The timeout of an attempt that joins an approval request. It limits how late a dead router is
 * noticed.
 */
const rejoinTimeout = 4000
const rejoinWait = "3000"
/** How long after its expiry the decision of an approval request is still requested. */
const grace = 60_000

/** Sends one event until there is a verdict. */
export class Waiter {
  private pending: Approval | undefined
  private backoff: Backoff | undefined
  private readonly end: number

  constructor(
    private readonly client: Client,
    private readonly request: Request,
    private readonly onPending: ((approval: Approval) => void) | undefined,
    timeout: number | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.end = timeout === undefined ? Infinity : performance.now() + timeout
  }

  /**
   * Returns the verdict, continue or deny. The first attempts do not wait for a person, so that an
   * approval request is known as soon as there is one.
   */
  async decide(): Promise<Execution> {
    this.request.headers["Hook-Wait-Ms"] = "1"
    for (;;) {
      const began = performance.now()
      let cause: unknown
      try {
        const execution = await this.once()
        if (execution.action !== "pending") return execution
        this.join(execution.approval as Approval)
      } catch (error) {
        if (!this.temporary(error)) throw conclusive(error) ? error : this.final(error)
        cause = error
      }
      if (performance.now() - began > 1000) this.backoff?.reset() // the router waited, so no further pause is needed
      await this.pause(cause)
      this.request.headers["Hook-Retry"] = "1"
    }
  }

  private async once(): Promise<Execution> {
    const timeout = Math.min(this.pending ? rejoinTimeout : maxWait, this.end - performance.now())
    if (timeout <= 0) throw new DeadlineError("the time is over")
    if (!this.pending) setTimeLeft(this.request.headers, timeout)
    return readExecution(await send(this.client, this.request, { timeout, signal: this.signal }))
  }

  /** Starts to wait for the decision of an approval request. */
  private join(approval: Approval): void {
    const known = this.pending?.id === approval.id
    this.pending = approval
    this.request.headers["Hook-Wait-Ms"] = rejoinWait
    const left = Date.parse(approval.expires) - Date.now()
    this.backoff ??= new Backoff(0)
    if (!known || !Number.isNaN(left)) this.backoff.until = performance.now() + (left || 0) + grace
    if (!known) this.onPending?.(approval)
  }

  /** Waits before the next attempt, or throws the reason why there is none. */
  private async pause(cause: unknown): Promise<void> {
    this.backoff ??= new Backoff(performance.now() + this.client.patience)
    const left = this.end - performance.now()
    let more: boolean
    try {
      more = await Promise.race([this.backoff.wait(this.signal), ...(left < 2000 ? [sleep(Math.max(left, 0), true)] : [])])
    } catch (error) {
      throw this.final(error)
    }
    if (performance.now() >= this.end) throw this.final(cause ?? new DeadlineError("the time is over"))
    if (!more) throw this.final(cause ?? new DeadlineError("it was not decided within a minute after it expired"))
  }

  private final(cause: unknown): unknown {
    return this.pending ? new PendingError(this.pending, cause) : cause
  }

  /**
   * Reports whether to send the event again. If an approval request is known, its decision can
   * still be obtained, so only a refusal of the event itself ends the attempts.
   */
  private temporary(error: unknown): boolean {
    if (error instanceof RouterError && this.pending) return error.code === Code.overloaded || error.code >= Code.internal
    return passing(error)
  }
}

/** Reports whether a router answered, so that the outcome is known. */
function conclusive(error: unknown): boolean {
  return error instanceof RouterError || error instanceof InvalidReplyError || error instanceof OtherDataError
}
