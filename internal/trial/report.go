package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Report writes what came of tests and events as it comes, and counts.
type Report struct {
	Out  io.Writer
	JSON bool // a document a line, instead of text for people

	Tests, Failed int
	results       []Result // for [Report.JUnit]
	err           error    // the first of writing
}

// Add takes one result.
func (r *Report) Add(result Result) error {
	r.Tests++
	if !result.OK {
		r.Failed++
	}
	r.results = append(r.results, result)
	if r.JSON {
		r.document(result)
	} else {
		r.text(result)
	}
	return r.err
}

// End writes what it adds up to.
func (r *Report) End() error {
	if r.JSON {
		r.document(struct {
			Kind   string `json:"kind"`
			Tests  int    `json:"tests"`
			Failed int    `json:"failed"`
		}{"summary", r.Tests, r.Failed})
		return r.err
	}
	thing := "tests"
	if len(r.results) > 0 && r.results[0].Kind == "event" {
		thing = "events"
	}
	if r.Tests == 1 {
		thing = strings.TrimSuffix(thing, "s")
	}
	r.print("%d %s, %d failed\n", r.Tests, thing, r.Failed)
	return r.err
}

func (r *Report) text(result Result) {
	place := fmt.Sprintf("%s:%d", result.File, result.Line)
	switch {
	case result.Kind == "event":
		r.print("%s  %s  %s  %s\n", place, result.Event, orDash(result.Session), outcome(result.Verdict))
	case result.OK:
		r.print("ok      %s  %s\n", place, result.Name)
	default:
		r.print("FAILED  %s  %s\n", place, result.Name)
	}
	for _, wrong := range result.Wrong {
		r.print("        %s\n", wrong)
	}
	if v := result.Verdict; v != nil {
		for _, h := range v.Hooks {
			mode := ""
			if h.Mode != "" {
				mode = " (" + string(h.Mode) + ")"
			}
			r.print("        - %s%s: %s\n", h.ID, mode, h.told())
		}
	}
}

func outcome(v *Verdict) string {
	if v == nil {
		return "not decided"
	}
	return v.brief()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// print writes a line for people, from which everything is gone that would do something
// to a terminal.
func (r *Report) print(format string, args ...any) {
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), "\n")
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsPrint(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\ufffd"))
	r.write([]byte(text + "\n"))
}

func (r *Report) document(v any) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		r.fail(err)
		return
	}
	r.write([]byte(text.String()))
}

func (r *Report) write(text []byte) {
	_, err := r.Out.Write(text)
	r.fail(err)
}

func (r *Report) fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("write the results: %w", err)
	}
}
