package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// columns is the width of the help text.
const columns = 80

// showFlags lists flags in the format of the other programs' help: --name=VALUE and a description,
// in 80 columns.
func showFlags(w io.Writer, flags *flag.FlagSet) {
	const indent, column = 2, 28
	fmt.Fprintln(w, "Flags:")
	flags.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		head := "--" + f.Name
		if value != "" {
			head += "=" + strings.ToUpper(value)
		}
		for i, line := range wrap(text, columns-column) {
			if i > 0 {
				head = ""
			}
			fmt.Fprintf(w, "%*s%-*s%s\n", indent, "", column-indent, head, line)
		}
	})
}

// wrap breaks a text between words into lines of at most width bytes. hook-agent starts for each
// tool call, so it does not link the terminal packages of the other programs.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
