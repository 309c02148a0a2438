package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// outcome is everything that can be expected of one step.
type outcome struct {
	record
	result    map[string]any // a HookResult, a Verdict or the handlers' names
	list      []any          // of collect and contributions
	messages  []any          // persistent messages that reached the context manager
	transient []any          // ephemeral ones
	request   []any          // the messages of the next model call
	display   []any          // what was shown
	elapsed   time.Duration  // from the request to its reply
}

// check reports why an outcome does not meet want, the value of an expectation.
type check func(key string, want any, o *outcome) error

// checks has one entry for each expectation key of the format.
var checks = map[string]check{
	"action":                     checkField,
	"reason":                     checkField,
	"context_injection":          checkField,
	"context_injection_role":     checkField,
	"ephemeral":                  checkField,
	"suppress_output":            checkField,
	"append_to_last_tool_result": checkField,
	"approval_prompt":            checkField,
	"approval_options":           checkField,
	"approval_timeout":           checkField,
	"approval_default":           checkField,
	"data":                       checkData,
	"reason_contains":            checkReasonContains,
	"received":                   checkReceived,
	"received_event":             checkReceivedEvent,
	"timestamp_received":         checkTimestampReceived,
	"timestamp_result":           checkTimestampResult,
	"timestamp_same":             checkTimestampSame,
	"message_timestamp":          checkMessageTimestamp,
	"max_elapsed_ms":             checkElapsed,
	"list":                       checkList,
	"called":                     checkCalled,
	"approval_count":             checkApprovalCount,
	"suppress_output_names":      value(exact, func(o *outcome) any { return orEmpty(o.result["suppress_output"]) }),
	"injected_tokens":            value(exact, func(o *outcome) any { return orZero(o.result["injected_tokens"]) }),
	"warnings":                   value(exact, func(o *outcome) any { return drops(o.result["warnings"]) }),
	"calls":                      value(exact, func(o *outcome) any { return o.callIDs() }),
	"collected":                  value(exact, func(o *outcome) any { return o.list }),
	"messages":                   value(subset, func(o *outcome) any { return o.messages }),
	"transient":                  value(subset, func(o *outcome) any { return o.transient }),
	"request_messages":           value(subset, func(o *outcome) any { return o.request }),
	"display":                    value(subset, func(o *outcome) any { return o.display }),
	"approvals":                  value(subset, func(o *outcome) any { return o.approvals }),
}

// defaults of the result's fields: what a field that was left out means.
var defaults = map[string]any{
	"context_injection_role":     "system",
	"ephemeral":                  false,
	"suppress_output":            false,
	"append_to_last_tool_result": false,
	"approval_timeout":           json.Number("300"),
	"approval_default":           "deny",
}

// meets returns one error for each expectation that the outcome does not meet, in
// the order of their keys.
func (o *outcome) meets(expect map[string]json.RawMessage) []error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(expect)) {
		want, err := decode(expect[key])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
			continue
		}
		if err := checks[key](key, want, o); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// value is the check that one part of the outcome is what is wanted.
func value(s strictness, of func(*outcome) any) check {
	return func(key string, want any, o *outcome) error {
		got := of(o)
		if list, ok := got.([]any); ok && list == nil {
			got = []any{} // nothing happened
		}
		return compare(key, want, got, s)
	}
}

func checkField(key string, want any, o *outcome) error {
	got, ok := o.result[key]
	if !ok && want != nil {
		got = defaults[key]
	}
	return compare(key, want, got, exact)
}

func checkData(key string, want any, o *outcome) error {
	return compare(key, want, withoutStamp(want, o.result["data"]), exact)
}

func checkReasonContains(key string, want any, o *outcome) error {
	wanted, ok := want.([]any)
	if !ok {
		wanted = []any{want}
	}
	reason, _ := o.result["reason"].(string)
	var errs []error
	for _, one := range wanted {
		text, ok := one.(string)
		if !ok || !strings.Contains(strings.ToLower(reason), strings.ToLower(text)) {
			errs = append(errs, unmet(key, one, o.result["reason"]))
		}
	}
	return errors.Join(errs...)
}

func checkApprovalCount(key string, want any, o *outcome) error {
	return compare(key, want, json.Number(fmt.Sprint(len(o.approvals))), exact)
}

func checkElapsed(key string, want any, o *outcome) error {
	limit, err := milliseconds(want)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if o.elapsed > limit {
		return fmt.Errorf("%s: want at most %s, got %s", key, limit, o.elapsed)
	}
	return nil
}

// checkList leaves out of the handlers' names the events that have none.
func checkList(key string, want any, o *outcome) error {
	got := map[string]any{}
	for event, names := range o.result {
		if list, ok := names.([]any); ok && len(list) == 0 {
			continue
		}
		got[event] = names
	}
	return compare(key, want, got, exact)
}

// drops are the kinds of the warnings that stand for a dropped injection.
func drops(warnings any) any {
	kinds := []any{}
	list, _ := warnings.([]any)
	for _, warning := range list {
		fields, _ := warning.(map[string]any)
		if kind := fields["kind"]; kind == "oversize" || kind == "budget" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// orEmpty is a list that may be left out where it is empty.
func orEmpty(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

// orZero is a number that may be left out where it is zero.
func orZero(v any) any {
	if v == nil {
		return json.Number("0")
	}
	return v
}
