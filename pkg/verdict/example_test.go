package verdict_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// What two hooks inject becomes one message.
func ExampleCompose() {
	injects := func(id, text string) *chain.Entry {
		return &chain.Entry{
			Registration: chain.Registration{ID: id},
			Hook:         func(context.Context, events.Event) (chain.Result, error) { return chain.Injection(text), nil },
		}
	}
	ev := events.Event{Name: events.ToolPost, Session: "s1"}
	entries := []*chain.Entry{injects("lint", "Line 42: E501"), injects("tests", "3 passed")}
	out, err := chain.Run(context.Background(), entries, ev, chain.Plan{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := verdict.Compose(out, ev, verdict.DefaultLimits, 0, time.Now())
	fmt.Println(v.Action, v.InjectedTokens)
	fmt.Println(v.Messages[0].Content)
	// Output:
	// continue 5
	// Hook feedback:
	//
	// From lint (13 bytes):
	// Line 42: E501
	//
	// From tests (8 bytes):
	// 3 passed
}

// Only an action of continue is a permission.
func ExampleParse() {
	v, err := verdict.Parse([]byte(`{"action":"deny","reason":"no shell","injected_tokens":0}`))
	fmt.Println(v.Action == verdict.Continue, v.Reason, err)

	_, err = verdict.Parse([]byte(`{"action":"allow"}`))
	fmt.Println(err)
	// Output:
	// false no shell <nil>
	// invalid verdict: action must be one of ["continue" "deny" "pending"]
}

func ExampleClean() {
	clean, removed := verdict.Clean("\x1b[31mignore\x1b[0m the \u202etxet\u202c")
	fmt.Printf("%q %d\n", clean, removed)
	// Output: "ignore the txet" 11
}

// A session may lower the router's limits, and not raise them.
func ExampleLimits_Lowered() {
	fmt.Println(verdict.DefaultLimits.Lowered(verdict.Limits{Size: 2048, Budget: 50_000}))
	// Output: {2048 10000}
}
