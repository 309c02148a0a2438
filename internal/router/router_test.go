package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect connects a router to a server of its own.
func connect(t *testing.T) *natsx.Conn {
	t.Helper()
	return natstest.Connect(t, natsx.Options{InProcess: natstest.Server(t)})
}

func TestLimitsThatCannotWorkAreRejected(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	most := int(conn.MaxPayload())
	for sentence, c := range map[string]struct {
		o    router.Options
		want string
	}{
		"negative data":                   {router.Options{Dispatch: dispatch.Options{MaxData: -1}}, "must not be negative"},
		"negative replies":                {router.Options{MaxReply: -1}, "must not be negative"},
		"negative requests":               {router.Options{MaxInFlight: -1}, "must not be negative"},
		"negative requests of a session":  {router.Options{Dispatch: dispatch.Options{MaxPerSession: -1}}, "must not be negative"},
		"negative time of a chain":        {router.Options{Dispatch: dispatch.Options{ChainTimeout: -1}}, "must not be negative"},
		"negative time of a drain":        {router.Options{DrainTimeout: -1}, "must not be negative"},
		"data as large as a message":      {router.Options{Dispatch: dispatch.Options{MaxData: most}}, "--max-data"},
		"a reply as large as a message":   {router.Options{MaxReply: most}, "--max-reply"},
		"a time-to-live without renewals": {router.Options{Registry: registry.Options{TTL: time.Millisecond}}, "--ttl"},
		"an unknown form of publishing":   {router.Options{Dispatch: dispatch.Options{PublishData: "some"}}, "publish-data"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r, err := router.New(t.Context(), conn, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) || r != nil {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

func TestTheLargestLimitsThatFitAreAccepted(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	room := int(conn.MaxPayload()) - 32<<10
	if _, err := router.New(t.Context(), conn, router.Options{Dispatch: dispatch.Options{MaxData: room, PublishData: dispatch.PublishNone}, MaxReply: room}); err != nil {
		t.Error(err)
	}
	if _, err := router.New(t.Context(), conn, router.Options{Dispatch: dispatch.Options{MaxData: room + 1}}); err == nil {
		t.Error("a byte more is accepted")
	}
}

// A router serves only while it runs and is connected, and says why it does not.
func TestReady(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	r, err := router.New(t.Context(), conn, router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Ready(); err == nil {
		t.Error("ready before Run")
	}
	if text, err := r.Registry(t.Context()); !errors.Is(err, registry.ErrStale) {
		t.Errorf("registry before Run: %s %v", text, err)
	}
	ctx, stop := context.WithCancel(testkit.Within(t, testkit.Patience))
	defer stop()
	up, done := make(chan error, 1), make(chan error, 1)
	go func() { done <- r.Run(ctx, func() { up <- r.Ready() }) }()
	if err := testkit.Receive(t, "the call of up", up); err != nil {
		t.Errorf("not ready when it serves: %v", err)
	}
	if text, err := r.Registry(t.Context()); err != nil || !json.Valid(text) {
		t.Errorf("registry: %s %v", text, err)
	}
	stop()
	if err := testkit.Receive(t, "the end of Run", done); err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := r.Ready(); err == nil {
		t.Error("ready after Run")
	}
	conn.Close()
	if err := r.Ready(); err == nil || !strings.Contains(err.Error(), "connection to NATS") {
		t.Errorf("ready without a connection: %v", err)
	}
}

// While a bucket without which events can't be answered is missing, the router is not ready and says
// what to do.
func TestADeletedBucketIsNamed(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	r, err := router.New(t.Context(), conn, router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ready := func() string {
		t.Helper()
		if err := r.CheckBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r.Ready().Error() // it does not run, and so is never ready
	}
	if why := ready(); strings.Contains(why, "is missing") {
		t.Error(why)
	}
	for _, bucket := range []string{"hooks_registry", "hooks_sessions", "hooks_approvals"} {
		if err := conn.RemoveStream(t.Context(), "KV_"+bucket); err != nil {
			t.Fatal(err)
		}
		if why := ready(); !strings.Contains(why, bucket+" is missing. Run `hookctl audit bootstrap") {
			t.Errorf("without %s: %s", bucket, why)
		}
		if _, err := router.New(t.Context(), conn, router.Options{}); err != nil { // makes what is missing
			t.Fatal(err)
		}
	}
}
