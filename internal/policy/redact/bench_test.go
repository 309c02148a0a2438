package redact_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

// ordinary are events as agents send them, about 1 KiB each, without a secret.
var ordinary = map[string]string{
	"write": `{"session_id":"0198f6c2-7c1e-7d3a-9f00-5b1a2c3d4e5f","tool_name":"Write","tool_input":{"file_path":"/src/server/handler.go","content":"` +
		strings.Repeat(`func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n\tif err := s.check(r.Context(), r.URL.Path); err != nil {\n\t\thttp.Error(w, \"not found\", 404)\n\t\treturn\n\t}\n}\n\n`, 5) + `"}}`,
	"usage": `{"session_id":"s-1","model":"large","usage":{"input_tokens":120345,"output_tokens":877,"max_tokens":4096},"at":"2026-11-21T13:05:57.123456Z","messages":[` +
		strings.Repeat(`{"role":"user","content":"Please look at the failing test in the parser and tell me what is wrong with it.","id":"msg_01","n":3},`, 6) + `{"role":"assistant","content":null}],"stop":true}`,
	"bash": `{"session_id":"s-1","tool_name":"Bash","tool_input":{"command":"cd /repo && go test ./... 2>&1 | tail -20","timeout_ms":120000},"tool_response":{"stdout":"` +
		strings.Repeat(`ok  \tgithub.com/example/project/internal/parser\t1.284s\n`, 14) + `","exit_code":0,"commit":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"}}`,
}

func BenchmarkOrdinary(b *testing.B) {
	custom := rules(b, "keys: [pin]\npatterns:\n- {name: employee, pattern: 'EMP-[0-9]{6}'}\n- {name: project, pattern: '(?i)apollo|gemini', hints: [apollo, gemini]}\n")
	for name, text := range ordinary {
		raw := []byte(text)
		for kind, r := range map[string]*redact.Rules{"default": redact.Default(), "custom": custom} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if _, n := r.Object(raw); n != 0 {
						b.Fatal(n)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(raw))*1024, "ns/KiB")
			})
		}
	}
}

// BenchmarkHinted uses texts with hints but no secret, and a text with a secret.
func BenchmarkHinted(b *testing.B) {
	for name, text := range map[string]string{
		"no secret":  strings.Replace(ordinary["write"], "not found", "no token := next(); password: must be eve@home", 1),
		"one secret": strings.Replace(ordinary["write"], "not found", "password=hunter2", 1),
	} {
		raw := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				redact.Default().Object(raw)
			}
		})
	}
}

// BenchmarkLarge reads objects of 64 KiB.
func BenchmarkLarge(b *testing.B) {
	for name, text := range ordinary {
		raw := []byte(`{"items":[` + strings.Repeat(text+",", 64<<10/len(text)) + `null]}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				redact.Default().Object(raw)
			}
		})
	}
}
