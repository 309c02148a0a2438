package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// call is what a hook got.
type call struct {
	id     string
	header nats.Header
	data   string
	reply  string
}

// recorded returns a hook's function that passes its calls on and answers.
func recorded(calls chan<- call, id, answer string) func(*nats.Msg) []byte {
	return func(m *nats.Msg) []byte {
		calls <- call{id, m.Header, string(m.Data), m.Reply}
		return []byte(answer)
	}
}

// A shadow hook is called beside the chain with the data at its place, an
// observer after the answer with the data at the end; neither decides.
func TestShadowAndObserve(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc, hooks := natstest.Conn(t, s), natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	enforced, shadows, observers := make(chan call, 8), make(chan call, 8), make(chan call, 8)
	asleep := make(chan struct{})
	hook(t, ctx, hooks, "first", `{"events":["e"],"priority":1}`, recorded(enforced, "first", `{"action":"modify","data":{"step":1}}`))
	hook(t, ctx, natstest.Conn(t, s), "sleeper", `{"events":["e"],"priority":2,"mode":"shadow","on_failure":"deny","timeout_ms":30000}`, func(m *nats.Msg) []byte {
		shadows <- call{"sleeper", m.Header, string(m.Data), m.Reply}
		<-asleep
		return []byte(`{"action":"deny"}`)
	})
	hook(t, ctx, hooks, "second", `{"events":["e"],"priority":3}`, recorded(enforced, "second", `{"action":"modify","data":{"step":2}}`))
	hook(t, ctx, hooks, "shade", `{"events":["e"],"priority":4,"mode":"shadow"}`, recorded(shadows, "shade", `{"action":"modify","data":{"step":99}}`))
	hook(t, ctx, hooks, "watcher", `{"events":["e"],"priority":0,"mode":"observe"}`, recorded(observers, "watcher", `{"action":"deny"}`))
	hook(t, ctx, hooks, "picky", `{"events":["e"],"mode":"observe","match":"data.step == 0"}`, recorded(observers, "picky", ``))

	began := time.Now()
	m := request(t, ctx, nc, "hooks.emit.e", nil, `{"step":0}`)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the answer took %v", took)
	}
	if res := decode[chain.Result](t, m.Data); res.Action != chain.Continue || string(res.Data) != `{"step":2}` || m.Header.Get("Hook-Count") != "2" {
		t.Errorf("%v %s", m.Header, m.Data)
	}
	got := map[string]call{}
	for _, ch := range []chan call{enforced, enforced, shadows, shadows, observers} {
		c := take(t, ctx, ch)
		got[c.id] = c
	}
	close(asleep)
	ids := map[string]bool{}
	for _, want := range []struct{ id, mode, data string }{
		{"first", "enforce", `{"step":0,`},
		{"sleeper", "shadow", `{"step":1}`},
		{"second", "enforce", `{"step":1}`},
		{"shade", "shadow", `{"step":2}`},
		{"watcher", "observe", `{"step":2}`},
	} {
		c, ok := got[want.id]
		if !ok {
			t.Errorf("%s was not called", want.id)
			continue
		}
		if !strings.HasPrefix(c.data, want.data) || c.header.Get("Hook-Mode") != want.mode || (c.reply == "") != (want.mode == "observe") {
			t.Errorf("%s got %s in mode %q with reply subject %q", want.id, c.data, c.header.Get("Hook-Mode"), c.reply)
		}
		if chainID := c.header.Get("Hook-Chain-Id"); chainID == "" || chainID != m.Header.Get("Hook-Chain-Id") {
			t.Errorf("%s got chain id %q, the agent %q", want.id, chainID, m.Header.Get("Hook-Chain-Id"))
		}
		ids[c.header.Get("Hook-Call-Id")] = true
	}
	if len(ids) != 5 || ids[""] {
		t.Errorf("call ids are not unique: %v", ids)
	}
	list := decode[map[string][]string](t, request(t, ctx, nc, "hooks.handlers.e", nil, "").Data)
	if want := []string{"watcher", "picky", "first", "sleeper", "second", "shade"}; !slices.Equal(list["e"], want) {
		t.Errorf("handlers are %v, want %v", list["e"], want)
	}
	if all := decode[[]struct{ ID string }](t, request(t, ctx, nc, "hooks.registry", nil, "").Data); len(all) != 6 {
		t.Errorf("the registry lists %v", all)
	}
	if c := request(t, ctx, nc, "hooks.collect.e", nil, `{"step":0}`); c.Header.Get("Hook-From") != "first,second" || c.Header.Get("Hook-Missing") != "" {
		t.Errorf("collected from %v", c.Header)
	}
	request(t, ctx, nc, "hooks.emit.other", nil, `{}`)
	if len(shadows)+len(observers) > 0 {
		t.Error("a shadow hook or an observer took part in a collect, or was called against its match")
	}
}

