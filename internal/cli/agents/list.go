package agents

import (
	"bytes"
	"strings"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// status is the state of one agent on this machine.
type status struct {
	Agent     string   `json:"agent"`
	Name      string   `json:"name"`
	Installed bool     `json:"installed"`
	Connected []string `json:"connected"` // scopes
	Gated     []string `json:"gated"`     // events at which nothing passes without a verdict
}

// list shows the agents of this machine and which of their events are gated.
func list(e *cli.Env) error {
	all := []status{}
	for _, t := range targets() {
		d, _ := agenthook.Find(t.dialect)
		s := status{Agent: t.dialect, Name: d.Agent, Installed: t.installed(e.Getenv("PATH")), Connected: t.scopes(e.Getenv), Gated: []string{}}
		if len(s.Connected) > 0 {
			for _, event := range d.Events {
				if event.Gated() {
					s.Gated = append(s.Gated, event.Native)
				}
			}
		}
		all = append(all, s)
	}
	if e.Out.Document(all) {
		return nil
	}
	rows := [][]term.Cell{term.Heads("AGENT", "INSTALLED", "CONNECTED", "GATED")}
	for _, s := range all {
		rows = append(rows, term.Row(s.Agent, yesNo(s.Installed), words(s.Connected), words(s.Gated)))
	}
	e.Out.Table(rows)
	return nil
}

// scopes returns the scopes in which an agent is connected.
func (t target) scopes(getenv func(string) string) []string {
	list := []string{}
	for _, scope := range []string{user, project, managed} {
		if t, path, err := t.configuration(scope, getenv); err == nil && !t.repeats(scope, getenv) && t.connected(path) {
			list = append(list, scope)
		}
	}
	return list
}

// repeats reports whether the project scope is the same file as the user scope, because the project
// is the home directory.
func (t target) repeats(scope string, getenv func(string) string) bool {
	own, err := t.path(user, getenv)
	path, projectErr := t.path(project, getenv)
	return scope == project && err == nil && projectErr == nil && path == own
}

// connected reports whether a configuration contains hook-agent.
func (t target) connected(path string) bool {
	text, err := read(path)
	if err != nil || text == nil {
		return false
	}
	return len(commands(text, t)) > 0 || t.dialect == "opencode" && bytes.Contains(text, []byte("hook-agent"))
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func words(list []string) string { return term.OrDash(strings.Join(list, ", ")) }
