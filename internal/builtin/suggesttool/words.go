package suggesttool

import (
	"context"
	"encoding/json"
	"errors"
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
				return kind.Hook{}, kind.At(jsontext.Pointer("/words").AppendToken(tool).AppendToken(strconv.Itoa(i)), "%q is not a single word", word)
			}
		}
	}
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		var data struct {
			Tools []tool `json:"available_tools"`
			Query string `json:"user_query"`
		}
		if json.Unmarshal(ev.Data, &data) != nil {
			return chain.Result{}, errors.New("read the tools to choose from: available_tools must be a list, and user_query a text")
		}
		tool := o.suggest(data.Tools, wordsOf(data.Query))
		if tool == "" {
			return chain.Result{}, nil
		}
		suggestion, err := json.Marshal(map[string]string{"recommended_tool": tool})
		return chain.Result{Action: chain.Continue, Data: suggestion}, err
	}}, nil
}

// tool is the name of a tool: in the data a string, or the member name of an object. For anything
// else it is empty.
type tool string

// UnmarshalJSON accepts any JSON value.
func (t *tool) UnmarshalJSON(text []byte) error {
	var object struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(text, (*string)(t)) != nil && json.Unmarshal(text, &object) == nil {
		*t = tool(object.Name)
	}
	return nil
}

// suggest returns the tool with the most matching words in the query, the first one on a tie; empty
// if no word matches.
func (o Options) suggest(tools []tool, query []string) (best string) {
	most := 0
	for _, one := range tools {
		name := string(one)
		speaking := append(wordsOf(name), o.Words[name]...)
		n := 0
		for _, word := range query {
			if slices.ContainsFunc(speaking, func(w string) bool { return strings.EqualFold(w, word) }) {
				n++
			}
		}
		if n > most {
			best, most = name, n
		}
	}
	return best
}

// wordsOf returns the words of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
