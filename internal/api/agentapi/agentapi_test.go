package agentapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/wire"
)

func TestRequestsBeginWhileTheRouterServes(t *testing.T) {
	var sick error
	a := agentapi.New(agentapi.Options{MaxInFlight: 1, Ready: func() error { return sick }})
	begin := func() (func(), int) {
		_, end, err := a.Begin()
		return end, wire.CodeOf(err)
	}
	if _, code := begin(); code != wire.Unavailable {
		t.Errorf("before it serves: %d", code)
	}
	a.Serve()
	sick = errors.New("no NATS")
	if _, code := begin(); code != wire.Unavailable {
		t.Errorf("while it is not ready: %d", code)
	}
	sick = nil
	end, code := begin()
	if code != 0 {
		t.Fatalf("while it serves: %d", code)
	}
	if _, code := begin(); code != wire.Overloaded {
		t.Errorf("one too many: %d", code)
	}

	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := a.Drain(short); err == nil {
		t.Error("it drained while a request was under way")
	}
	end()
	if err := a.Drain(testkit.Within(t, testkit.Patience)); err != nil {
		t.Error(err)
	}
	if _, code := begin(); code != wire.Unavailable {
		t.Errorf("after it drained: %d", code)
	}
}

func TestReadEvent(t *testing.T) {
	a := agentapi.New(agentapi.Options{MaxData: 1000})
	in, err := a.ReadEvent("tool:pre", "nats agent/coder", wire.Header{
		wire.HeaderTimeout: {"1500"}, wire.HeaderWait: {"99999999"}, wire.HeaderRetry: {"1"}, "baggage": {"secret=1"},
	}, []byte(`{"session_id":"s1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if in.Emitter != "nats agent/coder" || in.Event.Name != "tool:pre" || in.Event.Session != "s1" || in.Timeout != 1500*time.Millisecond ||
		in.Wait != dispatch.MaxWait || !in.Retry || in.Baggage != "" {
		t.Errorf("%+v", in)
	}
	for what, c := range map[string]struct {
		header wire.Header
		data   string
		code   int
	}{
		"no JSON":            {nil, `{`, 400},
		"no object":          {nil, `[]`, 400},
		"a time-out of none": {wire.Header{wire.HeaderTimeout: {"soon"}}, `{}`, 400},
		"a wait of none":     {wire.Header{wire.HeaderWait: {"-1"}}, `{}`, 400},
		"defaults of none":   {wire.Header{wire.HeaderDefaults: {"[]"}}, `{}`, 400},
		"too many defaults":  {wire.Header{wire.HeaderDefaults: {`{"a":"` + strings.Repeat("x", 8<<10) + `"}`}}, `{}`, 413},
	} {
		if _, err := a.ReadEvent("tool:pre", "", c.header, []byte(c.data)); wire.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %d", what, err, c.code)
		}
	}
}

func TestSessionRequest(t *testing.T) {
	newer := wire.Header{wire.HeaderProtocol: {"2"}}
	for body, c := range map[string]struct {
		header wire.Header
		code   int
	}{
		`{"session_id":"s1"}`:                                {nil, 0},
		`{"session_id":"s1","later":1}`:                      {newer, 0},
		`{"session_id":"s1","later":2}`:                      {nil, 400},
		`{"session_id":1}`:                                   {nil, 400},
		`{"session_id":"s1","session_id":"s2"}`:              {nil, 400},
		`{"session_id":"` + strings.Repeat("s", 1000) + `"}`: {nil, 400},
		``: {nil, 400}, `null`: {nil, 400},
		`{"session_id":"s1","prompt":"` + strings.Repeat("x", agentapi.MaxSmallBody) + `"}`: {nil, 413},
	} {
		var read agentapi.SessionRequest
		err := agentapi.ReadBody(c.header, []byte(body), &read)
		if err == nil {
			err = read.Check()
		}
		if wire.CodeOf(err) != c.code || c.code == 0 && read.Session != "s1" {
			t.Errorf("%.60s: %+v, %v; want %d", body, read, err, c.code)
		}
	}
}

func TestRequestsAboutTheSendersSessionNameNoOther(t *testing.T) {
	a := agentapi.New(agentapi.Options{}) // without sessions: it must not get to them
	for _, member := range []string{`"agent":"nats agent/coder"`, `"hook":"a"`, `"prompt":"p"`, `"grants":true`, `"approval_id":"a"`} {
		body := []byte(`{"session_id":"s1",` + member + `}`)
		if err := a.Turn(t.Context(), "", nil, body); wire.CodeOf(err) != http.StatusBadRequest {
			t.Errorf("a turn with %s: %v", member, err)
		}
		if err := a.EndSession(t.Context(), "", nil, body); wire.CodeOf(err) != http.StatusBadRequest {
			t.Errorf("an end with %s: %v", member, err)
		}
	}
}

func TestHeadersOfAnAnswer(t *testing.T) {
	a := agentapi.New(agentapi.Options{AuditMode: "strict"})
	answer := &dispatch.Answer{EventID: "a b", ChainID: "c", Called: 2, DeniedBy: "guard", FailedOpen: []string{"x", "y"}}
	want := wire.Header{
		wire.HeaderEventID: {"a%20b"}, wire.HeaderChainID: {"c"}, wire.HeaderCount: {"2"}, wire.HeaderAudit: {"strict"},
		wire.HeaderDeniedBy: {"guard"}, wire.HeaderFailedOpen: {"x,y"},
	}
	if diff := cmp.Diff(want, a.Header("execute", answer)); diff != "" {
		t.Error(diff)
	}
	want = wire.Header{wire.HeaderFrom: {"x"}, wire.HeaderMissing: {"y,z"}}
	if diff := cmp.Diff(want, a.Header("collect", &dispatch.Answer{From: []string{"x"}, Missing: []string{"y", "z"}})); diff != "" {
		t.Error(diff)
	}
	if _, err := a.Decide(t.Context(), "delete", dispatch.Request{}); wire.CodeOf(err) != http.StatusNotFound {
		t.Errorf("an unknown verb: %v", err)
	}
}
