package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// TestAgentPages keeps the page of each coding agent what its table says.
func TestAgentPages(t *testing.T) {
	for _, d := range agenthook.Dialects() {
		file := "agents/" + d.Name + ".md"
		want := agentPage(d)
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, file) != want {
			t.Errorf("%s is out of date: run go generate ./docs", file)
		}
	}
	if files, err := os.ReadDir("agents"); err != nil || len(files) != len(agenthook.Dialects())+3 { // and overview.md, mcp.md, sdks.md
		t.Errorf("%d pages of %d agents, of all, of MCP and of SDKs: %v", len(files), len(agenthook.Dialects()), err)
	}
}

func agentPage(d agenthook.Dialect) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.Agent)
	fmt.Fprintf(&b, "Set up with [`hookctl connect %s`](../hookctl.md#connect). Tried with %s %s.\n\n", d.Name, d.Agent, d.Tried)

	b.WriteString("## What is gated, and what is honored\n\n| event | here | denial | change of | context | user message |\n|---|---|---|---|---|---|\n")
	var told []string
	for _, e := range d.Events {
		if !e.Gated() && e.Deny == "" && e.Modify == "" && !e.Inject && !e.Message {
			told = append(told, "`"+e.Native+"` (`"+e.Name+"`)")
			continue
		}
		name := "`" + e.Native + "`"
		if e.Gated() {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", name, e.Name, string(e.Deny), member(e.Modify), yes(e.Inject), yes(e.Message))
	}
	b.WriteString("\n[Legend](overview.md#what-is-gated-and-what-is-honored).\n")
	if told != nil {
		b.WriteString("\n" + wrapped("Only reported: "+strings.Join(told, ", ")+"."))
	}
	b.WriteString("\n## What to know\n\n")
	notes := []string{"If the process that " + d.Agent + " started is killed, a gated event is " + killed(d) + "."}
	if d.SessionEnv != "" {
		notes = append(notes, "An agent of any vendor started from its shell is its [sub-agent](../labels.md#sub-agents), by "+member(d.SessionEnv)+".")
	}
	for _, note := range append(notes, d.Notes...) {
		b.WriteString(item(note))
	}
	return b.String()
}

// wrapped is a text in lines of at most 100 characters.
func wrapped(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(item(text), "- "), "\n  ", "\n")
}

// item is a text as an item of a list, in lines of at most 100 characters.
func item(text string) string {
	var b strings.Builder
	line := "-"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 100 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

func killed(d agenthook.Dialect) string {
	if d.FailsOpen {
		return "**not blocked**"
	}
	if d.FailsOpenBefore != "" {
		return "blocked from " + d.FailsOpenBefore + " on"
	}
	return "blocked by " + d.Agent + ", as `hookctl connect` sets it up"
}

func member(name string) string {
	if name == "" {
		return ""
	}
	return "`" + name + "`"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
