package resident

import "time"

func init() { endWithin, termWithin = 150*time.Millisecond, 50*time.Millisecond }
