package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The expectations about what reached the hooks, and about timestamps.

// callIDs are the ids of the hooks that were called, in order.
func (o *outcome) callIDs() []any {
	ids := make([]any, 0, len(o.calls))
	for _, c := range o.calls {
		ids = append(ids, c.id)
	}
	return ids
}

func checkCalled(key string, want any, o *outcome) error {
	wanted, ok := want.([]any)
	if !ok {
		return unmet(key, want, o.callIDs())
	}
	byText := func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	return compare(key, slices.SortedFunc(slices.Values(wanted), byText),
		slices.SortedFunc(slices.Values(o.callIDs()), byText), exact)
}

// callsOf are the calls of one hook.
func (o *outcome) callsOf(id string) []call {
	var calls []call
	for _, c := range o.calls {
		if c.id == id {
			calls = append(calls, c)
		}
	}
	return calls
}

// forEach runs a check on each member of an expectation that is an object of hook
// ids.
func forEach(key string, want any, one func(key, id string, want any) error) error {
	byID, ok := want.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: the expectation is not an object: %s", key, show(want))
	}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		errs = append(errs, one(key+"."+id, id, byID[id]))
	}
	return errors.Join(errs...)
}

// forEachOnce is forEach for hooks that must have been called exactly once.
func forEachOnce(key string, want any, o *outcome, one func(key string, want any, c call) error) error {
	return forEach(key, want, func(key, id string, want any) error {
		calls := o.callsOf(id)
		if len(calls) != 1 {
			return fmt.Errorf("%s: want one call with %s, got %d calls", key, show(want), len(calls))
		}
		return one(key, want, calls[0])
	})
}

func checkReceived(key string, want any, o *outcome) error {
	return forEachOnce(key, want, o, func(key string, want any, c call) error {
		return compare(key, want, withoutStamp(want, c.data), exact)
	})
}

func checkReceivedEvent(key string, want any, o *outcome) error {
	return forEachOnce(key, want, o, func(key string, want any, c call) error {
		return compare(key, want, c.event, exact)
	})
}

func checkTimestampReceived(key string, want any, o *outcome) error {
	return forEach(key, want, func(key, id string, want any) error {
		calls := o.callsOf(id)
		if len(calls) == 0 {
			return fmt.Errorf("%s: want %s, got no call", key, show(want))
		}
		var errs []error
		for _, c := range calls {
			errs = append(errs, checkTimestamp(key, want, c.data))
		}
		return errors.Join(errs...)
	})
}

func checkTimestampResult(key string, want any, o *outcome) error {
	return checkTimestamp(key, want, o.result["data"])
}

// checkTimestamp checks the timestamp in data: "stamped", "absent" or
// {"equals": X}.
func checkTimestamp(key string, want, data any) error {
	object, _ := data.(map[string]any)
	got, present := object["timestamp"]
	if equals, ok := want.(map[string]any); ok && len(equals) == 1 {
		if wanted, ok := equals["equals"]; ok {
			return compare(key, wanted, got, exact)
		}
	}
	switch want {
	case "absent":
		if present {
			return unmet(key, want, got)
		}
		return nil
	case "stamped":
		if err := stamped(got, time.Now()); err != nil {
			return fmt.Errorf("%w: %w", unmet(key, want, got), err)
		}
		return nil
	default:
		return fmt.Errorf("%s: unknown expectation %s", key, show(want))
	}
}

func checkTimestampSame(key string, want any, o *outcome) error {
	stamps := []any{}
	same := len(o.calls) > 0
	for _, c := range o.calls {
		object, _ := c.data.(map[string]any)
		stamp, present := object["timestamp"]
		stamps = append(stamps, stamp)
		if _, differ := difference(stamps[0], stamp, exact); differ || !present {
			same = false
		}
	}
	if want != same {
		return fmt.Errorf("%s: want %s, got the timestamps %s", key, show(want), show(stamps))
	}
	return nil
}

func checkMessageTimestamp(key string, want any, o *outcome) error {
	all := len(o.messages) > 0
	for _, message := range o.messages {
		fields, _ := message.(map[string]any)
		metadata, _ := fields["metadata"].(map[string]any)
		if stamped(metadata["timestamp"], time.Now()) != nil {
			all = false
		}
	}
	if want != all {
		return fmt.Errorf("%s: want %s, got the messages %s", key, show(want), show(o.messages))
	}
	return nil
}
