package regohook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// decide returns the strictest result of the rules. Each value is a list with the value of a rule,
// or empty if the rule is undefined.
func decide(rules []string, values []any) (chain.Result, error) {
	var strictest chain.Result
	defined := 0
	for i, rule := range rules {
		value, _ := values[i].([]any)
		if len(value) == 0 && rule != ruleAllow {
			continue
		}
		defined++
		var result chain.Result
		var err error
		if len(value) == 0 {
			result = chain.Denial(notAllowed)
		} else if result, err = resultOf(rule, value[0]); err != nil {
			return chain.Result{}, err
		}
		labels := events.UnionLabels(strictest.Labels, result.Labels)
		if defined == 1 || rank(result.Action) > rank(strictest.Action) {
			strictest, strictest.Rule = result, rule
		}
		strictest.Labels = labels // regardless of which rule is the strictest
	}
	if defined == 0 {
		return chain.Result{}, fmt.Errorf("%s is undefined for this event: give it a default", strings.Join(rules, " and "))
	}
	return strictest, nil
}

const (
	notAllowed = "The policy does not allow it"
	denied     = "The policy denies it"
	unsure     = "The policy wants a person to decide"
)

// rank returns the rank of an action. Actions are ordered as in a chain.
func rank(a chain.Action) int {
	return slices.Index([]chain.Action{chain.Modify, chain.InjectContext, chain.AskUser, chain.Deny}, a)
}

// resultOf converts the value of a rule to a result.
func resultOf(rule string, value any) (chain.Result, error) {
	switch v := value.(type) {
	case bool:
		return ofBool(rule, v), nil
	case string:
		if rule != ruleAllow && rule != ruleResult {
			return ofTexts(rule, v), nil
		}
	case []any:
		texts, ok := textsOf(v)
		if ok && len(texts) == 0 && rule != ruleAllow {
			return chain.Result{}, nil
		}
		if ok && rule != ruleAllow && rule != ruleResult {
			return ofTexts(rule, strings.Join(texts, "\n")), nil
		}
	case map[string]any:
		if rule != ruleDeny && rule != ruleAsk && rule != ruleAllow {
			return ofObject(rule, v)
		}
	}
	return chain.Result{}, fmt.Errorf("the value of %s is %s, which means nothing here", rule, word(value))
}

func ofBool(rule string, v bool) chain.Result {
	switch {
	case rule == ruleDeny && v:
		return chain.Denial(denied)
	case rule == ruleAsk && v:
		return chain.Question(unsure)
	case rule != ruleDeny && rule != ruleAsk && !v:
		return chain.Denial(notAllowed)
	}
	return chain.Result{}
}

func ofTexts(rule, text string) chain.Result {
	if rule == ruleAsk {
		return chain.Question(text)
	}
	return chain.Denial(text)
}

// ofObject parses a HookResult. It must have an action, so that an unrelated object is not taken
// for permission.
func ofObject(rule string, v map[string]any) (chain.Result, error) {
	if _, said := v["action"]; !said {
		return chain.Result{}, fmt.Errorf("the value of %s is an object without action, which is not a result", rule)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return chain.Result{}, fmt.Errorf("the value of %s can't be written as JSON", rule)
	}
	result, err := chain.ParseResult(raw)
	if err != nil {
		return chain.Result{}, fmt.Errorf("the value of %s: %w", rule, err)
	}
	return result, nil
}

// textsOf returns the texts of a list: its elements, or their members msg.
func textsOf(list []any) (texts []string, ok bool) {
	for _, element := range list {
		if o, isObject := element.(map[string]any); isObject {
			element = o["msg"]
		}
		text, isText := element.(string)
		if !isText {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

func word(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case []any:
		return "a list or a set that is not of texts"
	case map[string]any:
		return "an object"
	case bool:
		return "true or false"
	}
	return "a number"
}
