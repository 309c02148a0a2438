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
	if files, err := os.ReadDir("agents"); err != nil || len(files) != len(agenthook.Dialects())+2 { // and mcp.md, sdks.md
		t.Errorf("%d pages of %d agents, of MCP and of SDKs: %v", len(files), len(agenthook.Dialects()), err)
	}
}

func agentPage(d agenthook.Dialect) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.Agent)
	fmt.Fprintf(&b, "`hook-agent %[1]s` is the hook that asks the router. Prompts, tools, sessions and the end of a turn were tried with %[2]s %[3]s; the rest of the table is as its vendor documents it. `AGENTS=%[1]s go test -v ./test/agents` installs that version and tries it behind a router, against a stub model.\n\n", d.Name, d.Agent, d.Tried)
	fmt.Fprintf(&b, "```sh\nhookctl connect %[1]s\nhookctl doctor %[1]s\nhookctl disconnect %[1]s\n```\n\n", d.Name)
	fmt.Fprintf(&b, "`connect` shows what it changes in the settings of %s and asks before it writes; see [hookctl](../hookctl.md).\n\n", d.Agent)

	b.WriteString("## What is gated, and what is honored\n\n| event | here | a denial | a change of | context | messages to the user |\n|---|---|---|---|---|---|\n")
	for _, e := range d.Events {
		name := "`" + e.Native + "`"
		if e.Gated() {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", name, e.Name, orNo(string(e.Deny)), orNo(member(e.Modify)), yes(e.Inject), yes(e.Message))
	}
	b.WriteString(`
At the events in **bold**, nothing passes without the router's verdict. What a denial does: *stops*: it does not happen; *hides*: the model gets the reason in place
of the result or the prompt; *tells*: it has happened, and the model gets the reason too; *keeps on*: the agent does not end its turn. A change that the agent does not take is a
denial where a denial does something. What is lost otherwise is told on standard error. An event that is not in the table is announced as ` +
		"`" + d.Name + ":EVENT`" + `, passes, and is noted once.

## Where no router answers

| what | a gated event is |
|---|---|
`)
	for _, row := range [][2]string{
		{"the router is away, hangs, refuses, or answers what can't be read", "blocked, with the reason; an unreachable one is tried again for 2 s"},
		{"`hook-agent`'s second process is killed, or out of memory", "blocked by the first one"},
		{"the process that " + d.Agent + " started is killed", killed(d)},
		{"nobody answers an approval request in time", "blocked; the request stays open until it expires"},
		{"the agent's message is cut off, no JSON, not UTF-8, or too large", "blocked; an event that is not gated, and too large for the router, is reported as `" + agenthook.UncheckedEvent + "`"},
		{"HOME can't be written, a disk is full", "nothing changes in what is decided"},
		{"`--on-unreachable=allow`", "an unreachable router lets pass; each time is told, kept, and reported as `" + agenthook.UncheckedEvent + "` once it is back"},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	b.WriteString("\n## What to know\n\n")
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	return b.String()
}

func killed(d agenthook.Dialect) string {
	if d.FailsOpen {
		return "**not blocked**: " + d.Agent + " goes on where a hook crashes"
	}
	return "blocked by " + d.Agent + ", as `hookctl connect` sets it up"
}

func orNo(text string) string {
	if text == "" {
		return "–"
	}
	return text
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
	return "–"
}
