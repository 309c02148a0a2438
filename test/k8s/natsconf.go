package k8s

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	corev1 "k8s.io/api/core/v1"
)

// NATSOptions are what a NATS server of a set runs with, as its own parser reads
// the configuration that is mounted. dir takes the files. The variables of the pod
// must be set in this process.
func NATSOptions(s *Set, dir string) (*server.Options, error) {
	w := s.Workload("nats")
	for _, v := range w.Template.Spec.Volumes {
		if v.ConfigMap == nil {
			continue
		}
		at := filepath.Join(dir, path.Base(w.mount(v.Name)))
		if err := os.MkdirAll(at, 0o750); err != nil {
			return nil, err
		}
		for name, text := range s.configMap(v.ConfigMap.Name) {
			text = strings.ReplaceAll(text, `"/data/jwt"`, strconv.Quote(filepath.Join(dir, "jwt")))
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
	}
	return server.ProcessConfigFile(filepath.Join(dir, "nats", "nats.conf"))
}

// NATS finds what is wrong with a server's settings beside its manifest: writes
// that are not synced, ports that differ, files that are not on the volume or do
// not fit it.
func NATS(s *Set, o *server.Options) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, "nats: "+fmt.Sprintf(format, args...)) }
	w := s.Workload("nats")
	if !o.JetStream || !o.SyncAlways {
		say("it acknowledges writes before they are on the disk: set sync_interval: always")
	}
	for name, number := range map[string]int{"client": o.Port, "monitor": o.HTTPPort, "route": o.Cluster.Port} {
		if p := w.port(name); p == nil && number != 0 || p != nil && int(p.ContainerPort) != number {
			say("the port %s of the pod is not the %d of the configuration", name, number)
		}
	}
	c := w.Container("nats")
	on := func(file string) string {
		for _, m := range c.VolumeMounts {
			if strings.HasPrefix(file, m.MountPath+"/") && !m.ReadOnly {
				return m.Name
			}
		}
		return ""
	}
	if o.PidFile != "" && on(o.PidFile) == "" {
		say("%s is on no volume that can be written", o.PidFile)
	}
	claim := on(o.StoreDir)
	if i := slices.IndexFunc(w.Claims, func(v corev1.PersistentVolumeClaim) bool { return v.Name == claim }); i < 0 {
		say("%s is on no volume that stays", o.StoreDir)
	} else if size := w.Claims[i].Spec.Resources.Requests[corev1.ResourceStorage]; o.JetStreamMaxStore <= 0 || o.JetStreamMaxStore > size.Value()*9/10 {
		say("max_file_store is %d, which is not at most nine tenths of the volume's %s", o.JetStreamMaxStore, &size)
	}
	if w.Replicas > 1 {
		if len(o.Routes) != int(w.Replicas) || o.Cluster.Name == "" || o.Cluster.Username == "" || o.Cluster.Password == "" {
			say("%d servers need a cluster with a name, a password and as many routes", w.Replicas)
		}
		for _, r := range o.Routes {
			password, _ := r.User.Password()
			if !s.reachable(r.Hostname(), r.Port()) || r.User.Username() != o.Cluster.Username || password != o.Cluster.Password {
				say("the route to %s leads nowhere or has not the cluster's password", r.Host)
			}
		}
		if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Exec == nil ||
			!slices.Equal(c.Lifecycle.PreStop.Exec.Command, []string{"/nats-server", "--signal=ldm=" + o.PidFile}) ||
			float64(*w.Template.Spec.TerminationGracePeriodSeconds) <= o.LameDuckDuration.Seconds() {
			say("it is not told to hand over before it ends, or has not the time for it")
		}
	}
	return wrong
}

// Right is who may publish or subscribe to what.
type Right struct {
	Publish, Subscribe []string
	Apart              bool // in an account where no router is
}

var quoted = regexp.MustCompile("`([^`]+)`")

// stores are the streams that a router with the default prefix keeps.
var stores = []string{
	"KV_hooks_registry", "KV_hooks_sessions", "KV_hooks_approvals", "KV_hooks_salts", "KV_hooks_index", "KV_hooks_policies", "HOOKS_AUDIT", "HOOKS_CHECKPOINTS",
}

