package term

import (
	"io"
	"os"
	"strings"
)

// Say prints messages such as errors outside a command's output, without characters that act on a
// terminal. On a terminal it folds lines as [Printer.Fold] does; elsewhere it does not fold them.
// The text has no trailing line break.
func Say(w io.Writer, text string) {
	width := TerminalWidth(w)
	for line := range strings.SplitSeq(text, "\n") {
		_, _ = io.WriteString(w, folded(Clean(line), width)) // an error can't be reported anywhere
	}
}

// TerminalWidth returns [WidthOf] for a terminal, and 0 for anything else: other output is read by
// programs, line by line.
func TerminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return WidthOf(f)
	}
	return 0
}

// folded returns a line together with its continuation lines.
func folded(text string, width int) string {
	indent := margin + len(text) - len(strings.TrimLeft(text, " "))
	if indent > width/2 {
		indent = margin
	}
	return strings.Join(fold(text, width, indent), "\n") + "\n"
}
