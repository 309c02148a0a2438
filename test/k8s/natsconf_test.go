package k8s

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"sigs.k8s.io/yaml"
)

// configured reads the NATS configuration of a set as the pod with a number does.
func configured(t *testing.T, s *Set, pod int) (*server.Options, error) {
	t.Helper()
	w := s.Workload("nats")
	for name, value := range s.Env(w, w.Container("nats"), pod) {
		t.Setenv(name, value)
	}
	return NATSOptions(s, t.TempDir())
}

// hooks are the ids of the sample policy.
func hooks(t *testing.T, s *Set) (ids []string) {
	t.Helper()
	var file struct {
		Hooks []struct {
			ID string `json:"id"`
		} `json:"hooks"`
	}
	for _, m := range s.ConfigMaps {
		if text, ok := m.Data["worker.yaml"]; ok {
			if err := yaml.Unmarshal([]byte(text), &file); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, h := range file.Hooks {
		ids = append(ids, h.ID)
	}
	return ids
}

// documented is the operator's table of rights.
func documented(t *testing.T, s *Set) map[string]Right {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	roles := Documented(string(text), hooks(t, s))
	if roles["state"], err = DocumentedState(string(text), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if len(roles) < 8 || len(roles["worker"].Publish) < 3 || len(roles["router"].Subscribe) < 10 {
		t.Fatalf("docs/permissions.md has another table of rights than this reads: %v", roles)
	}
	return roles
}

func TestTheNATSConfigurationIsWell(t *testing.T) {
	for _, name := range []string{"base", "overlays/prod"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			o, err := configured(t, s, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range append(NATS(s, o), Rights(o, documented(t, s))...) {
				t.Error(wrong)
			}
			if len(o.Users) != 8 || o.ServerName != "nats-0" {
				t.Errorf("%d users on %s", len(o.Users), o.ServerName)
			}
			if len(o.Accounts) != 2 {
				t.Errorf("%d accounts", len(o.Accounts))
			}
		})
	}
}

func TestPlantedNATSConfigurationsAreFound(t *testing.T) {
	for what, p := range map[string]struct{ old, new, says string }{
		"writes are not synced":                {"sync_interval: always", "sync_interval: 1s", "before they are on the disk"},
		"writes are synced by default":         {"sync_interval: always", "", "before they are on the disk"},
		"the monitoring port is another":       {`"0.0.0.0:8222"`, `"0.0.0.0:8223"`, "the port monitor"},
		"the client port is another":           {`"0.0.0.0:4222"`, `"0.0.0.0:4223"`, "the port client"},
		"the route port is another":            {`"0.0.0.0:6222"`, `"0.0.0.0:6223"`, "the port route"},
		"files are on no volume":               {`"/data/jetstream"`, `"/jetstream"`, "on no volume that stays"},
		"files are in memory":                  {`"/data/jetstream"`, `"/run/nats/jetstream"`, "on no volume that stays"},
		"more is stored than the volume holds": {"max_file_store: 16GB", "max_file_store: 20GB", "nine tenths"},
		"the pid file can't be written":        {`"/run/nats/nats.pid"`, `"/etc/nats/nats.pid"`, "no volume that can be written"},
		"one server is not routed to":          {"$ROUTE_0, ", "", "as many routes"},
		"routes ask for no password":           {"authorization { user: routes, password: $ROUTES_PASSWORD, timeout: 5 }", "", "a name, a password"},
		"lame ducks live longer than the pod":  {"lame_duck_duration: 30s", "lame_duck_duration: 120s", "has not the time"},
		"a user may do everything":             {"  subscribe: \"_INBOX_agent.>\"\n", "", "agent may do everything"},
		"two share a password":                 {"$AGENT_PASSWORD", "$ROUTER_PASSWORD", "no password of its own"},
		"a password is weak":                   {"$AGENT_PASSWORD", "agent", "no password of its own"},
		"an agent may answer for a person":     {`publish: ["hooks.emit.>"`, `publish: ["hooks.approve.*", "hooks.emit.>"`, "agent may publish on hooks.approve.*, and should not"},
		"an agent reads all inboxes":           {`subscribe: "_INBOX_agent.>"`, `subscribe: "_INBOX.>"`, "agent may subscribe to _INBOX.>, and should not"},
		"a worker answers anywhere":            {"  allow_responses: true\n", "", "worker may not publish on allow_responses"},
		"a worker has not the right to a hook": {`"hooks.register.path-guard", `, "", "worker may not publish on hooks.register.path-guard"},
		"a router may delete the log":          {`"$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*"`, `"$JS.API.>"`, "router may publish on $JS.API.>, and should not"},
		"setup may delete the log":             {`"$JS.API.INFO", "$JS.API.STREAM.NAMES"`, `"$JS.API.STREAM.DELETE.*"`, "setup may publish on $JS.API.STREAM.DELETE.*"},
		"setup reads other inboxes":            {`"_INBOX_setup.>"`, `"_INBOX_router.>"`, "setup may subscribe to"},
		"who remembers reads the log":          {`"$JS.API.STREAM.INFO.KV_hooks_hookstate"`, `"$JS.API.STREAM.INFO.*"`, "state may publish on $JS.API.STREAM.INFO.*, and should not"},
		"who remembers is among the routers": {
			"    ]\n  }\n  # It shares nothing with the other account but the disk, and of that it takes no more\n  # than this: the audit log is there too.\n  HOOKSTATE: {\n    jetstream: {max_mem: 0, max_file: 1GB, max_streams: 1}\n    users: [",
			"", "state is in the account HOOKS, and should not",
		},
		"a role that is not documented": {"{user: agent,", "{user: guest,", "there is no role guest"},
	} {
		t.Run(what, func(t *testing.T) {
			s, changed := load(t, "overlays/prod"), false
			for _, m := range s.ConfigMaps {
				for name, text := range m.Data {
					if strings.HasSuffix(name, ".conf") {
						m.Data[name] = strings.Replace(text, p.old, p.new, 1)
						changed = changed || m.Data[name] != text
					}
				}
			}
			if !changed {
				t.Fatalf("nothing to change: %q", p.old)
			}
			o, err := configured(t, s, 0)
			if err != nil {
				t.Fatal(err)
			}
			wrong := strings.Join(append(NATS(s, o), Rights(o, documented(t, s))...), "\n")
			if !strings.Contains(wrong, p.says) {
				t.Errorf("found is %q, and nothing of %q", wrong, p.says)
			}
		})
	}
}

// A password that NATS would read as a number is why the script puts a letter
// before the random bytes.
func TestBadPasswordsAreNoticed(t *testing.T) {
	for what, password := range map[string]string{
		"a password is missing":  "",
		"a password is a number": "777777777777777777777777777777777777777777777777",
	} {
		t.Run(what, func(t *testing.T) {
			s := load(t, "base")
			for _, o := range s.Secrets {
				if o.Name == "nats-agent" {
					o.Data["password"] = []byte(password)
				}
			}
			o, err := configured(t, s, 0)
			if err == nil && len(Rights(o, documented(t, s))) == 0 {
				t.Error("it is taken")
			}
		})
	}
}

// The server that is deployed is the one that the product is tested with, and that
// read the configuration here.
func TestTheServerIsTheTestedOne(t *testing.T) {
	tested := regexp.MustCompile(`github\.com/nats-io/nats-server/v2 v(\S+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if server.VERSION != tested {
		t.Errorf("the configuration is read by NATS %s here, and the product is tested with %s", server.VERSION, tested)
	}
	for _, name := range []string{"base", "overlays/prod"} {
		if image := nats(load(t, name)).Image; !strings.HasSuffix(image, "/nats:"+tested+"-scratch") {
			t.Errorf("%s runs %s, and the product is tested with %s", name, image, tested)
		}
	}
}
