package k8s

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
)

// remembering is a policy whose hook counts, under an id that the worker has rights to.
const remembering = `
hooks:
  - id: command-guard
    builtin:
      limits:
        rules: [{per: [session], calls: 6}]
`

// TestWorkersRememberTogether runs two workers with the settings of the manifest: what
// one counts, the other knows.
func TestWorkersRememberTogether(t *testing.T) {
	for _, name := range []string{"base", "overlays/prod"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			s := load(t, name)
			for _, m := range s.ConfigMaps {
				if _, policy := m.Data["worker.yaml"]; policy {
					m.Data["worker.yaml"] = remembering
				}
			}
			c := start(t, s)
			router := c.route(t, ctx)
			first, second := c.run(t, "hook-worker", "hook-worker"), c.run(t, "hook-worker", "hook-worker")
			for _, worker := range []*running{first, second} {
				worker.says(t, ctx, `"hooks":1`)
			}
			for i := range 12 { // either may get a call
				code, out := c.emit(t, fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":"echo %d"}}`, i))
				if (code != 0) != (i >= 6) {
					t.Errorf("call %d ends with exit code %d:\n%s", i+1, code, out)
				}
			}
			lacksNothing(t, router, first, second)
			if replicas := c.replicas(t, "HOOKSTATE", "KV_hooks_hookstate"); replicas != len(c.servers) {
				t.Errorf("what hooks remember has %d copies on %d servers", replicas, len(c.servers))
			}
			if c.replicas(t, "HOOKS", "KV_hooks_hookstate") != 0 {
				t.Error("what hooks remember is in the routers' account")
			}
			c.bounded(t)
			c.fenced(t)
		})
	}
}

// bounded looks at what the account of what hooks remember may keep.
func (c *cluster) bounded(t *testing.T) {
	t.Helper()
	account, err := c.servers[0].LookupAccount("HOOKSTATE")
	if err != nil {
		t.Fatal(err)
	}
	limits := account.JetStreamUsage().Limits
	if limits.MaxStore <= 0 || limits.MaxStore > 2<<30 || limits.MaxMemory != 0 || limits.MaxStreams != 1 {
		t.Errorf("it may fill the disk of the audit log: %+v", limits)
	}
}

// fenced has who remembers, and the worker beside him, try what is a router's.
func (c *cluster) fenced(t *testing.T) {
	t.Helper()
	publish := []string{
		"$KV.hooks_registry.hook.x", "$KV.hooks_sessions.x", "$KV.hooks_approvals.x", "$KV.hooks_salts.x", "$KV.hooks_index.x", "$KV.x.y",
		"hooks.audit.w.x", "hooks.audit.decision.x", "hooks.checkpoint.HOOKS_AUDIT",
		"hooks.emit.tool.pre", "hooks.execute.tool.pre", "hooks.approve.x", "hooks.register.other", "hooks.call.path-guard", "_INBOX_router.x", "_INBOX.x",
		"$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.DELETE.KV_hooks_hookstate", "$JS.API.STREAM.PURGE.KV_hooks_hookstate",
		"$JS.API.CONSUMER.CREATE.KV_hooks_hookstate.x", "$JS.API.DIRECT.GET.KV_hooks_hookstate.x", "$JS.API.STREAM.MSG.DELETE.KV_hooks_hookstate",
	}
	for _, stream := range stores {
		for _, verb := range []string{"STREAM.INFO.", "STREAM.MSG.GET.", "DIRECT.GET.", "STREAM.CREATE.", "STREAM.UPDATE.", "STREAM.DELETE.", "STREAM.PURGE.", "STREAM.MSG.DELETE."} {
			publish = append(publish, "$JS.API."+verb+stream)
		}
		publish = append(publish, "$JS.API.CONSUMER.CREATE."+stream+".x", "$JS.API.CONSUMER.MSG.NEXT."+stream+".x")
	}
	subscribe := []string{"hooks.>", "hooks.event.>", "hooks.audit.>", "$KV.>", "_INBOX_router.>", "_INBOX_agent.>", ">"}
	for _, user := range []string{"state", "worker"} {
		for _, subject := range publish {
			if c.permits(t, user, func(nc *client.Conn) error { return nc.Publish(subject, []byte("{}")) }) {
				t.Errorf("%s may publish on %s", user, subject)
			}
		}
		for _, subject := range subscribe {
			if c.permits(t, user, func(nc *client.Conn) error { _, err := nc.SubscribeSync(subject); return err }) {
				t.Errorf("%s may subscribe to %s", user, subject)
			}
		}
	}
	for _, subject := range []string{"$KV.hooks_hookstate.x", "$JS.API.STREAM.INFO.KV_hooks_hookstate", "$JS.API.STREAM.MSG.GET.KV_hooks_hookstate", "$JS.API.INFO"} {
		if c.permits(t, "worker", func(nc *client.Conn) error { return nc.Publish(subject, []byte("{}")) }) {
			t.Errorf("a worker may publish on %s among the routers", subject)
		}
	}
}

// permits reports whether the servers let a user do something.
func (c *cluster) permits(t *testing.T, user string, do func(*client.Conn) error) bool {
	t.Helper()
	nc, err := client.Connect(c.url(user), client.ErrorHandler(func(*client.Conn, *client.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := do(nc); err != nil {
		t.Fatal(err)
	}
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	return !errors.Is(nc.LastError(), client.ErrPermissionViolation)
}