// Which hooks are called for which event and session.
func TestScopesAliasesAndWildcards(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	calls := make(chan call, 16)
	for _, r := range []struct{ id, registration string }{
		{"all", `{"events":["*"]}`},
		{"tools", `{"events":["tool:*","tool:pre"]}`},
		{"pre", `{"events":["tool:pre"]}`},
		{"mine", `{"events":["tool:pre"],"session_id":"s1"}`},
		{"done", `{"events":["execution:complete"]}`},
		{"failed", `{"events":["error:*"]}`},
		{"dashed", `{"events":["context:pre-compact"]}`},
	} {
		hook(t, ctx, nc, r.id, r.registration, recorded(calls, r.id, `{}`))
	}
	for _, tt := range []struct {
		name, subject string
		header        nats.Header
		data, want    string
	}{
		{"a hook that two of its patterns match is called once", "tool.pre", nil, `{}`, "all tools pre"},
		{"a session's hook, by its data", "tool.pre", nil, `{"session_id":"s1"}`, "all tools pre mine"},
		{"not for another session", "tool.pre", nil, `{"session_id":"s2"}`, "all tools pre"},
		{"a session's hook, by the subject", "tool.pre", cloud("tool:pre", "s1"), `{}`, "all tools pre mine"},
		{"a default session id is data only", "tool.pre", nats.Header{"Hook-Defaults": {`{"session_id":"s1"}`}}, `{}`, "all tools pre"},
		{"a wildcard matches deeper names", "tool.pre.deep", nil, `{}`, "all tools"},
		{"a wildcard needs the colon", "toolbox", nil, `{}`, "all"},
		{"the other name of an event", "execution.end", nil, `{}`, "all done"},
		{"its own name", "execution.complete", nil, `{}`, "all done"},
		{"an alias matches wildcards in either spelling", "tool.error", nil, `{}`, "all tools failed"},
		{"the same from the other side", "error.tool", nil, `{}`, "all tools failed"},
		{"an underscore for a dash", "context.pre_compact", nil, `{}`, "all dashed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, ctx, nc, "hooks.emit."+tt.subject, tt.header, tt.data)
			var who []string
			for len(calls) > 0 {
				c := take(t, ctx, calls)
				who = append(who, c.id)
				if typ := c.header.Get("ce-type"); typ != strings.ReplaceAll(tt.subject, ".", ":") {
					t.Errorf("%s was called with type %q", c.id, typ)
				}
			}
			if got := strings.Join(who, " "); got != tt.want || m.Header.Get("Hook-Count") != fmt.Sprint(len(who)) {
				t.Errorf("called %q, want %q; Hook-Count %s", got, tt.want, m.Header.Get("Hook-Count"))
			}
		})
	}
	lists := decode[map[string][]string](t, request(t, ctx, nc, "hooks.handlers.tool.*", nil, "").Data)
	if len(lists) != 1 || !slices.Equal(lists["tool:*"], []string{"tools"}) {
		t.Errorf("handlers of tool:* are %v", lists)
	}
}

// cloud is a binary-mode CloudEvent's headers.
func cloud(name, session string) nats.Header {
	return nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"ev-1"}, "ce-source": {"/agents/7"}, "ce-type": {name}, "ce-subject": {session}}
}
