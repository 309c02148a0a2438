package natsx_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// The server does not answer a request that it does not permit: the wait ends all the same, and
// that for another subject goes on.
func TestARequestThatIsNotPermittedFailsAtOnce(t *testing.T) {
	t.Parallel()
	url := listening(t, &server.Options{Users: []*server.User{
		{Username: "worker", Password: "w"},
		{Username: "agent", Password: "a", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"hooks.execute.>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}},
	}})
	connect := func(user, password string) *natsx.Conn {
		c := natstest.Connect(t, natsx.Options{URL: url, NATS: []nats.Option{nats.UserInfo(user, password)}})
		return c
	}
	asked := make(chan *nats.Msg, 1)
	worker, agent, ctx := connect("worker", "w"), connect("agent", "a"), testkit.Within(t, testkit.Patience)
	if _, err := worker.Subscribe("hooks.>", func(m *natsx.Message) { asked <- m }); err != nil {
		t.Fatal(err)
	}
	if err := worker.Conn().FlushWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	permitted := make(chan error, 1)
	go func() {
		_, err := agent.Request(ctx, "hooks.execute.tool.pre", nil, nil)
		permitted <- err
	}()
	m := <-asked
	for _, subject := range []string{"hooks.reveal.x", `hooks.reveal."x"\`} {
		if _, err := agent.Request(ctx, subject, nil, nil); !errors.Is(err, natsx.ErrPermission) {
			t.Errorf("%s: %v; want ErrPermission", subject, err)
		}
	}
	natstest.Respond(m, nil, nil)
	if err := <-permitted; err != nil {
		t.Errorf("a request on another subject ended: %v", err)
	}
}

// With the credentials of another role, each refused subscription and request is reported once: the
// request by its error, and the nine subjects of discovery by one line.
func TestEachPermissionErrorIsReportedOnce(t *testing.T) {
	t.Parallel()
	url := listening(t, &server.Options{Users: []*server.User{{Username: "agent", Password: "a", Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"hooks.execute.>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}}}})
	var log bytes.Buffer // complete when the request fails, since the client library reports errors in order
	c := natstest.Connect(t, natsx.Options{URL: url, NATS: []nats.Option{nats.UserInfo("agent", "a")}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx := testkit.Within(t, testkit.Patience)
	srv, err := service.Start(c, "worker", "1.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Add(service.Endpoint{Name: "one", Subject: "hooks.call.one", Handle: func(context.Context, *service.Request) error { return nil }}); !errors.Is(err, natsx.ErrPermission) {
		t.Fatalf("the endpoint: %v; want ErrPermission", err)
	}
	if _, err := c.Request(ctx, "hooks.register.one", nil, nil); !errors.Is(err, natsx.ErrPermission) {
		t.Fatalf("the request: %v; want ErrPermission", err)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "$SRV.") || !strings.Contains(lines[1], "hooks.call.one") {
		t.Errorf("the log is:\n%s", &log)
	}
	if err := srv.Stop(ctx); err != nil {
		t.Error(err)
	}
}
