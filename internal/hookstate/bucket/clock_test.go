package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/hookstate/bucket"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// The time is that of the server, whatever this machine's clock says.
func TestTheTimeIsThatOfTheServer(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{DontListen: true}) // without JetStream, which the test answers for
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	ahead := time.Now().Add(5 * time.Minute)
	nc := natstest.Conn(t, s)
	if _, err := nc.Subscribe("$JS.API.STREAM.INFO.KV_hooks_hookstate", func(m *nats.Msg) {
		_ = m.Respond(fmt.Appendf(nil, `{"type":"io.nats.jetstream.api.v1.stream_info_response","ts":%q,
			"config":{"name":"KV_hooks_hookstate","subjects":["$KV.hooks_hookstate.>"],"max_msgs_per_subject":1}}`, ahead.Format(time.RFC3339Nano)))
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	store := bucket.New(func() (*natsx.Conn, error) { return natsx.Connect(natsx.Options{InProcess: s}) })
	t.Cleanup(store.Close)
	last := ahead
	for range 3 {
		now, err := store.Now(t.Context())
		if err != nil || now.Before(last) || now.After(ahead.Add(time.Minute)) {
			t.Fatalf("it is %v, %v; want at least %v", now, err, last)
		}
		last = now
	}
}
