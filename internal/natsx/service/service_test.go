package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// TestARefusalIsCountedBeforeItIsSent is what lets an agent, or a test, that was refused
// find its refusal in the statistics.
func TestARefusalIsCountedBeforeItIsSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := natstest.Server(t)
	agent := natstest.Conn(t, s)
	server := natstest.Connect(t, natsx.Options{InProcess: s})
	answers, err := agent.SubscribeSync(agent.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	counted := make(chan int, 8)
	refused := func(code int) {
		if err := server.Conn().FlushWithContext(ctx); err != nil {
			t.Error(err)
		}
		if err := agent.FlushWithContext(ctx); err != nil {
			t.Error(err)
		}
		if n, _, _ := answers.Pending(); n != 0 {
			t.Errorf("%d was answered before it was counted", code)
		}
		counted <- code
	}
	srv, err := service.Start(server, "test", "1.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Stop(context.WithoutCancel(ctx)) })
	for _, e := range []service.Endpoint{
		{Name: "bad", Subject: "test.bad", Handle: func(context.Context, *service.Request) error { return wire.Errorf(wire.Malformed, "no") }},
		{Name: "full", Subject: "test.full", Limiter: service.NewLimiter(0), Handle: func(context.Context, *service.Request) error { return nil }},
		{Name: "panics", Subject: "test.panics", Handle: func(context.Context, *service.Request) error { panic("a defect") }},
	} {
		e.OnError = refused
		if _, err := srv.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for subject, code := range map[string]int{"test.bad": 400, "test.full": 429, "test.panics": 500} {
		if err := agent.PublishRequest(subject, answers.Subject, nil); err != nil {
			t.Fatal(err)
		}
		if got := <-counted; got != code {
			t.Errorf("%s is counted as %d, want %d", subject, got, code)
		}
		if _, err := answers.NextMsgWithContext(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAPanicIsLoggedWithItsPlace: whoever wrote the handler finds the line.
func TestAPanicIsLoggedWithItsPlace(t *testing.T) {
	s := natstest.Server(t)
	var log bytes.Buffer
	server := natstest.Connect(t, natsx.Options{InProcess: s, Log: slog.New(slog.NewTextHandler(&log, nil))})
	srv, err := service.Start(server, "test", "1.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Add(service.Endpoint{Name: "panics", Subject: "test.panics", Handle: func(context.Context, *service.Request) error { panic("a defect") }}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if _, err := natstest.Conn(t, s).RequestWithContext(ctx, "test.panics", nil); err != nil {
		t.Fatal(err)
	}
	if err := srv.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "service_test.go:") {
		t.Errorf("the log is %s", &log)
	}
}

// TestStopAnswersWhatArrived stops a service while one request is under way and others wait for
// their turn.
func TestStopAnswersWhatArrived(t *testing.T) {
	const requests = 20
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	s := natstest.Server(t)
	server := natstest.Connect(t, natsx.Options{InProcess: s})
	client := natstest.Conn(t, s)
	srv, err := service.Start(server, "test", "1.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	underWay, goOn := make(chan struct{}, requests), make(chan struct{})
	if _, err := srv.Add(service.Endpoint{
		Name: "slow", Subject: "slow", Limiter: service.NewLimiter(1), Wait: true,
		Handle: func(_ context.Context, r *service.Request) error {
			underWay <- struct{}{}
			<-goOn
			return r.Reply(nil, nil)
		},
	}); err != nil {
		t.Fatal(err)
	}
	replies, err := client.SubscribeSync(client.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	for range requests {
		if err := client.PublishRequest("slow", replies.Subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.FlushWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	<-underWay
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Stop(ctx) }()
	close(goOn)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	for _, conn := range []*nats.Conn{server.Conn(), client} {
		if err := conn.FlushWithContext(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, err := replies.Pending(); n != requests {
		t.Errorf("%d of %d replies are there: %v", n, requests, err)
	}
}
