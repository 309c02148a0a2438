package builtin_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleTools() {
	tools := builtin.Tools{"shell", "mcp__github__*"}
	for _, tool := range []events.Tool{{Name: "Bash", Class: events.ClassShell}, {Name: "mcp__GitHub__push", Class: events.ClassMCP}, {Name: "Read", Class: events.ClassFile}} {
		fmt.Println(tool.Name, tools.Match(tool))
	}
	err := builtin.Tools{"Bash", "["}.Check("/tools")
	fmt.Println(err)
	// Output:
	// Bash true
	// mcp__GitHub__push true
	// Read false
	// /tools/1: "[" is not a pattern: give a tool's name or class, such as Bash, shell or mcp__github__*
}

func ExampleLine() {
	fmt.Printf("%q %q\n", builtin.Line(" two\nlines\x1b ", 20), builtin.Line("à la carte", 5))
	// Output: "two lines" "à la…"
}

func TestHooksRememberApart(t *testing.T) {
	var store hookstate.Memory
	of := func(id string) hookstate.Sessions[int] {
		return builtin.StateOf[int](kind.Section{Registration: &chain.Registration{ID: id}, Worker: kind.Worker{States: &store}}, "limits")
	}
	for _, id := range []string{"a", "b", "a"} {
		if err := of(id).Update(t.Context(), "s1", func(n *int) bool { *n++; return true }); err != nil {
			t.Fatal(err)
		}
	}
	a, errA := of("a").Get(t.Context(), "s1")
	b, errB := of("b").Get(t.Context(), "s1")
	if a != 2 || b != 1 || errA != nil || errB != nil {
		t.Errorf("a has %d, %v, b has %d, %v; want 2 and 1", a, errA, b, errB)
	}
}

func TestAContributionIsBounded(t *testing.T) {
	states := hookstate.Of[int](nil, "x")
	for i := range 600 {
		if err := states.Update(t.Context(), fmt.Sprint(i), func(n *int) bool { *n = i; return true }); err != nil {
			t.Fatal(err)
		}
	}
	odd := builtin.Contribution(states, func(n int) any {
		if n%2 == 0 {
			return nil
		}
		return n
	})
	all := builtin.Contribution(states, func(n int) any { return n })
	for want, contribute := range map[int]kind.Contributor{300: odd, 500: all} {
		if value, err := contribute(context.Background(), "c"); err != nil || len(value.([]any)) != want {
			t.Errorf("%d values, %v; want %d", len(value.([]any)), err, want)
		}
	}
}
