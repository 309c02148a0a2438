package cli

import (
	"fmt"
	"io"
	"os"
	"time"
)

// CheckTimeout checks the flag --timeout; 0 means that it was not given.
func CheckTimeout(d time.Duration) error {
	if d != 0 && d < time.Millisecond {
		return fmt.Errorf("use --timeout %s: at least 1ms is needed", d)
	}
	return nil
}

// ReadFile reads a file that a flag names, of limit bytes at most; - is the standard input.
func ReadFile(name string, stdin io.Reader, limit int64) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("it is longer than %d bytes", limit)
	}
	return text, err
}
