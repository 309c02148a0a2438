package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookset"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// validate checks files.
type validate struct {
	Files    []string `arg:"" name:"file" type:"path" help:"Worker files."`
	FileOnly bool     `help:"Check what the files say, and not whether this machine has the programs, secrets and certificates that their hooks need."`
	Strict   bool     `help:"Take warnings for errors: what is well written and probably not meant, or can't do its work here."`
	JSON     bool     `name:"json" help:"A line of JSON for each file that is well."`
}

// validated is a file that is well.
type validated struct {
	File          string               `json:"file"`
	Registrations []chain.Registration `json:"registrations"` // every default written out
	Warnings      []string             `json:"warnings,omitempty"`
}

// run prints of each file what is wrong with it, or what it registers.
func (v validate) run(stdout, stderr io.Writer) error {
	var wrong error
	for _, path := range v.Files {
		if err := v.file(path, stdout, stderr); err != nil {
			wrong = errors.Join(wrong, err)
		}
	}
	return wrong
}

func (v validate) file(path string, stdout, stderr io.Writer) error {
	read := load
	if v.FileOnly {
		read = look
	}
	file, err := read(path, kind.Worker{}, stderr)
	if err != nil {
		return err
	}
	defer file.Close()
	warnings := tellWarnings(file, stderr)
	if v.Strict && len(warnings) > 0 {
		return inputError{fmt.Errorf("%s: %s, and --strict takes them for errors", path, count(len(warnings), "warning"))}
	}
	list, err := hookset.Registrations(file)
	if err != nil {
		return inputError{err}
	}
	for i, reg := range list {
		list[i] = reg.WithDefaults()
	}
	if !v.JSON {
		state := "all well"
		if len(warnings) > 0 {
			state = count(len(warnings), "warning")
		}
		fmt.Fprintf(stdout, "%s: %s, %s\n%s", path, count(len(file.Hooks), "hook"), state, table(list))
		return nil
	}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	return out.Encode(validated{path, list, warnings})
}

// table has a line for each registration.
func table(list []chain.Registration) string {
	var b strings.Builder
	for _, reg := range list {
		fmt.Fprintf(&b, "  %s: %s", reg.ID, words(reg))
		if len(reg.Events) > 0 {
			fmt.Fprintf(&b, ", timeout_ms %d, durable %t", reg.TimeoutMS, *reg.Durable)
		}
		if reg.Match != "" {
			fmt.Fprintf(&b, ", match %s", strings.Join(strings.Fields(reg.Match), " "))
		}
		b.WriteString("\n")
	}
	return b.String()
}
