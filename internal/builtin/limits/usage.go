package limits

import (
	"encoding/json"
	"math"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The members in which vendors report what a model call used.
var (
	usageMembers  = []string{"usage", "usageMetadata", "usage_metadata", "token_usage"}
	totalMembers  = []string{"total_tokens", "totalTokens", "totalTokenCount", "total"}
	inputMembers  = []string{"input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "promptTokenCount", "input"}
	cacheMembers  = []string{"cache_read_input_tokens", "cache_creation_input_tokens"} // not included in input_tokens
	outputMembers = []string{"output_tokens", "completion_tokens", "outputTokens", "completionTokens", "candidatesTokenCount", "output"}
	costMembers   = []string{"cost", "cost_usd", "total_cost_usd", "totalCostUsd", "costUSD", "total_cost"}
)

// Prices are what tokens cost, for events that don't tell it, each for a million.
type Prices struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// usageOf returns the use that an event reports, or the zero slot.
func usageOf(data events.Object, p Prices) (used slot) {
	usage := data
	for _, o := range []events.Object{data, inner(data, "response"), inner(data, "result")} {
		for _, name := range usageMembers {
			if found := inner(o, name); found.Len() > 0 {
				usage = found
			}
		}
	}
	input, output := first(usage, inputMembers), first(usage, outputMembers)
	for _, name := range cacheMembers {
		input += number(usage, name)
	}
	used.Tokens = int64(min(max(first(usage, totalMembers), input+output), math.MaxInt32))
	used.Cost = max(first(usage, costMembers), first(data, costMembers))
	if used.Cost == 0 {
		used.Cost = (input*p.Input + output*p.Output) / 1e6
	}
	used.Cost = min(used.Cost, maxCost)
	return used
}

// maxCost limits the cost of one event, so that sums stay finite.
const maxCost = 1e12

func inner(o events.Object, name string) events.Object {
	raw, _ := o.Get(name)
	found, _ := events.ParseObject(raw)
	return found
}

func first(o events.Object, names []string) float64 {
	for _, name := range names {
		if n := number(o, name); n > 0 {
			return n
		}
	}
	return 0
}

// number returns a numeric member, or 0. It is never negative, since that would reduce a count.
func number(o events.Object, name string) float64 {
	raw, ok := o.Get(name)
	if !ok || raw.Kind() != '0' {
		return 0
	}
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return max(n, 0)
}