// Documented reads the table of docs/permissions.md, with the hooks of a worker. The
// worker's role is called hook there.
func Documented(operator string, hooks []string) map[string]Right {
	_, part, _ := strings.Cut(operator, "\n## Permissions\n")
	part, _, _ = strings.Cut(part, "\n## ")
	roles := map[string]Right{}
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.Contains(line, "`") {
			continue
		}
		role := strings.Trim(strings.Fields(cells[1])[0], ",:")
		if role == "hook" {
			role = "worker"
		}
		roles[role] = Right{Publish: subjects(cells[2], hooks), Subscribe: subjects(cells[3], hooks)}
	}
	return roles
}

// DocumentedState reads from docs/permissions.md what a user has in the account of what
// hooks remember. dir takes a file.
func DocumentedState(operator, dir string) (Right, error) {
	config := block(operator, "<!-- begin setup rights -->\n") + block(operator, "\n### What hooks remember\n")
	file := filepath.Join(dir, "documented.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return Right{}, err
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		return Right{}, err
	}
	for _, u := range o.Users {
		if u.Username == "state" && u.Permissions != nil {
			return Right{allowed(u.Permissions.Publish), allowed(u.Permissions.Subscribe), true}, nil
		}
	}
	return Right{}, errors.New("docs/permissions.md gives no user state its rights")
}

// block is the first configuration below a line.
func block(text, line string) string {
	_, config, _ := strings.Cut(text, line)
	_, config, _ = strings.Cut(config, "```text\n")
	config, _, _ = strings.Cut(config, "```")
	return config
}

func subjects(cell string, hooks []string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		switch {
		case strings.Contains(m[1], "<id>"):
			for _, id := range hooks {
				all = append(all, strings.ReplaceAll(m[1], "<id>", id))
			}
		case strings.Contains(m[1], "<store>"):
			for _, store := range stores {
				all = append(all, strings.ReplaceAll(m[1], "<store>", store))
			}
		default:
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return all
}

// Rights finds users whose rights are not those that are documented for their
// role, and users without a password of their own.
func Rights(o *server.Options, documented map[string]Right) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	passwords, routers := map[string]string{}, ""
	for _, u := range o.Users {
		if u.Username == "router" {
			routers = u.Account.Name
		}
	}
	for _, u := range o.Users {
		role := u.Username
		if len(u.Password) < 32 || passwords[u.Password] != "" {
			say("%s has no password of its own", role)
		}
		passwords[u.Password] = role
		if u.Permissions == nil || u.Permissions.Publish == nil || u.Permissions.Subscribe == nil {
			say("%s may do everything", role)
			continue
		}
		have := Right{allowed(u.Permissions.Publish), allowed(u.Permissions.Subscribe), u.Account.Name != routers}
		if want, known := documented[role]; known && have.Apart != want.Apart {
			say("%s is in the account %s, and should not", role, u.Account.Name)
		}
		if u.Permissions.Response != nil {
			have.Publish = append(have.Publish, "allow_responses")
			slices.Sort(have.Publish)
		}
		for _, subject := range slices.Concat(have.Publish, have.Subscribe) {
			if !server.IsValidSubject(subject) {
				say("%s: %q is not a subject", role, subject)
			}
		}
		want, known := documented[role]
		switch {
		case !known:
			say("there is no role %s", role)
		case role == "setup": // some of what is documented: it is no router besides
			for _, subject := range have.Publish {
				if !slices.Contains(want.Publish, subject) && !slices.Contains(documented["router"].Publish, subject) {
					say("setup may publish on %s", subject)
				}
			}
			if !slices.Equal(have.Subscribe, []string{"_INBOX_setup.>"}) {
				say("setup may subscribe to %v", have.Subscribe)
			}
		default:
			differs := func(what string, have, want []string) {
				for _, subject := range have {
					if !slices.Contains(want, subject) {
						say("%s may %s %s, and should not", role, what, subject)
					}
				}
				for _, subject := range want {
					if !slices.Contains(have, subject) {
						say("%s may not %s %s, and should", role, what, subject)
					}
				}
			}
			differs("publish on", have.Publish, want.Publish)
			differs("subscribe to", have.Subscribe, want.Subscribe)
		}
	}
	return wrong
}

func allowed(p *server.SubjectPermission) []string {
	all := slices.Clone(p.Allow)
	slices.Sort(all)
	return all
}
