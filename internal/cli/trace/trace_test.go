package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/trace"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the commands of this package.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Trace trace.Cmd `cmd:""`
	}{})
}

// hostile returns a trace with long texts and texts that act on a terminal. The chain has 1500
// spans, each below the previous one.
func hostile() string {
	var b strings.Builder
	b.WriteString(`{"data":[{"traceID":"0a\u001b[31m","processes":{"p":{"serviceName":"evil\u202eservice"}},"spans":[
		{"spanID":"s0","operationName":"hooks.emit\u001b]0;title\u0007LONG","startTime":1000000,"duration":3000000,"processID":"p",
		 "tags":[{"key":"hookrouter.chain.id","value":"c1"},{"key":"span.kind","value":"server"},{"key":"hookrouter.event","value":"e\nv"},{"key":"hookrouter.denied_by","value":"\u001b[2J"}]}`)
	for i := range 1499 {
		fmt.Fprintf(&b, `,{"spanID":"s%d","operationName":"deep","startTime":1000000,"duration":1,"references":[{"refType":"CHILD_OF","traceID":"0a\u001b[31m","spanID":"s%d"}]}`, i+1, i)
	}
	return strings.ReplaceAll(b.String(), "LONG", strings.Repeat("x", 500)) + `]}]}`
}

func TestTraceShowsForeignTextHarmlessly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, hostile()) }))
	t.Cleanup(s.Close)
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOK_ROUTER_JAEGER": s.URL}}
	got := f.With(cli.Process{Terminal: true}, "--text", "trace", "c1")
	if got.Code != cli.ExitOK || strings.Count(got.Stdout, "deep") != 999 || !strings.Contains(got.Stdout, "… and 500 spans more; --json shows all") {
		t.Errorf("code %d: %.2000s%s", got.Code, got.Stdout, got.Stderr)
	}
	plain := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[33m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[36m", "", "\x1b[1;31m", "").Replace(got.Stdout)
	if strings.ContainsAny(plain, "\x1b\a\u202e") {
		t.Errorf("what acts on a terminal comes through: %.2000q", plain)
	}
	for line := range strings.Lines(plain) {
		if len([]rune(line)) > 200 {
			t.Fatalf("a line has %d characters: %s", len([]rune(line)), line)
		}
	}
	got = f.Run("trace", "c1", "--json")
	var doc trace.Traced
	if err := json.Unmarshal([]byte(got.Stdout), &doc); err != nil || len(doc.Spans) != 1500 || strings.ContainsAny(got.Stdout, "\x1b\a\u202e") {
		t.Errorf("%v, %d spans", err, len(doc.Spans))
	}
}
