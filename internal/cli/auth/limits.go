package auth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// limits returns the limits that the flags set, or nil if they set none. A flag without a value is
// an error, because it would limit nothing.
func (c *addCmd) limits() (*identity.Limits, error) {
	for flag, list := range map[string][]string{"--event": c.Event, "--may": c.May, "--field": c.Field} {
		if list != nil && (len(list) == 0 || slices.Contains(list, "")) {
			return nil, fmt.Errorf("%s names nothing: give a value, or leave the flag out for no limit", flag)
		}
	}
	if c.Event == nil && c.Priority == nil && c.May == nil && c.Field == nil && c.CallTimeout == nil {
		return nil, nil
	}
	l := &identity.Limits{Events: c.Event, Fields: c.Field}
	if c.CallTimeout != nil {
		if *c.CallTimeout < time.Millisecond {
			return nil, fmt.Errorf("--call-timeout %v: a call takes a millisecond or more", *c.CallTimeout)
		}
		l.TimeoutMS = int(c.CallTimeout.Milliseconds())
	}
	if c.Priority != nil {
		band, err := parseBand(*c.Priority)
		if err != nil {
			return nil, err
		}
		l.Priority = band
	}
	if c.May != nil {
		l.Actions = []chain.Action{}
		for _, action := range c.May {
			if action != "nothing" {
				l.Actions = append(l.Actions, chain.Action(action))
			}
		}
	}
	return l, nil
}

func parseBand(text string) (*identity.Band, error) {
	low, high, ok := strings.Cut(text, "..")
	least, err := strconv.Atoi(low)
	most, err2 := strconv.Atoi(high)
	if !ok || err != nil || err2 != nil {
		return nil, fmt.Errorf("--priority %q is not a range: give one such as 100..200", text)
	}
	return &identity.Band{Min: least, Max: most}, nil
}
