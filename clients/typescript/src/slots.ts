// How many calls of one hook run at once.

/** Places for calls; whoever finds none waits its turn. */
export class Slots {
  private readonly waiting = new Set<() => void>()
  private taken = 0

  constructor(private readonly most: number) {}

  /** Takes a place and returns what gives it back. It throws, and takes none, where the signal is aborted first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.taken < this.most) this.taken++
    else await this.turn(signal) // whoever leaves passes its place on
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
