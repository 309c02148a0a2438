package natsx_test

import (
	"errors"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
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
		c, err := natsx.Connect(natsx.Options{URL: url, NATS: []nats.Option{nats.UserInfo(user, password)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
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
