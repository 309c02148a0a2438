package workerfile

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Named returns the hook's handler, extended so that answers and errors name the rule that decided,
// by file and line. An answer that only continues and adds no label names no rule.
func (h Hook) Named() kind.Handler {
	if h.doc == nil {
		return h.Handler
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		var part jsontext.Pointer
		result, err := h.Handler(kind.WithWhy(ctx, func(p jsontext.Pointer) { part = p }), ev)
		result.Policy = h.Policy
		if err != nil {
			return result, fmt.Errorf("%s: %w", h.line(part), err)
		}
		if (result.Action == "" || result.Action == chain.Continue) && result.UserMessage == "" && len(result.Labels) == 0 {
			result.Rule = ""
			return result, nil
		}
		said, name := kind.SplitRule(result.Rule)
		if said != "" {
			part = said
		}
		result.Rule = chain.CleanRule(h.line(part) + " " + h.called(part, name))
		return result, nil
	}
}

// line returns the file and line of a part of the hook's section: "worker.yaml:12".
func (h Hook) line(part jsontext.Pointer) string {
	return fmt.Sprintf("%s:%d", tail(h.doc.name, maxFile), h.doc.nearest(h.at.AppendToken(h.Kind)+part).line)
}

// called names a part of the section and the rule in it, such as cel.rules[1] or
// command-guard.deny[3] "git push --force".
func (h Hook) called(part jsontext.Pointer, name string) string {
	if h.Kind != "builtin" {
		part = jsontext.Pointer("").AppendToken(h.Kind) + part
	}
	return strings.TrimSpace(pathOf(part) + " " + name)
}

// maxFile bounds the name of the file in a rule, in bytes, to leave room for the rest.
const maxFile = 120

// tail returns the end of a text that is longer than most bytes.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "…" + text
}
