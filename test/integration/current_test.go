package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// A replica whose table may be behind serves nothing, and an agent waits for one.
func TestARouterWithoutACurrentTableRefuses(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	stall := &natstest.Stall{Subject: "$KV."}
	r, _ := routertest.Start(t, s, router.Options{Registry: registry.Options{Lease: 600 * time.Millisecond}}, natsx.Options{URL: s.ClientURL(), NATS: []nats.Option{stall.Option()}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "h", `{"events":["e"]}`, says(`{"action":"deny"}`))
	a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: nc, Patience: 20 * time.Second}), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stall.Stop()
	defer stall.Go()
	testkit.Until(t, ctx, "the lease ends", func() bool { return r.Ready() != nil })
	for _, subject := range []string{"emit.e", "execute.e", "collect.e", "contributions.c"} { // left to other replicas
		testkit.Until(t, ctx, subject+" is left", func() bool {
			_, err := nc.RequestWithContext(ctx, "hooks."+subject, []byte(`{}`))
			return errors.Is(err, nats.ErrNoResponders)
		})
	}
	for subject, body := range map[string]string{
		"handlers": ``, "registry": ``, "explain.e": ``, "register.g": `{"events":["e"]}`,
	} {
		t.Run(subject, func(t *testing.T) {
			m := request(t, ctx, nc, "hooks."+subject, nil, body)
			if code(m) != "503" || len(m.Data) > 0 || !strings.Contains(m.Header.Get("Nats-Service-Error"), "stale") {
				t.Errorf("%v %s", m.Header, m.Data)
			}
		})
	}
	answer := make(chan string, 1)
	go func() {
		got, err := a.Emit(ctx, "e", nil)
		answer <- fmt.Sprint(got.DeniedBy, " ", err)
	}()
	stall.Go()
	if got := <-answer; got != "h <nil>" {
		t.Errorf("the agent got %s", got)
	}
}
