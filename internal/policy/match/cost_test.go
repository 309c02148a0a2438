package match_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// costly is data of the maximum size that the router accepts, designed to be slow to process.
var costly = []byte(`{"text":"` + strings.Repeat("a", 200_000) + `","other":"` + strings.Repeat("a", 99_999) + `b",` +
	`"list":[` + strings.Repeat("1,", 50_000) + `1],"same":[` + strings.Repeat("1,", 50_000) + `1],` +
	`"deep":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`)

// TestEvalOfAHostileExpressionEndsSoon contains an expression for each known way to make one
// evaluation take minutes or gigabytes under the library's own cost limit. The time limit is
// generous: without metering, these take much longer.
func TestEvalOfAHostileExpressionEndsSoon(t *testing.T) {
	steps := testkit.Volume(t, 40, 60, 60) // of doubling; compiling the expressions takes longest
	for name, expr := range map[string]string{
		"a loop in a loop":                      `data.list.all(x, data.list.all(y, x == y))`,
		"comparing all data in a loop":          `data.list.all(x, data == data)`,
		"comparing large lists in a loop":       `data.list.all(x, data.list == data.same)`,
		"comparing what differs at its end":     `data.list.all(x, data.text != data.other + 'c')`,
		"not equal in a loop":                   `data.list.all(x, !(data.list != data.same))`,
		"searching a list in a loop":            `data.list.all(x, !(2 in data.list))`,
		"searching a list for a list":           `data.list.all(x, !([data.list] in [data.same, data.list]))`,
		"a list doubled and doubled, searched":  `2 in ` + chain(`[[1, 1]]`, `.map(a, a + a)`, steps) + `[0]`,
		"a list doubled and doubled, gone over": chain(`[[1, 1]]`, `.map(a, a + a)`, steps) + `[0].all(a, a == 1)`,
		"a tree of shared lists, compared":      chain(`[[1]]`, `.map(a, [a, a])`, steps) + `.exists(a, a == a)`,
		"a tree of shared maps, compared":       chain(`[{'a': 1}]`, `.map(a, {'a': a, 'b': a})`, steps) + `.exists(a, a == a)`,
		"a text doubled and doubled":            chain(`[data.text]`, `.map(a, a + a)`, steps) + `[0] == ''`,
		"bytes doubled and doubled":             chain(`[bytes(data.text)]`, `.map(a, a + a)`, steps) + `[0] == b''`,
		"every position replaced by the text":   `data.text.replace('', data.text) == ''`,
		"every position replaced, with a count": `data.text.replace('', data.text, -1) == ''`,
		"a large separator between all":         `data.list.map(x, 'x').join(data.text) == ''`,
		"the text many times in a format":       `'` + strings.Repeat(`%s`, 300) + `'.format([` + strings.Repeat(`data.text,`, 299) + `data.text]) == ''`,
		"a large list in a format in a loop":    `data.list.all(x, '%s'.format([data.list]) != '')`,
		"an expensive pattern":                  `data.text.matches('(x?a?){80}b')`,
		"a pattern in a loop":                   `data.list.all(x, data.text.matches('a+b') || true)`,
		"splitting in a loop":                   `data.list.all(x, data.text.split('').size() > 0)`,
		"searching text in a loop":              `data.list.all(x, data.text.indexOf(data.other) < 0)`,
		"searching text for the last place":     `data.list.all(x, data.text.lastIndexOf(data.other) < 0)`,
		"counting characters in a loop":         `data.list.all(x, size(data.text) > 0)`,
		"upper case in a loop":                  `data.list.all(x, data.text.upperAscii() != '')`,
		"contains in a loop":                    `data.list.all(x, !data.text.contains(data.other))`,
		"ordering in a loop":                    `data.list.all(x, data.text + 'a' <= data.text + 'b')`,
		"a failing key in a loop":               `data.list.all(x, data[data.text] == 1 || true) && data.list.all(x, data[data.text] == 1 || true)`,
		"an absorbed error does not help":       `data.list.all(x, data == data || true)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := match.Compile(expr)
			if err != nil {
				t.Fatalf("Compile: %v", err)
			}
			in := match.NewInput("tool:pre", "s1", costly)
			start := time.Now()
			got, err := p.Eval(in)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("Eval took %v", took)
			} else {
				t.Logf("Eval took %v", took)
			}
			if !errors.Is(err, match.ErrTooCostly) {
				t.Errorf("Eval = %v, %v; want %v", got, err, match.ErrTooCostly)
			}
		})
	}
}

func TestEvalOfAHonestExpressionOnLargeDataIsWithinTheLimit(t *testing.T) {
	large := []byte(`{"tool_result":{"output":"` + strings.Repeat("line of a log\\n", 35_000) + `"},` +
		`"messages":[` + strings.Repeat(`{"role":"user","content":"hello"},`, 1000) + `{"role":"user","content":"secret"}]}`)
	for name, expr := range map[string]string{
		"a pattern over all output":     `!data.tool_result.output.matches('AKIA[0-9A-Z]{16}')`,
		"a word in all output":          `!data.tool_result.output.contains('password')`,
		"a word in any message":         `data.messages.exists(m, m.content.contains('secret'))`,
		"the output as it was":          `data.tool_result.output == data.tool_result.output`,
		"all output in lower case":      `data.tool_result.output.lowerAscii().startsWith('line')`,
		"how many messages of a person": `data.messages.filter(m, m.role == 'user').size() > 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := match.Compile(expr)
			if err != nil {
				t.Fatalf("Compile: %v", err)
			}
			if got, err := p.Eval(match.NewInput("tool:post", "s1", large)); err != nil || !got {
				t.Errorf("Eval = %v, %v; want true", got, err)
			}
		})
	}
}

// chain appends step to start as often as expressions may be nested.
func chain(start, step string, n int) string { return start + strings.Repeat(step, n) }
