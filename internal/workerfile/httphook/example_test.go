package httphook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/hookrouter/hookrouter/internal/workerfile/httphook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func Example() {
	policy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Method, r.Header.Get("Content-Type"))
		fmt.Println(string(body))
		fmt.Fprint(w, `{"action":"deny","reason":"not today"}`)
	}))
	defer policy.Close()
	hook, err := httphook.New(kind.Section{}, httphook.Config{URL: policy.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hook.Close()
	result, err := hook.Handler(context.Background(), events.Event{
		ID: "e1", Source: "/agent", Name: events.ToolPre, Session: "s1", Time: "2026-01-02T03:04:05Z",
		Data: json.RawMessage(`{"tool_name":"Bash"}`),
	})
	fmt.Println(result.Action, result.Reason, err)
	// Output:
	// POST application/cloudevents+json
	// {"specversion":"1.0","id":"e1","source":"/agent","type":"tool:pre","subject":"s1","datacontenttype":"application/json","time":"2026-01-02T03:04:05Z","data":{"tool_name":"Bash"}}
	// deny not today <nil>
}
