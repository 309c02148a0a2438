package mcpproxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Whatever a client sends: what is relayed as no tool call is none for readers that ignore
// case, take the last of two names, or begin a message at each kind of line break.
func FuzzClientMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools\u002fcall"}`,
		`[{"jsonrpc":"2.0","method":"tools/call"},{"jsonrpc":"2.0","id":"a","result":{}}]`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":\r{\"method\":\"tools/call\"}\r}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"n\",\"METHOD\":\"tools/call\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.ReplaceAll(line, []byte("\n"), nil) // ends a line
		parts, _, err := split(line)
		if err != nil {
			return
		}
		for _, part := range parts {
			m, err := parse(part)
			if err != nil || m.kind != response && strings.HasPrefix(strings.ToLower(m.method), "tools/") {
				continue
			}
			for _, piece := range bytes.FieldsFunc(part, func(r rune) bool { return r == '\r' || r == '\v' || r == '\f' }) {
				var loose struct{ Method any } // as encoding/json reads it
				if json.Unmarshal(piece, &loose) != nil {
					continue
				}
				if method, ok := loose.Method.(string); ok && strings.Contains(strings.ToLower(method), "tools/") {
					if !strings.EqualFold(method, m.method) {
						t.Errorf("%q is relayed as %q, and can be read as %q", part, m.method, method)
					}
				}
			}
			if m.kind == request && m.key == "" {
				t.Errorf("%q: a request without an id that can be compared", part)
			}
		}
	})
}
