package resident

import "time"

func init() { endWithin, termWithin = 300*time.Millisecond, 100*time.Millisecond }
