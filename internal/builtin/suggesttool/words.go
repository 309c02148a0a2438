package suggesttool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options of the builtin. The zero Options suggest the tools that a question names.
type Options struct {
	// Words are the words, of letters and digits, that speak for a tool, by its name. Beside
	// them, its name does.
	Words map[string][]string `json:"words"`
}

// Builtin is suggest-tool.
var Builtin = builtin.Of("Suggests a tool to an orchestrator that collects suggestions.",
	chain.Registration{Events: []string{events.DecisionToolResolution}, Priority: 50, ReplaySafe: true}, New)

// New builds the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	for _, tool := range slices.Sorted(maps.Keys(o.Words)) {
		for i, word := range o.Words[tool] {
			if split := wordsOf(word); len(split) != 1 {
				return kind.Hook{}, kind.At(jsontext.Pointer("/words").AppendToken(tool).AppendToken(strconv.Itoa(i)), "%q is no single word", word)
			}
		}
	}
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		var data struct {
			Tools []string `json:"available_tools"`
			Query string   `json:"user_query"`
		}
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return chain.Result{}, fmt.Errorf("read the tools to choose from: %w", err)
		}
		tool := o.suggest(data.Tools, wordsOf(data.Query))
		if tool == "" {
			return chain.Result{}, nil
		}
		suggestion, err := json.Marshal(map[string]string{"recommended_tool": tool})
		return chain.Result{Action: chain.Continue, Data: suggestion}, err
	}}, nil
}

// suggest is the tool that most words speak for, the first of several; empty for none.
func (o Options) suggest(tools, query []string) (best string) {
	most := 0
	for _, tool := range tools {
		speaking := append(wordsOf(tool), o.Words[tool]...)
		n := 0
		for _, word := range query {
			if slices.ContainsFunc(speaking, func(w string) bool { return strings.EqualFold(w, word) }) {
				n++
			}
		}
		if n > most {
			best, most = tool, n
		}
	}
	return best
}

// wordsOf are the words of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
