package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Twenty workers are asked at the same time: one of them is silent, and costs one
// time-out.
func TestCollectOverTwentyWorkersOneOfThemSilent(t *testing.T) {
	t.Parallel()
	const timeout, workers, silent = time.Second, 20, 7
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	var from, want []string
	for i := range workers {
		id := fmt.Sprintf("w%02d", i)
		if i == silent {
			hook(t, ctx, natstest.Conn(t, s), id, `{"events":["e"],"timeout_ms":50,"on_failure":"deny"}`, func(*nats.Msg) []byte { return nil })
			continue
		}
		w := newWorker(t, natstest.Conn(t, s), worker.Options{})
		register(t, ctx, w, worker.Registration{ID: id, Events: []string{"e"}, TimeoutMS: 50}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
			select {
			case <-time.After(150 * time.Millisecond): // beyond timeout_ms, which does not count here
			case <-ctx.Done():
			}
			return worker.Result{Data: raw(fmt.Sprintf(`{"i":%d}`, i))}, nil
		})
		from, want = append(from, id), append(want, fmt.Sprintf(`{"i":%d}`, i))
	}
	a := newAgent(t, nc, agent.Options{})
	for range testkit.Volume(t, 1, 3, 30) {
		began := time.Now()
		got, err := a.EmitAndCollect(ctx, "e", nil, timeout)
		took := time.Since(began)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got.From, " ") != strings.Join(from, " ") || strings.Join(got.Missing, " ") != "w07" || joined(got.Values) != strings.Join(want, " ") {
			t.Errorf("from %v, missing %v: %s", got.From, got.Missing, got.Values)
		}
		if took < timeout || took > 3*timeout {
			t.Errorf("it took %v, the time-out is %v", took, timeout)
		}
		t.Logf("%d workers, one silent: %v with a time-out of %v", workers, took.Round(time.Millisecond), timeout)
	}
}

func joined(values []json.RawMessage) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, string(v))
	}
	return strings.Join(parts, " ")
}

// What a collect makes of each kind of answer.
func TestCollectOfOddAnswers(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	for _, h := range []struct{ id, registration, answer string }{
		{"denies", `{"events":["e"]}`, `{"action":"deny","data":{"d":1}}`},
		{"no-data", `{"events":["e"]}`, `{"action":"continue"}`},
		{"empty", `{"events":["e"]}`, ``},
		{"null", `{"events":["e"]}`, `{"data":null}`},
		{"garbage", `{"events":["e"],"on_failure":"deny"}`, `}{`},
		{"first", `{"events":["e"],"priority":-1}`, `{"data":{"n":9007199254740993}}`},
		{"skipped", `{"events":["e"],"match":"false"}`, `{"data":{}}`},
		{"odd-match", `{"events":["e"],"match":"data.none == 1"}`, `{"data":{}}`},
	} {
		hook(t, ctx, nc, h.id, h.registration, says(h.answer))
	}
	if m := request(t, ctx, nc, "hooks.register.gone", nil, `{"events":["e"]}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	m := request(t, ctx, nc, "hooks.collect.e", nil, `{}`)
	if got, want := string(m.Data), `[{"n":9007199254740993},{"d":1}]`; got != want || m.Header.Get("Hook-From") != "first,denies" || m.Header.Get("Hook-Missing") != "garbage,odd-match,gone" {
		t.Errorf("%v %s", m.Header, got)
	}
	if m := request(t, ctx, nc, "hooks.collect.nobody", nil, `{}`); string(m.Data) != `[]` || len(m.Header.Values("Hook-From")) > 0 {
		t.Errorf("of nobody: %v %s", m.Header, m.Data)
	}
}

// A contribution is any JSON; nulls are dropped, what is none is missing.
func TestContributions(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	calls := make(chan call, 16)
	for _, c := range []struct{ id, answer string }{
		{"z-object", `{"a": 1.0}`},
		{"list", `[1,[2]]`},
		{"text", `"é"`},
		{"number", `9007199254740993`},
		{"false", ` false `},
		{"null", `null`},
		{"empty", ``},
		{"garbage", `{`},
		{"two", `1 2`},
		{"twice", `{"a":1,"a":2}`},
		{"zero", `0`},
	} {
		hook(t, ctx, nc, c.id, `{"channels":["obs.events"]}`, recorded(calls, c.id, c.answer))
	}
	if m := request(t, ctx, nc, "hooks.register.gone", nil, `{"channels":["obs.events"]}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	hook(t, ctx, nc, "elsewhere", `{"channels":["obs"]}`, recorded(calls, "elsewhere", `1`))
	hook(t, ctx, nc, "all-events", `{"events":["*"]}`, recorded(calls, "all-events", `{}`))
	hook(t, ctx, nc, "refuses", `{"channels":["obs.events"]}`, func(m *nats.Msg) []byte {
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error-Code": {"500"}, "Nats-Service-Error": {"no"}}, Data: []byte(`1`)})
		return nil
	})
	m := request(t, ctx, nc, "hooks.contributions.obs.events", nil, ``)
	values := decode[[]json.RawMessage](t, m.Data)
	if got, want := joined(values), `{"a": 1.0} [1,[2]] "é" 9007199254740993 false 0`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if from := m.Header.Get("Hook-From"); from != "z-object,list,text,number,false,zero" {
		t.Errorf("Hook-From is %s", from)
	}
	if missing := m.Header.Get("Hook-Missing"); missing != "garbage,two,twice,gone,refuses" {
		t.Errorf("Hook-Missing is %s", missing)
	}
	if len(calls) != 11 {
		t.Errorf("%d were called", len(calls))
	}
	for len(calls) > 0 {
		if c := <-calls; c.data != `{"channel":"obs.events"}` || c.header.Get("ce-type") != "contribution:collect" {
			t.Errorf("%s was called with %s %v", c.id, c.data, c.header)
		}
	}
	if handlers := string(request(t, ctx, nc, "hooks.handlers", nil, "").Data); handlers != `{"*":["all-events"]}` {
		t.Errorf("handlers lists %s", handlers)
	}

	w := newWorker(t, natstest.Conn(t, s), worker.Options{})
	for id, value := range map[string]any{"struct": struct{ N int }{3}, "nil": nil} {
		_, err := w.RegisterContributor(ctx, worker.Registration{ID: id, Channels: []string{"sdk"}}, func(_ context.Context, channel string) (any, error) {
			if channel != "sdk" {
				t.Errorf("asked for channel %q", channel)
			}
			return value, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := newAgent(t, nc, agent.Options{}).CollectContributions(ctx, "sdk", time.Second)
	if err != nil || joined(got.Values) != `{"N":3}` || len(got.Missing) > 0 {
		t.Errorf("%+v %v", got, err)
	}
}
