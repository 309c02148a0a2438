package audit

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// progress shows the progress of an operation: a bar on a terminal, and occasional lines elsewhere.
// It shows nothing for a short operation.
type progress struct {
	w           io.Writer
	bar         bool
	what        string // such as "export"
	total       int64  // in units; 0 if unknown
	unit        func(n float64) string
	began, said time.Time
	first       int64 // the unit at which it began
	drawn       bool
}

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
	barWidth  = 30
	minBar    = 5
)

// newProgress returns a progress that begins at the unit first.
func newProgress(e *cli.Env, what string, first, total int64, unit func(float64) string) *progress {
	f, ok := e.Stderr.(*os.File)
	now := time.Now()
	return &progress{w: e.Stderr, bar: ok && term.IsTerminal(f), what: what, total: total, unit: unit, began: now, said: now, first: first}
}

// at reports how much is done.
func (p *progress) at(done int64) {
	every := lineEvery
	if p.bar {
		every = barEvery
	}
	now := time.Now()
	if now.Sub(p.said) < every {
		return
	}
	p.said = now
	p.draw(done, now)
}

func (p *progress) draw(done int64, now time.Time) {
	rate := float64(done-p.first) / max(now.Sub(p.began).Seconds(), 0.001)
	width := term.ColumnsOf(p.w) - 1 // some terminals wrap at the last column
	text := fmt.Sprintf("%s  %s/s", p.unit(float64(done)), p.bare(rate))
	if p.total > 0 {
		share := min(float64(done)/float64(p.total), 1)
		text = fmt.Sprintf("%3.0f%%  %s of %s  %s/s", 100*share, p.bare(float64(done)), p.unit(float64(p.total)), p.bare(rate))
		if rate > 0 {
			left := min(float64(p.total-done)/rate, 1e6)
			text += "  " + term.Span(time.Duration(left*float64(time.Second))) + " left"
		}
		room := width - ansi.StringWidth(p.what+"  [] "+text)
		if cells := min(barWidth, room); p.bar && cells >= minBar {
			full := int(share * float64(cells))
			text = "[" + strings.Repeat("█", full) + strings.Repeat("░", cells-full) + "] " + text
		}
	}
	if p.bar {
		p.drawn = true
		fmt.Fprint(p.w, "\r\x1b[K"+ansi.Truncate(p.what+"  "+text, width, "…"))
		return
	}
	fmt.Fprintf(p.w, "%s: %s\n", p.what, text)
}

// bare formats a number of units without the word "messages".
func (p *progress) bare(n float64) string {
	text, _, _ := strings.Cut(p.unit(n), " message")
	return text
}

// say writes a separate line.
func (p *progress) say(format string, args ...any) {
	p.end()
	fmt.Fprintf(p.w, "hookctl: %s\n", term.Printable(fmt.Sprintf(format, args...)))
}

// end removes the bar.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// messages formats a number of messages.
func messages(n float64) string { return term.Plural(int(math.Round(n)), "message") }
