package integration

import (
	"maps"
	"strings"
	"testing"
	"time"

	cenats "github.com/cloudevents/sdk-go/protocol/nats/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
	ce "github.com/cloudevents/sdk-go/v2/event"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// ceData is what the events of these tests carry: no byte of it may change.
const ceData = `{"session_id":"s1","n":9007199254740993,"f":1.0,"u":"\u0041é"}`

// A client that knows nothing but the CloudEvents SDK and its NATS protocol.
func TestAClientOfTheOfficialCloudEventsProtocol(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	calls := make(chan call, 4)
	hook(t, ctx, nc, "h", `{"events":["tool:*"]}`, recorded(calls, "h", ""))
	watch, results := listen(t, nc, "hooks.event.>"), listen(t, nc, "hooks.result.>")

	sender, err := cenats.NewSender(s.ClientURL(), "hooks.emit.tool.pre", cenats.NatsOptions(nats.NoReconnect()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sender.Close(ctx) }()
	for _, tt := range []struct {
		name string
		set  func(*ce.Event)
		want map[string]string
	}{
		{"the least", func(*ce.Event) {}, map[string]string{"ce-time": ""}},
		{"the session as subject", func(e *ce.Event) { e.SetSubject("s1") }, nil},
		{"a time", func(e *ce.Event) { e.SetTime(time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)) }, map[string]string{"ce-time": "2026-01-02T03:04:05.000000678Z"}},
		{"extensions", func(e *ce.Event) {
			e.SetExtension("tenant", "blue é")
			e.SetExtension("size", 7)
			e.SetExtension("dry", true)
			e.SetExtension("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		}, map[string]string{"ce-tenant": "blue%20%C3%A9", "ce-size": "7", "ce-dry": "true", "ce-traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := ce.New()
			e.SetID("ev é/1")
			e.SetSource("/agents/7")
			e.SetType("tool:pre")
			// The raw type keeps the data as it is; of a []byte the SDK makes data_base64.
			if err := e.SetData(ce.ApplicationJSON, raw(ceData)); err != nil {
				t.Fatal(err)
			}
			tt.set(&e)
			if err := sender.Send(ctx, binding.ToMessage(&e)); err != nil {
				t.Fatal(err)
			}
			c, seen := take(t, ctx, calls), next(t, ctx, watch)
			want := map[string]string{"ce-id": "ev%20%C3%A9/1", "ce-source": "/agents/7", "ce-type": "tool:pre", "ce-specversion": "1.0", "ce-subject": "s1"}
			maps.Copy(want, tt.want)
			for name, value := range want {
				if got := c.header.Get(name); got != value {
					t.Errorf("the hook got %s %q, want %q", name, got, value)
				}
				if got := seen.Header.Get(name); got != value {
					t.Errorf("observers got %s %q, want %q", name, got, value)
				}
			}
			if !strings.HasPrefix(c.data, strings.TrimSuffix(ceData, "}")+`,"timestamp":"`) {
				t.Errorf("the hook got %s", c.data)
			}
			if string(seen.Data) != ceData {
				t.Errorf("observers got %s", seen.Data)
			}
			if rec := decode[struct {
				Event string `json:"event_id"`
			}](t, next(t, ctx, results).Data); rec.Event != "ev é/1" {
				t.Errorf("the result names event %q", rec.Event)
			}
		})
	}
}

// Every way to write the same event means the same.
func TestModesOfCloudEvents(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	calls := make(chan call, 4)
	hook(t, ctx, nc, "h", `{"events":["tool:*"]}`, recorded(calls, "h", `{"data":{"seen":1}}`))
	const attributes = `"specversion":"1.0","id":"ev-1","source":"/agents/7","type":"tool:pre","subject":"s1","tenant":"blue"`
	binary := func(spell func(string) string) nats.Header {
		h := nats.Header{}
		for name, value := range map[string]string{"specversion": "1.0", "id": "ev-1", "source": "/agents/7", "type": "tool:pre", "subject": "s1", "tenant": "blue"} {
			h[spell("ce-"+name)] = []string{value}
		}
		return h
	}
	odd := 0
	for _, tt := range []struct {
		name   string
		header nats.Header
		body   string
	}{
		{"binary, lower case", binary(strings.ToLower), ceData},
		{"binary, upper case", binary(strings.ToUpper), ceData},
		{"binary, each header in its own case", binary(func(s string) string {
			if odd++; odd%2 == 0 {
				return strings.ToUpper(s[:4]) + s[4:]
			}
			return "Ce-" + s[3:]
		}), ceData},
		{"structured", nats.Header{"content-type": {"application/cloudevents+json"}}, `{` + attributes + `,"data":` + ceData + `}`},
		{"structured, header and type in another case", nats.Header{"CONTENT-Type": {"Application/CloudEvents+JSON; charset=UTF-8"}}, `{"data":` + ceData + `,` + attributes + `}`},
		{"structured, without a content-type", nil, ` { ` + attributes + `, "data" : ` + ceData + ` } `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, verb := range []string{"emit", "collect"} {
				m := request(t, ctx, nc, "hooks."+verb+".tool.pre", tt.header, tt.body)
				if code(m) != "" || verb == "emit" && m.Header.Get("Hook-Event-Id") != "ev-1" || verb == "collect" && string(m.Data) != `[{"seen":1}]` {
					t.Fatalf("%s: %v %s", verb, m.Header, m.Data)
				}
				c := take(t, ctx, calls)
				for name, want := range map[string]string{"ce-specversion": "1.0", "ce-id": "ev-1", "ce-source": "/agents/7", "ce-type": "tool:pre", "ce-subject": "s1", "ce-tenant": "blue"} {
					if got := c.header.Get(name); got != want {
						t.Errorf("%s: the hook got %s %q, want %q", verb, name, got, want)
					}
				}
				if verb == "collect" && c.data != ceData || !strings.HasPrefix(c.data, strings.TrimSuffix(ceData, "}")) {
					t.Errorf("%s: the hook got %s", verb, c.data)
				}
			}
		})
	}
	structured := nats.Header{"content-type": {"application/cloudevents+json"}}
	for _, tt := range []struct {
		name   string
		header nats.Header
		body   string
	}{
		{"another type", structured, `{"specversion":"1.0","id":"1","source":"/x","type":"tool:post","data":{}}`},
		{"no id", structured, `{"specversion":"1.0","source":"/x","type":"tool:pre","data":{}}`},
		{"no data", structured, `{` + attributes + `}`},
		{"data that is no object", structured, `{` + attributes + `,"data":[1]}`},
		{"an array in base64", structured, `{` + attributes + `,"data_base64":"WzFd"}`},
		{"an attribute twice", structured, `{"id":"2",` + attributes + `,"data":{}}`},
		{"a batch", nats.Header{"content-type": {"application/cloudevents-batch+json"}}, `[{` + attributes + `,"data":{}}]`},
		{"another version", structured, `{"specversion":"0.3","id":"1","source":"/x","type":"tool:pre","data":{}}`},
		{"two sessions", structured, `{` + attributes + `,"data":{"session_id":"s2"}}`},
		{"a header in two cases that differ", nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "CE-ID": {"2"}, "ce-source": {"/x"}, "ce-type": {"tool:pre"}}, `{}`},
		{"no source", nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-type": {"tool:pre"}}, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if m := request(t, ctx, nc, "hooks.emit.tool.pre", tt.header, tt.body); code(m) != "400" || m.Header.Get("Nats-Service-Error") == "" || len(calls) > 0 {
				t.Errorf("%v %s, %d calls", m.Header, m.Data, len(calls))
			}
		})
	}
}
