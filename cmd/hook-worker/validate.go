package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// validate checks files.
type validate struct {
	Files    []string `arg:"" name:"file" type:"path" help:"Worker files."`
	FileOnly bool     `help:"Check the files only, not whether this machine has the programs, secrets and certificates that their hooks need."`
	Strict   bool     `help:"Treat warnings as errors: what is valid but probably unintended, or cannot work here."`
	JSON     bool     `name:"json" help:"A line of JSON for each file: what it registers, or its errors; and its warnings."`
}

// validated is the result for one file.
type validated struct {
	File          string               `json:"file"`
	Registrations []chain.Registration `json:"registrations,omitempty"` // in execution order, every default written out
	Errors        []remark             `json:"errors,omitempty"`
	Warnings      []remark             `json:"warnings,omitempty"`

	hooks int
}

// remark is an error or a warning. Line is 0 if it is not about a line.
type remark struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

func remarks(all []*workerfile.Error) (list []remark) {
	for _, e := range all {
		list = append(list, remark{e.File, e.Line, e.Column, e.Path, e.Err.Error()})
	}
	return list
}

// Run prints the errors of each file, or its registrations in execution order.
func (v validate) Run(p process) error {
	var wrong error
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	text := term.NewPrinter(p.stdout, false, false, false)
	text.Width = term.WidthOf(p.stdout)
	for _, path := range v.Files {
		found, err := v.check(path, p.stderr)
		wrong = errors.Join(wrong, err)
		switch {
		case v.JSON:
			wrong = errors.Join(wrong, out.Encode(found))
		case err == nil:
			found.print(text)
		}
	}
	return failed(wrong)
}

// inOrder compares registrations by execution order, with contributors last.
func inOrder(a, b chain.Registration) int {
	if n := cmp.Compare(len(a.Channels), len(b.Channels)); n != 0 && (len(a.Channels) == 0 || len(b.Channels) == 0) {
		return n
	}
	return cmp.Compare(a.Priority, b.Priority)
}

// check reads a file and prints its errors and warnings.
func (v validate) check(path string, stderr io.Writer) (found validated, err error) {
	found.File = path
	read := workerfiles.Load
	if v.FileOnly {
		read = workerfiles.Look
	}
	file, err := read(path, kind.Worker{}, stderr)
	if err != nil {
		found.Errors = remarks(workerfile.Errors(err))
		found.Warnings = remarks(workerfile.Warnings(err))
		if len(found.Errors) == 0 {
			found.Errors = []remark{{File: path, Message: err.Error()}}
		}
		return found, err
	}
	defer file.Close()
	found.hooks = len(file.Hooks)
	found.Warnings = remarks(workerfiles.Warn(file, stderr))
	found.Registrations, err = reload.Registrations(file)
	if err != nil {
		return found, workerfiles.InputError(err)
	}
	for i, reg := range found.Registrations {
		found.Registrations[i] = reg.WithDefaults()
	}
	slices.SortStableFunc(found.Registrations, inOrder)
	if n := len(found.Warnings); v.Strict && n > 0 {
		return found, workerfiles.InputError(fmt.Errorf("%s: %s, and --strict takes them for errors", path, term.Plural(n, "warning")))
	}
	return found, nil
}

// print prints a valid file for people.
func (f validated) print(out *term.Printer) {
	state := "all well"
	if n := len(f.Warnings); n > 0 {
		state = term.Plural(n, "warning")
	}
	out.Print("%s: %s, %s\n", term.Clean(f.File), term.Plural(f.hooks, "hook"), state)
	for _, reg := range f.Registrations {
		var b strings.Builder
		fmt.Fprintf(&b, "  %s: %s", reg.ID, hooks.Words(reg))
		if len(reg.Events) > 0 {
			fmt.Fprintf(&b, ", timeout_ms %d, durable %t", reg.TimeoutMS, *reg.Durable)
		}
		if reg.Effect != "" {
			fmt.Fprintf(&b, ", effect %s", reg.Effect)
		}
		if reg.Match != "" {
			fmt.Fprintf(&b, ", match %s", strings.Join(strings.Fields(reg.Match), " "))
		}
		out.Fold(term.Clean(b.String()))
	}
}
