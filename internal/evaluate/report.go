package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile"
)

// Report writes what came of tests and events as it comes, and counts.
type Report struct {
	Out  io.Writer
	JSON bool // a document a line, instead of text for people

	Tests, Failed int
	Errors        int      // what kept tests and events from being run
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

// Broken takes what kept tests or events of a file from being run: the file is wrong or
// has none, or somebody interrupted. Each fault of a worker file is an error with its line.
// It stands in the summary, in JSON and in JUnit; to tell it to people is the caller's.
func (r *Report) Broken(file string, err error) {
	faults := []Result{{File: file, Wrong: []string{err.Error()}}}
	if read, ok := errors.AsType[*ReadError](err); ok {
		faults[0].File, faults[0].Line = read.File, read.Line
	} else if all := workerfile.Errors(err); len(all) > 0 {
		faults = nil
		for _, e := range all {
			faults = append(faults, Result{File: e.File, Line: e.Line, Wrong: []string{e.Error()}})
		}
	}
	for _, fault := range faults {
		fault.Kind, fault.Name = "error", "the file can be tried"
		r.Errors++
		r.results = append(r.results, fault)
		if r.JSON {
			r.document(fault)
		}
	}
}

// End writes what it adds up to.
func (r *Report) End() error {
	if r.JSON {
		r.document(struct {
			Kind   string `json:"kind"`
			Tests  int    `json:"tests"`
			Failed int    `json:"failed"`
			Errors int    `json:"errors,omitempty"`
		}{"summary", r.Tests, r.Failed, r.Errors})
		return r.err
	}
	thing := "test"
	if len(r.results) > 0 && r.results[0].Kind == "event" {
		thing = "event"
	}
	text := fmt.Sprintf("%s, %d failed", plural(r.Tests, thing), r.Failed)
	if r.Errors > 0 {
		text += ", " + plural(r.Errors, "error")
	}
	r.print("%s\n", text)
	return r.err
}

func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
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
	for _, detail := range result.Wrong {
		r.print("        %s\n", detail)
	}
	for _, warning := range result.Warnings {
		r.print("        warning: %s\n", warning)
	}
	for _, detail := range result.Verdict.lines() {
		r.print("        %s\n", detail)
	}
}

// lines are what each hook did, for people; none of no verdict.
func (v *Verdict) lines() (all []string) {
	if v == nil {
		return nil
	}
	if len(v.Hooks) == 0 {
		return []string{"- no hook of the file wants this event"}
	}
	for _, h := range v.Hooks {
		name := h.ID
		if h.Mode != "" {
			name += " (" + string(h.Mode) + ")"
		}
		all = append(all, "- "+name+": "+h.describe())
		for _, change := range changed(h.Changes) {
			all = append(all, "    "+change)
		}
	}
	return all
}

// changed is a JSON Patch for people, a line for each operation, with secrets masked.
func changed(patch json.RawMessage) (lines []string) {
	var operations []struct {
		Op, Path   string
		Value, Old json.RawMessage
	}
	if json.Unmarshal(patch, &operations) != nil {
		return nil
	}
	for _, o := range operations {
		text := o.Path + ": " + short(o.Old) + " -> " + short(o.Value)
		switch {
		case o.Op == "remove":
			text = o.Path + ": removed, was " + short(o.Old)
		case o.Op == "add":
			text = o.Path + ": new: " + short(o.Value)
		case o.Old == nil:
			text = o.Path + "/: " + short(o.Value)
		}
		text, _ = redact.Default().Text(text)
		lines = append(lines, text)
	}
	return lines
}

func outcome(v *Verdict) string {
	if v == nil || v.Action == "" {
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
