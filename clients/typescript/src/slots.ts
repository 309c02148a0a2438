// Limits the concurrent calls of one hook.

/** A semaphore with a FIFO queue. */
export class Slots {
  private readonly waiting = new Set<() => void>()
  private taken = 0

  constructor(private readonly most: number) {}

  /**
   * Acquires a slot and returns the function that releases it. It throws without a slot if the
   * signal is aborted first.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.taken < this.most) this.taken++
    else await this.turn(signal) // a released slot is passed on
    return () => this.leave()
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const mine = () => {
        signal.removeEventListener("abort", late)
        resolve()
      }
      const late = () => {
        this.waiting.delete(mine)
        reject(signal.reason as Error)
      }
      this.waiting.add(mine)
      signal.addEventListener("abort", late, { once: true })
    })
  }

  private leave(): void {
    const [next] = this.waiting
    if (!next) {
      this.taken--
      return
    }
    this.waiting.delete(next)
    next()
  }
}
