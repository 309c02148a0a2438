package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// denying returns a worker file whose hook denies with a reason.
func denying(reason string) (*workerfile.File, error) {
	text := "hooks:\n  - {id: guard, events: [e], on_failure: deny, cel: {rules: [{deny: " + reason + "}]}}\n"
	return workerfile.Parse("worker.yaml", []byte(text), basic.Kinds(kind.Worker{}))
}

// The hooks are those of the current file. An unreadable file changes nothing. At the end, a guard
// that nobody serves denies.
func TestRun(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	client := natstest.Client(t, hookrouter.Options{URL: s.ClientURL()})
	file, err := denying("first")
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Pointer[string] // the reason in the file; nil: the file is broken
	tel, err := telemetry.Start(t.Context(), telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Stop(context.Background()) })
	changed, outcomes, ready := make(chan struct{}), make(chan error, 8), make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var registered []string
	go func() {
		ended <- serve.Run(ctx, client, serve.Options{
			File: file, Path: "worker.yaml", Changed: changed, Metrics: tel.WorkerFile(),
			Registered: func(kind string, reg chain.Registration) {
				registered = append(registered, kind+" "+reg.ID+" "+serve.Words(reg))
			},
			Log: slog.New(slog.DiscardHandler),
			Read: func() (*workerfile.File, error) {
				if reason := now.Load(); reason != nil {
					return denying(*reason)
				}
				outcomes <- errors.New("broken")
				return nil, errors.New("broken")
			},
			Applying: func(*workerfile.File) func(error) { return func(err error) { outcomes <- err } },
			Ready:    func() { ready <- struct{}{} },
		})
	}()
	if err := testkit.Receive(t, "the hooks are registered", outcomes); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, "it is ready", ready)
	says := func(want string) {
		t.Helper()
		m, err := client.Conn().Request("hooks.emit.e", []byte(`{}`), testkit.Patience)
		if err != nil {
			t.Fatal(err)
		}
		var got chain.Result
		if err := json.Unmarshal(m.Data, &got); err != nil || got.Action != chain.Deny || !strings.Contains(got.Reason, want) {
			t.Errorf("%s, %v; want a denial that says %q", m.Data, err, want)
		}
	}
	says("first")

	changed <- struct{}{}
	if err := testkit.Receive(t, "the broken file is read", outcomes); err == nil {
		t.Error("a broken file was taken over")
	}
	says("first")

	second := "second"
	now.Store(&second)
	changed <- struct{}{}
	if err := testkit.Receive(t, "the new file is taken over", outcomes); err != nil {
		t.Error(err)
	}
	says("second")

	stop()
	if err := testkit.Receive(t, "it ends", ended); err != nil {
		t.Error(err)
	}
	if want := []string{"cel guard on e, priority 0, on_failure deny, mode enforce"}; !slices.Equal(registered, want) {
		t.Errorf("it registered %q; want %q", registered, want)
	}
	says("no_responder")
}
