package cli

import (
	"fmt"
	"time"
)

// CheckTimeout checks the flag --timeout; 0 means that it was not given.
func CheckTimeout(d time.Duration) error {
	if d != 0 && d < time.Millisecond {
		return fmt.Errorf("use --timeout %s: at least 1ms is needed", d)
	}
	return nil
}
