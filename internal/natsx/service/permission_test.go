package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// An endpoint whose subject the credentials do not permit is an error: nobody could reach it.
func TestAnEndpointThatIsNotPermitted(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, Users: []*server.User{{
		Username: "worker", Password: "w", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Allow: []string{"own.>", "_INBOX.>"}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(testkit.Patience) {
		t.Fatal("the server is not ready")
	}
	c := natstest.Connect(t, natsx.Options{InProcess: s, NATS: []nats.Option{nats.UserInfo("worker", "w")}})
	srv, err := service.Start(c, "test", "1.0.0", nil) // discovery is not permitted either, which is no error
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Stop(context.WithoutCancel(t.Context())) })
	for subject, permitted := range map[string]bool{"own.a": true, "others.a": false, "own.b": true} {
		_, err := srv.Add(service.Endpoint{Name: "a", Subject: subject, Handle: func(context.Context, *service.Request) error { return nil }})
		if errors.Is(err, natsx.ErrPermission) == permitted || err != nil && !strings.Contains(err.Error(), "listen on "+subject) {
			t.Errorf("%s: %v", subject, err)
		}
	}
}
