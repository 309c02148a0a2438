package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// What stands in a request proves nothing of who sent it, however it is put past
// the server.
func TestAForgedSenderProvesNothing(t *testing.T) {
	t.Parallel()
	const users = `users: [{user: router, password: secret}]`
	file := t.TempDir() + "/nats.conf"
	if err := os.WriteFile(file, []byte(`accounts {
		ROUTERS { jetstream: enabled, `+users+`, exports: [{service: "hooks.execute.>"}, {service: "hooks.approve.*"}] }
		TENANT { users: [{user: agent, password: secret}], imports: [
			{service: {account: ROUTERS, subject: "hooks.execute.>"}, share: true}, {service: {account: ROUTERS, subject: "hooks.approve.*"}, share: true} ] }
		O { users: [{user: other, password: secret}], imports: [{service: {account: ROUTERS, subject: "hooks.approve.*"}}] }
	}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := plainServer(t, o)
	routertest.Start(t, nil, router.Options{Accounts: true, Approvals: approvals.Options{ProvenOnly: true}}, natsx.Options{URL: login(s, "router")})
	nc, agent := as(t, s, "router"), as(t, s, "agent")
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	told := execute(t, ctx, agent, event("e1", "Hook-Wait-Ms", "1"), `{}`)
	q := openQuestion(t, ctx, required)
	take(t, ctx, told)
	const version, claim = "NATS/1.0\r\n", `{"acc":"APPROVERS","user":"ann"}`
	for sentence, header := range map[string]string{
		"behind a bare newline":        version + "X: y\nNats-Request-Info: " + claim,
		"before a bare blank line":     version + "X: y\nNats-Request-Info: " + claim + "\n",
		"before one, shortly written":  version + "X:y\n" + strings.Repeat("a:b\n", 200) + "Nats-Request-Info:" + claim + "\n",
		"before one, with a status":    "NATS/1.0 503 x\nNats-Request-Info:" + claim + "\n",
		"in small letters":             version + "nats-request-info: " + claim,
		"with a blank before the sign": version + "Nats-Request-Info : " + claim,
	} {
		for _, user := range []string{"agent", "other"} {
			t.Run(sentence+" as "+user, func(t *testing.T) {
				if got := smuggle(t, ctx, s, user, "hooks.approve."+q.ID, header, `{"option":"Allow once"}`); !strings.Contains(got, "Nats-Service-Error-Code: 403") {
					t.Errorf("answered with %s", got)
				}
			})
		}
	}
	if m := request(t, ctx, agent, "hooks.approve."+q.ID, nil, `{"option":"Deny"}`); code(m) != "" {
		t.Errorf("an honest answer: %v", m.Header)
	}
	record := decode[approval.Record](t, request(t, ctx, nc, "hooks.approval."+q.ID, nil, "").Data)
	if record.Decision == nil || record.DecidedBy != "nats TENANT/agent" {
		t.Errorf("decided %+v", record.Decision)
	}
}

// smuggle sends a request with a header as it is, which no client library would,
// and returns the answer as it comes.
func smuggle(t *testing.T, ctx context.Context, s *server.Server, user, subject, header, body string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	block := header + "\r\n\r\n"
	_, err = fmt.Fprintf(conn, "CONNECT {\"verbose\":false,\"user\":%q,\"pass\":\"secret\",\"headers\":true,\"no_responders\":true}\r\nSUB _INBOX.x 1\r\n"+
		"HPUB %s _INBOX.x %d %d\r\n%s%s\r\n", user, subject, len(block), len(block)+len(body), block, body)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		var size, headers int
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := fmt.Sscanf(line, "HMSG _INBOX.x 1 %d %d", &headers, &size); n != 2 {
			if n, _ = fmt.Sscanf(line, "MSG _INBOX.x 1 %d", &size); n != 1 {
				continue
			}
		}
		answer := make([]byte, size)
		if _, err := io.ReadFull(in, answer); err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
}
