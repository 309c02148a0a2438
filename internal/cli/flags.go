package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// JSON reports whether the output is JSON, according to the flags or else HOOKCTL_FORMAT. The
// default is text, on a terminal or not.
func JSON(json, text bool, getenv func(string) string) (bool, error) {
	switch format := getenv("HOOKCTL_FORMAT"); {
	case json || text:
		return json, nil
	case format == "" || format == "text" || format == "json":
		return format == "json", nil
	default:
		return false, fmt.Errorf("use HOOKCTL_FORMAT=%s: it is text or json", term.Clip(format, term.MaxValue))
	}
}

// CheckTimeout checks the flag --timeout. 0 means that it was not given.
func CheckTimeout(d time.Duration) error {
	if d != 0 && d < time.Millisecond {
		return fmt.Errorf("use --timeout %s: at least 1ms is needed", d)
	}
	return nil
}

// ReadFile reads at most limit bytes of a file that a flag names; - is the standard input.
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
