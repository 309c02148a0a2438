package filewatch

import "time"

// Settled is [Settle] for tests on the real clock.
const Settled = 40 * time.Millisecond

func init() { SettleAfter(Settled) }
