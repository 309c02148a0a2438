package match_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

func TestRulesHaveTheTime(t *testing.T) {
	saturday := time.Date(2026, 3, 7, 1, 30, 0, 0, time.FixedZone("", 2*60*60)) // Friday in UTC
	in := match.NewInput("tool:pre", "s1", []byte(`{"tags":["a","b"],"blob":"cm0gLXJm"}`)).At(saturday)
	for expr, want := range map[string]bool{
		`now == timestamp('2026-03-06T23:30:00Z')`:                     true,
		`now.getDayOfWeek() == 5 && now.getHours() == 23`:              true,
		`now.getDayOfWeek('Europe/Berlin') == 6`:                       true,
		`now > timestamp('2026-03-07T00:00:00Z')`:                      false,
		`now - duration('24h') < timestamp('2026-03-06T00:00:00Z')`:    true,
		`sets.contains(['a', 'b', 'c'], data.tags)`:                    true,
		`sets.intersects(data.tags, ['x']) || data.tags == []`:         false,
		`sets.equivalent(data.tags, ['b', 'a'])`:                       true,
		`string(base64.decode(data.blob)).startsWith('rm ')`:           true,
		`base64.encode(b'a') == 'YQ==' && data.tags.exists(t, t=='a')`: true,
	} {
		p, err := match.InRule.Compile(expr)
		if err != nil {
			t.Errorf("Compile(%s): %v", expr, err)
			continue
		}
		if got, err := p.Eval(in); err != nil || got != want {
			t.Errorf("Eval(%s) = %v, %v; want %v", expr, got, err, want)
		}
	}
	value, err := match.InRule.CompileExpr(`now`)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := value.EvalJSON(in); err != nil || string(text) != `"2026-03-06T23:30:00Z"` {
		t.Errorf("EvalJSON(now) = %s, %v", text, err)
	}
}

// TestAMatchHasNoTime checks that a match lacks the variables and functions that only rules have.
func TestAMatchHasNoTime(t *testing.T) {
	for expr, want := range map[string]string{
		`now > timestamp('2026-01-01T00:00:00Z')`: "match: 1:1: undeclared reference to 'now': only the rules of kind cel have the time",
		`sets.contains([1], [1])`:                 "undeclared reference to 'sets'",
		`base64.encode(b'a') == ''`:               "undeclared reference to 'base64'",
	} {
		if _, err := match.Compile(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v; want %s", expr, err, want)
		}
	}
}

func TestSetsOfHostileDataEndSoon(t *testing.T) {
	in := match.NewInput("tool:pre", "s1", costly)
	for _, expr := range []string{
		`sets.contains(data.list, data.same)`,
		`sets.equivalent(data.list, data.same)`,
		`sets.intersects(data.list, data.same.map(x, 2))`,
		`data.list.all(x, sets.contains(data.same, [1]))`,
		chain(`[data.text]`, `.map(a, base64.encode(bytes(a)))`, 60) + `[0] == ''`,
	} {
		p, err := match.InRule.Compile(expr)
		if err != nil {
			t.Fatalf("Compile(%s): %v", expr, err)
		}
		start := time.Now()
		if got, err := p.Eval(in); !errors.Is(err, match.ErrTooCostly) {
			t.Errorf("Eval(%s) = %v, %v; want %v", expr, got, err, match.ErrTooCostly)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("Eval(%s) took %v", expr, took)
		}
	}
}
