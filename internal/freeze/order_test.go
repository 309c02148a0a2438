package freeze_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/freeze"
)

func TestWhatAnOrderCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		order          freeze.Order
		agent, session string
		want           bool
	}{
		{freeze.Order{}, "/agent", "", true},
		{freeze.Order{Agent: "coder"}, "coder", "s", true},
		{freeze.Order{Agent: "coder"}, "nats AGENTS/coder", "", true},
		{freeze.Order{Agent: "AGENTS/coder"}, "nats AGENTS/coder", "", true},
		{freeze.Order{Agent: "/agents/coder"}, "/agents/coder", "", true},
		{freeze.Order{Agent: "coder"}, "/agents/decoder", "", false},
		{freeze.Order{Agent: "coder"}, "/agents/coder/2", "", false},
		{freeze.Order{Session: "s1"}, "", "s1", true},
		{freeze.Order{Session: "s1"}, "s1", "s2", false},
		{freeze.Order{Session: "s1"}, "s1", "", false},
	} {
		if got := c.order.Covers(c.agent, c.session); got != c.want {
			t.Errorf("%+v covers %q in %q: %v", c.order, c.agent, c.session, got)
		}
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	t.Parallel()
	if err := (freeze.Order{Reason: "leak"}).Check(); err != nil {
		t.Error(err)
	}
	for want, order := range map[string]freeze.Order{
		"either":    {Agent: "a", Session: "s", Reason: "r"},
		"a reason":  {Reason: " "},
		"1025":      {Reason: strings.Repeat("a", 1025)},
		"one line":  {Reason: "a\nb"},
		"of text w": {Reason: "a\xff"},
	} {
		if err := order.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", order, err, want)
		}
	}
}

func TestEachScopeHasItsKey(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, o := range []freeze.Order{{}, {Agent: "a"}, {Session: "a"}, {Agent: "b"}, {Session: "a.>*"}} {
		keys[o.Key()] = true
		if strings.ContainsAny(o.Key(), ">* ") {
			t.Errorf("%+v has the key %q", o, o.Key())
		}
	}
	if len(keys) != 5 {
		t.Errorf("%v", keys)
	}
}
