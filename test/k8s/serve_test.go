package k8s

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestTheProgramsServe runs what the containers run, with their settings, files and
// Secrets, on NATS servers with the configuration that is deployed.
func TestTheProgramsServe(t *testing.T) {
	for _, name := range []string{"base", "overlays/prod"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			c := start(t, load(t, name))
			w := c.set.Workload("hook-router")
			router := c.route(t, ctx)
			if out, err := c.command(t, w, "setup").CombinedOutput(); err != nil {
				t.Errorf("setup, once more: %v\n%s", err, out)
			}
			health := router.says(t, ctx, `health +(http://[^/]+)/readyz`)[1]
			c.served(t, ctx, w, health)
			worker := c.run(t, "hook-worker", "hook-worker")
			worker.says(t, ctx, `"hooks":9`)
			c.guarded(t)
			lacksNothing(t, router, worker)
			if replicas := c.replicas(t, "HOOKS", "HOOKS_AUDIT"); replicas != len(c.servers) {
				t.Errorf("the audit log has %d copies on %d servers", replicas, len(c.servers))
			}
		})
	}
}

// route does what the pod of a router does, on servers that have just started.
func (c *cluster) route(t *testing.T, ctx context.Context) *running {
	t.Helper()
	c.mount(t, c.set.Workload("hook-router"))
	for ctx.Err() == nil { // as the kubelet does: a cluster needs a moment to elect
		if out, err := c.command(t, c.set.Workload("hook-router"), "setup").CombinedOutput(); err == nil {
			break
		} else if ctx.Err() != nil {
			t.Fatalf("setup: %v\n%s", err, out)
		}
	}
	c.names = append(c.names, ":8080", "127.0.0.1:0", ":8081", "127.0.0.1:0")
	router := c.run(t, "hook-router", "hook-router")
	router.says(t, ctx, "durability is proven")
	return router
}

// lacksNothing looks for rights that programs lacked.
func lacksNothing(t *testing.T, programs ...*running) {
	t.Helper()
	for _, r := range programs {
		for len(r.lines) > 0 {
			r.seen = append(r.seen, <-r.lines)
		}
		if text := strings.Join(r.seen, "\n"); strings.Contains(strings.ToLower(text), "permissions violation") {
			t.Errorf("somebody lacks a right:\n%s", text)
		}
	}
}

// The router of the overlay dev brings its NATS along; the worker and the agent are
// beside it.
func TestTheProgramsServeInOnePod(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := &cluster{set: load(t, "overlays/dev")}
	w := c.set.Workload("hook-router")
	jaeger := newCollector(t)
	c.names = []string{":8080", "127.0.0.1:0", ":8082", "127.0.0.1:0", "nats://127.0.0.1:4222", "nats://" + free(t), "http://127.0.0.1:4318", jaeger.url}
	// The one setting that the manifest leaves at its default, which may be taken here.
	pod := w.Container("hook-router")
	pod.Env = append(pod.Env, pod.Env[0])
	pod.Env[len(pod.Env)-1].Name, pod.Env[len(pod.Env)-1].Value = "HOOK_ROUTER_NATS_LISTEN", strings.TrimPrefix(c.names[5], "nats://")
	router := c.run(t, "hook-router", "hook-router")
	health := router.says(t, ctx, `health +(http://[^/]+)/readyz`)[1]
	c.served(t, ctx, w, health)
	c.run(t, "hook-router", "hook-worker").says(t, ctx, `"hooks":9`)
	c.guarded(t)
	jaeger.hears(t, ctx, "hook-router", "hook-worker")
}

// served asks for every page that is probed, and for Prometheus'.
func (c *cluster) served(t *testing.T, ctx context.Context, w *Workload, at string) {
	t.Helper()
	get := func(url string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "10.1.2.3:8080" // as the kubelet asks
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s answers %s", url, answer.Status)
		}
	}
	for page := range pages["hook-router"] {
		get(at + page)
	}
	for _, ns := range c.servers {
		for page := range pages["nats"] {
			get("http://" + ns.MonitorAddr().String() + page)
		}
	}
}

// guarded emits events as an agent does, with its own rights: the sample policy
// denies, asks and lets through.
func (c *cluster) guarded(t *testing.T) {
	t.Helper()
	const denied, asked = 2, 5 // exit codes of hookctl
	for data, want := range map[string]int{
		`{"tool_name":"Write","tool_input":{"file_path":"/etc/passwd"}}`:          denied,
		`{"tool_name":"Write","cwd":"/repo","tool_input":{"file_path":"/srv/x"}}`: asked,
		`{"tool_name":"Write","tool_input":{"file_path":"/home/dev/main.go"}}`:    0,
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf / --no-preserve"}}`:  denied,
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf build"}}`:            0,
		`{"tool_name":"Bash","tool_input":{"command":"make confirm -rx /tmp"}}`:   0,
	} {
		code, out := c.emit(t, data)
		if code != want {
			t.Errorf("%s ends with exit code %d, want %d:\n%s", data, code, want, out)
		}
	}
}

// emit sends an event as an agent does, and returns the exit code of hookctl.
func (c *cluster) emit(t *testing.T, data string) (code int, out string) {
	t.Helper()
	url := "nats://127.0.0.1:4222"
	if len(c.servers) > 0 {
		url = c.url("agent")
	}
	env := []string{"NATS_URL=" + c.here(url), "NATS_INBOX_PREFIX=_INBOX_agent", "HOME=" + t.TempDir()}
	if c.set.secret("hookrouter-creds-coder") != nil {
		env = []string{"NATS_URL=" + c.here("nats://nats:4222"), "NATS_CREDS=" + c.creds(t, "coder"), "HOME=" + t.TempDir()}
	}
	out, err := program(env, "hookctl", "emit", "tool:pre", "--session=s1", data)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out
}

// url is where a user of the deployed accounts connects.
func (c *cluster) url(user string) string {
	return c.here("nats://" + user + ":" + string(c.set.secret("nats-" + user)["password"]) + "@nats:4222")
}

// replicas of a stream; 0 where it is not in the account.
func (c *cluster) replicas(t *testing.T, account, stream string) int {
	t.Helper()
	for _, ns := range c.servers {
		state, err := ns.Jsz(&server.JSzOptions{Streams: true, Config: true, Accounts: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range state.AccountDetails {
			for _, s := range a.Streams {
				if a.Name == account && s.Name == stream {
					return s.Config.Replicas
				}
			}
		}
	}
	return 0
}
