// Package toolsuggest is an example hook for emit-and-collect: an orchestrator
// that chooses a tool collects what several hooks suggest. It answers with data,
// {"tool":…,"confidence":…}, and no decision.
//
// It suggests the available tool whose name has most words in common with the
// user's question, and nothing where none has any.
package toolsuggest

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Suggestion is the data of the answer.
type Suggestion struct {
	Tool       string  `json:"tool"`
	Confidence float64 `json:"confidence"` // 0 to 1: the part of the tool's words that were asked for
}

// Registration is how the hook asks to be called: while a tool is chosen.
func Registration() chain.Registration {
	return chain.Registration{ID: "tool-suggest", Events: []string{events.DecisionToolResolution}, Priority: 20, ReplaySafe: true}
}

// Hook returns the hook. It is safe for concurrent use.
func Hook() chain.Hook {
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		var d struct {
			UserQuery string `json:"user_query"`
			events.DecisionToolResolutionData
		}
		if err := ev.Decode(&d); err != nil {
			return chain.Result{}, err
		}
		asked := map[string]bool{}
		for _, w := range words(d.UserQuery) {
			asked[w] = true
		}
		var best Suggestion
		for _, tool := range d.AvailableTools {
			parts, common := words(tool), 0
			for _, p := range parts {
				if asked[p] {
					common++
				}
			}
			if common > 0 && float64(common)/float64(len(parts)) > best.Confidence {
				best = Suggestion{tool, float64(common) / float64(len(parts))}
			}
		}
		if best.Tool == "" {
			return chain.Result{}, nil
		}
		data, err := json.Marshal(best)
		return chain.Result{Data: data}, err
	}
}

// words are the words of a text in lower case; those of a name too.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
