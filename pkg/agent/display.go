package agent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Display shows hooks' messages to the agent's user. It must be safe for concurrent use.
type Display interface {
	Show(ctx context.Context, d verdict.Display) error
}

// TerminalDisplay is a [Display] of lines of text:
//
//	[warning] hook:path-guard: this file is generated
//
// Messages are untrusted text: control characters, escape sequences and invisible or
// direction-changing characters are escaped, as in \x1b, and continuation lines are indented, so
// that one message can't imitate another. It is safe for concurrent use.
type TerminalDisplay struct {
	mu  sync.Mutex // guards out
	out io.Writer
}

// NewTerminalDisplay returns a display that writes each message to out in one Write.
func NewTerminalDisplay(out io.Writer) *TerminalDisplay { return &TerminalDisplay{out: out} }

// Show writes one message. It returns the writer's error.
func (t *TerminalDisplay) Show(_ context.Context, d verdict.Display) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := io.WriteString(t.out, Line(d)+"\n"); err != nil {
		return fmt.Errorf("show a message of %s: %w", d.Source, err)
	}
	return nil
}

// Line formats a message as a [TerminalDisplay] does, without the final newline.
func Line(d verdict.Display) string {
	level := cmp.Or(d.Level, chain.LevelInfo)
	return fmt.Sprintf("[%s] %s: %s", visible(string(level), " "), visible(d.From(), " "), visible(d.Message, "\n    "))
}

// visible escapes characters that would act on a terminal or hide in the text. newline replaces
// line breaks.
func visible(text, newline string) string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	var b strings.Builder
	for _, c := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case c == '\n':
			b.WriteString(newline)
		case c == '\t', c == '\u200c', c == '\u200d': // joiners belong to letters and emoji
			b.WriteRune(c)
		case c <= 0xff && unicode.IsControl(c):
			fmt.Fprintf(&b, `\x%02x`, c)
		case unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, `\u{%04x}`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
