package eventlog

import "time"

func init() { flushEvery = 20 * time.Millisecond }
