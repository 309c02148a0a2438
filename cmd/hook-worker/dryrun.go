package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// The results of comparing a registration of the file with the one on the bus.
const (
	isNew     = "new"     // none is registered
	isSame    = "same"    // identical: this worker would share its calls
	isChanged = "changed" // the one on the bus would be replaced
	isRefused = "refused" // the one on the bus is newer, and stays
)

// plan describes what starting would change on the bus.
type plan struct {
	NATS  string    `json:"nats"`
	Hooks []planned `json:"hooks"`
}

// planned is one registration of the file.
type planned struct {
	ID        string           `json:"id"`
	Is        string           `json:"is"`
	Fields    map[string]field `json:"fields,omitempty"`    // the members that differ
	Instances []string         `json:"instances,omitempty"` // who serves it on the bus, with their versions

	wanted chain.Registration
}

// field is a member of a registration that differs.
type field struct {
	Bus  any `json:"bus"`
	File any `json:"file"`
}

// dryRun prints what starting would change on the bus.
func (s serve) dryRun(ctx context.Context, p process) error {
	file, err := workerfiles.Load(s.Config, kind.Worker{}, p.stderr)
	if err != nil {
		return err
	}
	defer file.Close()
	workerfiles.Warn(file, p.stderr)
	wanted, err := reload.Registrations(file)
	if err != nil {
		return workerfiles.InputError(err)
	}
	client, err := s.connect(ctx, file, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	a, err := agent.New(client, agent.Options{})
	if err != nil {
		return err
	}
	list, err := a.Registry(ctx)
	if err != nil {
		return fmt.Errorf("compare with the bus: %w", err)
	}
	there := map[string]agent.Listing{}
	for _, l := range list {
		there[l.ID] = l
	}
	found := plan{NATS: natsx.RedactURL(s.url(file))}
	for _, reg := range wanted {
		found.Hooks = append(found.Hooks, compare(reg, there))
	}
	if !s.JSON {
		return found.print(p.stdout)
	}
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	return out.Encode(found)
}

// compare compares a registration with the one on the bus.
func compare(reg chain.Registration, there map[string]agent.Listing) planned {
	one := planned{ID: reg.ID, Is: isNew, wanted: reg.WithDefaults()}
	l, known := there[reg.ID]
	if !known {
		return one
	}
	for _, i := range l.Instances {
		one.Instances = append(one.Instances, term.Clean(strings.TrimSpace(i.Instance+" "+i.Version)))
	}
	one.Is = isSame
	if reg.Content() != l.Content() {
		one.Is = isChanged
		one.Fields = differences(l.WithDefaults(), one.wanted)
		if registry.Older(reg.Version, l.Version) {
			one.Is = isRefused
		}
	}
	return one
}

// differences returns the members in which two registrations differ.
func differences(onBus, inFile chain.Registration) map[string]field {
	before, after := members(onBus), members(inFile)
	differ := map[string]field{}
	for _, all := range [...]map[string]any{before, after} { // defaults may be omitted
		for name := range all {
			if f := (field{before[name], after[name]}); fmt.Sprint(f.Bus) != fmt.Sprint(f.File) {
				differ[name] = f
			}
		}
	}
	return differ
}

// members returns a registration's members, without those that differ between instances.
func members(reg chain.Registration) (m map[string]any) {
	reg.Instance, reg.Protocol = "", 0
	text, err := json.Marshal(reg)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		panic(err) // strings, numbers and flags only
	}
	return m
}

// print writes a plan for people.
func (p plan) print(w io.Writer) error {
	out := term.NewPrinter(w, false, false, false)
	out.Width = term.TerminalWidth(w)
	out.Fold(fmt.Sprintf("on %s, and without starting anything:", p.NATS))
	for _, one := range p.Hooks {
		out.Fold(fmt.Sprintf("  %-8s %s: %s", one.Is, one.ID, one.words()))
		for _, name := range slices.Sorted(maps.Keys(one.Fields)) {
			out.Fold(term.Clean(fmt.Sprintf("             %s: %s -> %s", name, written(one.Fields[name].Bus), written(one.Fields[name].File))))
		}
	}
	return out.Failure()
}

// words describes what would happen.
func (one planned) words() string {
	who := cmp.Or(strings.Join(one.Instances, ", "), "no worker: none answers for it now")
	switch one.Is {
	case isNew:
		return hooks.Words(one.wanted)
	case isSame:
		return "shared with " + who
	case isRefused:
		return "the bus has a newer version, of " + who
	}
	return "taken over from " + who
}

// written returns a value as JSON.
func written(v any) string {
	if v == nil {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
