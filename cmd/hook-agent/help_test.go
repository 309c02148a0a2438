package main

import (
	"flag"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/mcpproxy"
)

// Help fits a terminal of 80 columns, and says of each flag what it takes.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	for name, show := range map[string]func(*strings.Builder) error{
		"hook-agent": func(out *strings.Builder) error { return parse(&agenthook.Hook{}, []string{"--help"}, out) },
		"mcp-proxy": func(out *strings.Builder) error {
			return parseMCP(&mcpproxy.Options{}, &agenthook.Options{}, []string{"--help"}, out)
		},
	} {
		var out strings.Builder
		if err := show(&out); err != flag.ErrHelp { //nolint:errorlint // it is never wrapped
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 || strings.Contains(line, "\t") {
				t.Errorf("%s: the line is too wide, or has tabs: %q", name, line)
			}
		}
		for _, want := range []string{"Usage: hook-agent ", "  --creds=FILE ", "  --timeout=TIME ", "  --version "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
	}
}
