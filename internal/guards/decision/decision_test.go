package decision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
)

func Example() {
	d, err := decision.Decision("").Or(decision.Ask, "/otherwise")
	fmt.Println(d, err)
	_, err = decision.Decision("maybe").Or(decision.Ask, "/otherwise")
	fmt.Println(err)
	fmt.Println(decision.Clip("rm\x1b[31m -rf", 5))
	fmt.Println(decision.Tool("Bash"), "or", decision.Tool(" "))
	// Output:
	// ask <nil>
	// /otherwise: must be allow, ask or deny, not "maybe"
	// rm␛[3… (6 more characters)
	// Bash or a tool that the event doesn't name
}

// An excerpt shows both ends, and is unique to one text.
func TestAnExcerptIsOfOneText(t *testing.T) {
	long := func(middle string) string {
		return decision.Excerpt("begin "+strings.Repeat("a", 1000)+middle+strings.Repeat("a", 1000)+" end", 200)
	}
	one, other := long("ls"), long("rm")
	if one == other || len(one) != len(other) || !strings.HasPrefix(one, "begin ") || !strings.HasSuffix(one, " end") || !strings.Contains(one, "… (1812 more characters, SHA-256 ") {
		t.Errorf("%q and %q", one, other)
	}
	if got := decision.Excerpt("cu\u202erl", 200); got != "cu⟨U+202E⟩rl" {
		t.Errorf("%q", got)
	}
}

func TestTheGraverOneDecides(t *testing.T) {
	order := []decision.Decision{"", decision.Allow, decision.Ask, decision.Deny}
	for i, a := range order {
		for j, b := range order {
			f, other := decision.Finding{Decision: a, Reason: "a"}, decision.Finding{Decision: b, Reason: "b"}
			want := f
			if j > i {
				want = other
			}
			if got := f.Graver(other); got != want {
				t.Errorf("%q and %q: %+v", a, b, got)
			}
		}
	}
}

func TestATimeoutIsAPositiveNumber(t *testing.T) {
	if got, err := decision.Timeout(0); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := decision.Timeout(2.5); err != nil || *got != 2.5 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := decision.Timeout(-1); err == nil {
		t.Error("a negative time is accepted")
	}
}
