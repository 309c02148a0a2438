package audit

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

func TestProgressIsALineNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress((&cli.Env{Process: cli.Process{Stderr: &out}}), "export", 0, 200, messages)
	p.at(10)
	if out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
	p.said = p.said.Add(-time.Minute)
	p.began = p.began.Add(-time.Minute)
	p.at(50)
	p.at(60)
	p.end()
	if got := out.String(); !strings.HasPrefix(got, "export:  25%  50 of 200 messages  1/s") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}

func TestProgressIsABarOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress((&cli.Env{Process: cli.Process{Stderr: &out}}), "verify", 0, 4e6, term.Size)
	p.bar = true
	p.said = p.said.Add(-time.Second)
	p.at(1e6)
	p.say("something\x1b[2J")
	p.end()
	got := out.String()
	if !strings.Contains(got, "\r\x1b[Kverify  ["+strings.Repeat("█", 7)+strings.Repeat("░", 23)+"]  25%  1 MB of 4 MB") ||
		!strings.HasSuffix(got, "\r\x1b[Khookctl: something␛[2J\n") {
		t.Errorf("%q", got)
	}
}

// A bar leaves the last of the 80 columns free, so that it stays on one row.
func TestProgressFitsItsRow(t *testing.T) {
	t.Parallel()
	for what, bar := range map[string]string{"verify HOOKS_AUDIT": "[███░░░░░░░░░] ", "verify " + strings.Repeat("x", 90): "…"} {
		var out bytes.Buffer
		p := newProgress((&cli.Env{Process: cli.Process{Stderr: &out}}), what, 0, 4000, messages)
		p.bar = true
		p.said, p.began = p.said.Add(-time.Minute), p.began.Add(-time.Minute)
		p.at(1000)
		if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); ansi.StringWidth(got) > 79 || !strings.Contains(got, bar) {
			t.Errorf("%d columns: %q", ansi.StringWidth(got), got)
		}
	}
}

func TestSizesAreForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0: "0 B", 999: "999 B", 1000: "1 KB", 1.5e6: "1.5 MB", 2e12: "2 TB"} {
		if got := term.Size(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}
