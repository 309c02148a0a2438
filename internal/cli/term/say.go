package term

import (
	"io"
	"os"
	"strings"
)

// Say writes lines beside the output of a command, such as its errors, without what would act on a
// terminal: folded as [Printer.Fold] folds them if w is one, and else each on one line. The text has
// no line break at its end.
func Say(w io.Writer, text string) {
	width := TerminalWidth(w)
	for line := range strings.SplitSeq(text, "\n") {
		_, _ = io.WriteString(w, folded(Clean(line), width)) // there is no place left to report it
	}
}

// TerminalWidth is [WidthOf] for a terminal, and 0 for anything else: what is not read on a
// terminal is read by other programs, line by line.
func TerminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return WidthOf(f)
	}
	return 0
}

// folded is a line, and those on which it continues.
func folded(text string, width int) string {
	indent := margin + len(text) - len(strings.TrimLeft(text, " "))
	if indent > width/2 {
		indent = margin
	}
	return strings.Join(fold(text, width, indent), "\n") + "\n"
}
