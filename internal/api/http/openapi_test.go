package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// described are the statuses of docs/http-api.yaml, by method and path.
func described(t *testing.T) map[string][]int {
	t.Helper()
	text, err := os.ReadFile("../../../docs/http-api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		t.Fatal(err)
	}
	var whole any
	var doc struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	for _, into := range []any{&doc, &whole} {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string][]int{}
	for path, operations := range doc.Paths {
		for method, operation := range operations {
			route := strings.ToUpper(method) + " " + path
			all[route] = nil
			for status := range operation.Responses {
				if code, err := strconv.Atoi(status); err == nil {
					all[route] = append(all[route], code)
				}
			}
			slices.Sort(all[route])
		}
	}
	references(t, whole, whole)
	return all
}

// references looks each $ref up.
func references(t *testing.T, whole, at any) {
	t.Helper()
	switch at := at.(type) {
	case []any:
		for _, v := range at {
			references(t, whole, v)
		}
	case map[string]any:
		for name, v := range at {
			references(t, whole, v)
			ref, ok := v.(string)
			if !ok || name != "$ref" {
				continue
			}
			target := whole
			for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				object, _ := target.(map[string]any)
				target = object[step]
			}
			if target == nil {
				t.Errorf("%s is not there", ref)
			}
		}
	}
}

// Every route of the description is served, and answers with the statuses that stand there
// and with no other one.
func TestTheDescriptionIsServed(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	r, stop := routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{ReplayWindow: time.Nanosecond, MaxData: 1000}})
	nc := natstest.Conn(t, s)
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: nc}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{}) // the end of the test
	for event, hook := range map[string]worker.Handler{
		"tool:pre":  func(context.Context, worker.Event) (worker.Result, error) { return worker.Ask("Deploy?") },
		"tool:post": func(context.Context, worker.Event) (worker.Result, error) { <-release; return worker.Continue() },
	} {
		if _, err := w.Register(t.Context(), worker.Registration{ID: strings.ReplaceAll(event, ":", "-"), Events: []string{event}}, hook); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { close(release); _ = w.Close(context.Background()) })
	b := known(t)
	served := httptest.NewServer(httpapi.New(httpapi.Options{Agents: r.Agents(), Identities: b.identities(), BodyTimeout: 200 * time.Millisecond}).Handler())
	t.Cleanup(served.Close)
	b.url = served.URL

	want := described(t)
	got := map[string]map[int]bool{}
	seen := func(route string, code int) {
		if got[route] == nil {
			got[route] = map[int]bool{}
		}
		got[route][code] = true
	}
	ask := func(route, body string, values []string, headers ...string) reply {
		method, path, _ := strings.Cut(route, " ")
		answer := b.do(b.request(method, strings.NewReplacer(append(values, "{event}", "custom:nobody", "{channel}", "a.b", "{dialect}", "claude-code", "{id}", "none")...).Replace(path), body, headers...))
		seen(route, answer.code)
		return answer
	}
	const execute, pending = "POST /v1/execute/{event}", "GET /v1/pending/{id}"
	for route := range want {
		ask(route, `{"session_id":"s1"}`, nil)
		for _, headers := range [][]string{
			{"Authorization", ""},
			{"Origin", "http://evil.example"},
			{"Host", "evil.example"},
			{"Content-Type", "text/plain"},
			{"Hook-Wait-Ms", "soon"},
			{"Hook-Timeout-Ms", "soon"},
		} {
			ask(route, `{"session_id":"s1"}`, nil, headers...)
		}
		ask(route, `{"session_id":1`, nil)
		ask(route, `{"session_id":"`+strings.Repeat("x", 50_000)+`"}`, nil)
		ask(route, `{}`, []string{"{event}", "tool:post"}, "Hook-Timeout-Ms", "100")
		if strings.HasPrefix(route, "POST") && !strings.Contains(route, "contributions") {
			_, path, _ := strings.Cut(route, " ")
			c := b.raw(strings.Replace(b.head("9"), tool, strings.NewReplacer("{event}", "custom:nobody", "{dialect}", "claude-code").Replace(path), 1) + "{")
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			seen(route, resp.StatusCode)
		}
	}
	attributes := []string{"ce-specversion", "1.0", "ce-id", "e1", "ce-source", "/x", "ce-type", "tool:pre", "Hook-Wait-Ms", "0"}
	pre := []string{"{event}", "tool:pre"}
	asked := id(ask(execute, `{}`, pre, attributes...).header.Get("Location"))
	ask(execute, `{"x":1}`, pre, attributes...)
	ask(pending, ``, []string{"{id}", asked}, "Hook-Wait-Ms", "0")
	done := make(chan reply, 1)
	go func() { done <- b.get("/v1/pending/" + asked) }()
	if _, err := nc.Request("hooks.approve."+asked, []byte(`{"option":"Allow"}`), testkit.Patience); err != nil {
		t.Fatal(err)
	}
	answer := testkit.Receive(t, "the verdict", done)
	seen(pending, answer.code)
	ask(execute, `{}`, pre, append(attributes, "Hook-Retry", "1")...)
	ask(pending, ``, []string{"{id}", asked})
	denied := id(ask(execute, `{"y":1}`, pre, append(attributes, "ce-id", "e2")...).header.Get("Location"))
	if _, err := nc.Request("hooks.approve."+denied, []byte(`{"option":"Deny"}`), testkit.Patience); err != nil {
		t.Fatal(err)
	}
	ask(pending, ``, []string{"{id}", denied})
	for range 11 {
		b.post(tool, `{}`, "Authorization", "Bearer guess")
	}
	for route := range want {
		ask(route, `{}`, nil, "Authorization", "Bearer guess")
	}
	stop()
	for route := range want {
		ask(route, `{"session_id":"s1"}`, nil)
	}
	for route := range want {
		var codes []int
		for code := range got[route] {
			codes = append(codes, code)
		}
		slices.Sort(codes)
		if diff := cmp.Diff(fmt.Sprint(want[route]), fmt.Sprint(codes)); diff != "" {
			t.Errorf("%s: the description (-) and the API (+):\n%s", route, diff)
		}
	}
	if len(want) != 8 {
		t.Errorf("%d routes are described", len(want))
	}
}
