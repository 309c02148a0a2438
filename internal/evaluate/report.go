package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile"
)

// Report writes and counts the results of tests and events.
type Report struct {
	Out    *term.Printer // JSON output has one document per line
	Folded bool          // text is folded to the width of Out

	Tests, Failed int
	Errors        int      // reasons why tests and events could not run
	results       []Result // for [Report.JUnit]
}

// Add adds one result.
func (r *Report) Add(result Result) error {
	r.Tests++
	if !result.OK {
		r.Failed++
	}
	r.results = append(r.results, result)
	if !r.Out.Line(result) {
		r.text(result)
	}
	return r.Out.Failure()
}

// Broken adds an error that kept tests or events of a file from running: the file is invalid or has
// none, or the run was interrupted. Each error of a worker file counts separately, with its line.
// The errors go to the summary, to JSON and to JUnit; the caller shows them to people.
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
		r.Out.Line(fault)
	}
}

// End writes the summary.
func (r *Report) End() error {
	if r.Out.Line(struct {
		Kind   string `json:"kind"`
		Tests  int    `json:"tests"`
		Failed int    `json:"failed"`
		Errors int    `json:"errors,omitempty"`
	}{"summary", r.Tests, r.Failed, r.Errors}) {
		return r.Out.Failure()
	}
	thing := "test"
	if len(r.results) > 0 && r.results[0].Kind == "event" {
		thing = "event"
	}
	text := fmt.Sprintf("%s, %d failed", term.Plural(r.Tests, thing), r.Failed)
	if r.Errors > 0 {
		text += ", " + term.Plural(r.Errors, "error")
	}
	r.print("%s\n", text)
	return r.Out.Failure()
}

func (r *Report) text(result Result) {
	place := fmt.Sprintf("%s:%d", result.File, result.Line)
	if result.Nth {
		place = fmt.Sprintf("%s#%d", result.File, result.Line)
	}
	switch {
	case result.Kind == "event":
		r.print("%s  %s  %s  %s\n", place, result.Event, term.OrDash(result.Session), outcome(result.Verdict))
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

// lines returns a line for each hook, with what it did. It returns nil for a nil verdict.
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

// changed formats a JSON Patch, one line for each operation, with secrets masked.
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

// print writes a line, without control characters.
func (r *Report) print(format string, args ...any) {
	line := term.Clean(strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"))
	if r.Folded {
		r.Out.Fold(line)
		return
	}
	r.Out.Print("%s\n", line)
}
