package match_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

// oneKB is event data of a file tool, 1 KB long.
var oneKB = func() []byte {
	head, tail := `{"session_id":"s1","tool_name":"Write","tool_input":{"file_path":"/srv/app/main.go","mode":420,"content":"`, `"},"turn":7}`
	return []byte(head + strings.Repeat("x", 1024-len(head)-len(tail)) + tail)
}()

// BenchmarkThousandPrograms measures the cost for an event of 1,000 hooks whose matches skip it:
// each iteration creates one Input, decodes its data and evaluates all matches. See the metric
// ns/program.
func BenchmarkThousandPrograms(b *testing.B) {
	const programs = 1000
	for _, c := range []struct{ name, expr string }{
		{"in", `data.tool_name in ['Read%d', 'Edit']`},
		{"startsWith", `event == 'tool:pre' && data.tool_input.file_path.startsWith('/etc/%d')`},
		{"matches", `data.tool_input.file_path.matches('rm +-rf %d')`},
		{"tool", `tool.class == 'shell' && tool.command.startsWith('rm %d')`},
		{"compare", `data.tool_name == data.tool_input.file_path + '%d'`},
	} {
		b.Run(c.name, func(b *testing.B) {
			all := make([]*match.Program, programs)
			for i := range all {
				p, err := match.Compile(fmt.Sprintf(c.expr, i))
				if err != nil {
					b.Fatal(err)
				}
				all[i] = p
			}
			b.ReportAllocs()
			for b.Loop() {
				in := match.NewInput("tool:pre", "s1", oneKB)
				for _, p := range all {
					if holds, err := p.Eval(in); holds || err != nil {
						b.Fatalf("Eval = %v, %v; want false", holds, err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/programs, "ns/program")
		})
	}
}

// BenchmarkDecode measures decoding 1 KB of data, which is done once per event.
func BenchmarkDecode(b *testing.B) {
	p, err := match.Compile(`data.turn == 7`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if holds, err := p.Eval(match.NewInput("tool:pre", "s1", oneKB)); !holds || err != nil {
			b.Fatalf("Eval = %v, %v; want true", holds, err)
		}
	}
}

// BenchmarkTool measures building the tool from 1 KB of data, compared with an expression that uses
// no data and one on an event that is not about a tool.
func BenchmarkTool(b *testing.B) {
	for _, c := range []struct{ name, event, expr string }{
		{"named", "tool:pre", `tool.class == 'file'`},
		{"notNamed", "tool:pre", `event != ''`},
		{"noTool", "session:start", `tool.class == ''`},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := match.Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if holds, err := p.Eval(match.NewInput(c.event, "s1", oneKB)); !holds || err != nil {
					b.Fatalf("Eval = %v, %v; want true", holds, err)
				}
			}
		})
	}
}

// BenchmarkCompile measures the cost of one registration with a match.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := match.Compile(`data.tool_name in ['Write', 'Edit']`); err != nil {
			b.Fatal(err)
		}
	}
}
