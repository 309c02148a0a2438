package k8s

import (
	"os"
	"strings"
	"testing"
)

// help gives what a program takes, by its own --help.
func help(command ...string) (Program, error) {
	text, err := program(nil, command[0], append(command[1:], "--help")...)
	if err == nil && len(command) == 1 && command[0] != "hookctl" { // their default command has the flags
		var more string
		more, err = program(nil, command[0], map[string]string{"hook-router": "serve", "hook-worker": "run"}[command[0]], "--help")
		text += more
	}
	if err == nil && command[0] == "hookctl" { // their help is a topic
		var more string
		more, err = program(nil, "hookctl", "help", "connection")
		text += more
	}
	return NewProgram(text), err
}

// checks are those of every kustomization.
var checks = map[string]func(*Set) []string{
	"selectors":  Selectors,
	"references": References,
	"restricted": Restricted,
	"bounds":     Bounds,
	"probes":     Probes,
	"monitored":  Monitored,
	"settings":   func(s *Set) []string { return Settings(s, help, Configured(s)) },
	"production": Production,
}

func TestTheManifestsAreWell(t *testing.T) {
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			set := load(t, name)
			for what, check := range checks {
				if what == "production" && name != "overlays/prod" && name != identified {
					continue
				}
				for _, wrong := range check(set) {
					t.Errorf("%s: %s", what, wrong)
				}
			}
			for _, w := range set.Workloads() {
				t.Logf("%s: %d pods of %d containers", w.Name, w.Replicas, len(w.Containers()))
			}
		})
	}
}

func TestEveryNamespaceIsItsOwn(t *testing.T) {
	want := map[string]string{"base": "hook-router", "overlays/prod": "hook-router", "overlays/dev": "hook-router-dev", identified: "hook-router"}
	for _, name := range all {
		set := load(t, name)
		if len(set.Namespaces) != 1 || set.Namespace != want[name] {
			t.Errorf("%s makes %d namespaces, the last one %q, want %q", name, len(set.Namespaces), set.Namespace, want[name])
		}
		for _, o := range set.Services {
			if o.Namespace != want[name] {
				t.Errorf("%s puts the Service %s into %q", name, o.Name, o.Namespace)
			}
		}
		for _, o := range set.Secrets {
			if o.Namespace != want[name] {
				t.Errorf("%s needs a Secret %s that is in %q", name, o.Name, o.Namespace)
			}
		}
	}
}

func TestNoSecretIsInTheTree(t *testing.T) {
	ignored, err := os.ReadFile(deployed + "/secrets/.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"/*.key\n", "/console.token\n", "/*.password\n", "/auth/\n", "/identities.yaml\n"} {
		if !strings.Contains(string(ignored), file) {
			t.Errorf("git does not ignore %s", strings.TrimSpace(file))
		}
	}
	for _, name := range all {
		text, err := Build(deployed + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nkind: Secret\n") || strings.Contains(string(text), "PRIVATE+KEY") {
			t.Errorf("%s holds a Secret", name)
		}
	}
}

func TestDecodingIsStrict(t *testing.T) {
	text, err := Build(deployed + "/base")
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"a member that the API does not have": {"  replicas: 1\n", "  replicaz: 1\n"},
		"a member in other letters":           {"serviceName:", "servicename:"},
		"a value of another type":             {"  replicas: 1\n", "  replicas: one\n"},
		"a member that is there twice":        {"  replicas: 1\n", "  replicas: 1\n  replicas: 2\n"},
		"a kind that nothing here looks at":   {"kind: PodDisruptionBudget\n", "kind: Pod\n"},
		"a version that does not exist":       {"apiVersion: apps/v1\n", "apiVersion: apps/v7\n"},
	} {
		t.Run(what, func(t *testing.T) {
			changed := strings.Replace(string(text), change[0], change[1], 1)
			if changed == string(text) {
				t.Fatalf("nothing to change: %q", change[0])
			}
			if _, err := Decode([]byte(changed)); err == nil {
				t.Error("it is taken")
			}
		})
	}
}
