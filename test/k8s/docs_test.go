package k8s

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var shell = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n")

// TestTheCommandsOfTheGuideAreWell checks each command of docs/kubernetes.md as far
// as that goes without a cluster: what it names is there.
func TestTheCommandsOfTheGuideAreWell(t *testing.T) {
	commands := 0
	for _, block := range shell.FindAllStringSubmatch(read(t, "docs/kubernetes.md"), -1) {
		for line := range strings.SplitSeq(block[1], "\n") {
			commands++
			if wrong := command(t, strings.TrimSpace(line)); wrong != "" {
				t.Errorf("%s: %s", strings.TrimSpace(line), wrong)
			}
		}
	}
	if commands < 25 {
		t.Errorf("only %d commands are found", commands)
	}
}

func TestPlantedCommandsAreFound(t *testing.T) {
	for line, says := range map[string]string{
		"docker build -f Dockerfile -t ghcr.io/hookrouter/hook-router:0.1.0 .":         "no file",
		"docker push ghcr.io/hookrouter/hook-router:0.2.0":                             "no manifest runs",
		"kubectl apply -k deploy/k8s/overlays/staging":                                 "no kustomization",
		"kubectl -n hooks get pods":                                                    "no namespace hooks",
		"kubectl -n hook-router rollout restart deployment/hook-routers":               "no deployment/hook-routers",
		"kubectl -n hook-router-dev rollout status statefulset/nats":                   "no statefulset/nats",
		"kubectl -n hook-router logs deployment/hook-router -c router":                 "no container router",
		"kubectl -n hook-router port-forward service/nats 8222":                        "no port 8222",
		"kubectl -n hook-router-dev port-forward deployment/hook-router 14317":         "no port 14317",
		"kubectl label namespace agents hook-router/agent=true":                        "no NetworkPolicy",
		"kubectl -n agents create secret generic x --from-file=password=deploy/x.pass": "made by nobody",
		"rm deploy/k8s/secrets/nats-rooter.password":                                   "made by nobody",
		"mv deploy/k8s/secrets/audit.key deploy/k8s/secrets/old":                       "git would take",
		"deploy/k8s/secrets/new":                                                       "no file",
		"hookctl lst":                                                                  "does not exist",
		"hookctl audit bootstrap --chek":                                               "--chek",
		"export NATS_USR=operator":                                                     "NATS_USR",
		`export NATS_PASSWORD="$(cat deploy/k8s/secrets/operator.password)"`:           "made by nobody",
		"helm install hook-router":                                                     "no test knows",
		"umask 022":                                                                    "no test knows",
	} {
		if wrong := command(t, line); !strings.Contains(wrong, says) {
			t.Errorf("%s: found is %q, and nothing of %q", line, wrong, says)
		}
	}
}

// command says what is wrong with a command line, "" for nothing.
func command(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	switch {
	case words[0] == "docker", words[0] == "kind":
		return image(t, words)
	case words[0] == "kubectl":
		return kubectl(t, words[1:])
	case words[0] == "hookctl":
		return hookctl(words[1:])
	case words[0] == "rm", words[0] == "mv":
		if !madeSecret(t, words[1]) {
			return words[1] + " is made by nobody"
		}
		if last := words[len(words)-1]; !ignored(last) {
			return "git would take " + last
		}
		return ""
	case words[0] == "export":
		takes, err := help("hookctl", "handlers")
		if err != nil {
			return err.Error()
		}
		for _, word := range words[1:] {
			if file, ends := strings.CutSuffix(word, `)"`); ends && !madeSecret(t, file) {
				return file + " is made by nobody"
			} else if name, _, sets := strings.Cut(word, "="); sets && !takes.Variables[name] {
				return "hookctl reads no " + name
			}
		}
		return ""
	case line == "umask 077":
		return ""
	case strings.HasPrefix(words[0], "deploy/"):
		if _, err := os.Stat(filepath.Join(root, words[0])); err != nil {
			return "there is no file " + words[0]
		}
		return ""
	}
	return "no test knows this"
}

func image(t *testing.T, words []string) string {
	for i, word := range words {
		if words[i-min(i, 1)] == "-f" {
			if _, err := os.Stat(filepath.Join(root, word)); err != nil {
				return "there is no file " + word
			}
		}
		if strings.HasPrefix(word, "ghcr.io/") {
			for _, name := range all {
				set := load(t, name)
				if !slices.ContainsFunc(set.Workloads(), func(w Workload) bool { return w.Containers()[0].Image == word }) {
					return "no manifest runs " + word
				}
			}
		}
	}
	return ""
}

func hookctl(words []string) string {
	var name []string
	for _, word := range words {
		if regexp.MustCompile(`^[a-z-]+$`).MatchString(word) && !strings.HasPrefix(word, "-") {
			name = append(name, word)
		}
	}
	takes, err := help(append([]string{"hookctl"}, name...)...)
	if err != nil {
		return "it does not exist: " + err.Error()
	}
	for _, word := range words {
		if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") && !takes.Flags[flag] {
			return "it has no flag " + flag
		}
	}
	return ""
}

func kubectl(t *testing.T, words []string) string {
	set := load(t, "overlays/prod")
	if words[0] == "-n" {
		switch words[1] {
		case "hook-router-dev":
			set = load(t, "overlays/dev")
		case set.Namespace, "agents": // that one is the reader's
		default:
			return "there is no namespace " + words[1]
		}
		words = words[2:]
	}
	switch words[0] {
	case "apply":
		if words[1] == "-f" {
			if !strings.Contains(read(t, "docs/kubernetes.md"), "> "+words[2]+"\n") || !ignored(words[2]) {
				return words[2] + " is made by nobody, or git would take it"
			}
			return ""
		}
		if _, err := os.Stat(filepath.Join(root, words[2], "kustomization.yaml")); words[1] != "-k" || err != nil {
			return "there is no kustomization " + words[2]
		}
		return ""
	case "label":
		label, value, _ := strings.Cut(words[len(words)-1], "=")
		for _, p := range set.Policies {
			for _, rule := range p.Spec.Ingress {
				for _, peer := range rule.From {
					if peer.NamespaceSelector != nil && peer.NamespaceSelector.MatchLabels[label] == value {
						return ""
					}
				}
			}
		}
		return "no NetworkPolicy asks for " + label
	case "create":
		_, file, _ := strings.Cut(words[len(words)-1], "=password=")
		if !madeSecret(t, file) {
			return file + " is made by nobody"
		}
		return ""
	case "get":
		return ""
	case "rollout", "logs", "port-forward":
		return objects(set, words)
	}
	return "no test knows this"
}

// objects checks kind/name, containers and ports.
func objects(set *Set, words []string) string {
	var of []Workload
	known := map[string][]string{} // object: its ports
	for _, w := range set.Deployments {
		known["deployment/"+w.Name] = ports(*set.Workload(w.Name))
	}
	for _, w := range set.StatefulSets {
		known["statefulset/"+w.Name] = ports(*set.Workload(w.Name))
	}
	for _, s := range set.Services {
		for _, p := range s.Spec.Ports {
			known["service/"+s.Name] = append(known["service/"+s.Name], fmt.Sprint(p.Port))
		}
	}
	var object string
	for i, word := range words {
		switch {
		case strings.Contains(word, "/"):
			if _, there := known[word]; !there {
				return "there is no " + word
			}
			object = word
			if w := set.Workload(word[strings.Index(word, "/")+1:]); w != nil {
				of = append(of, *w)
			}
		case i > 0 && words[i-1] == "-c" && of[0].Container(word) == nil:
			return "there is no container " + word
		case words[0] == "port-forward" && i > 0 && !slices.Contains(known[object], word):
			return object + " has no port " + word
		}
	}
	return ""
}

func ports(w Workload) (all []string) {
	for _, c := range w.Containers() {
		for _, p := range c.Ports {
			all = append(all, fmt.Sprint(p.ContainerPort))
		}
	}
	return all
}

// madeSecret reports whether deploy/k8s/secrets has this file of a Secret.
func madeSecret(t *testing.T, file string) bool {
	t.Helper()
	name, inside := strings.CutPrefix(file, "deploy/k8s/secrets/")
	kustomization := strings.ReplaceAll(read(t, "deploy/k8s/secrets/kustomization.yaml"), "=", "[")
	return inside && strings.ContainsAny(name, ".") && regexp.MustCompile(`\[`+regexp.QuoteMeta(strings.TrimSuffix(name, ".pub"))+`\]`).MatchString(kustomization)
}

// ignored reports whether git ignores a file of deploy/k8s/secrets.
func ignored(file string) bool {
	text, err := os.ReadFile(filepath.Join(deployed, "secrets", ".gitignore"))
	if err != nil {
		return false
	}
	for pattern := range strings.Lines(string(text)) {
		pattern = strings.TrimPrefix(strings.TrimSpace(pattern), "/")
		if ok, err := filepath.Match(pattern, filepath.Base(file)); ok && err == nil {
			return true
		}
	}
	return false
}

// TestTheGuideNamesEverySecret compares its table with what is made.
func TestTheGuideNamesEverySecret(t *testing.T) {
	text := read(t, "docs/kubernetes.md")
	_, table, _ := strings.Cut(text, "| Secret | key |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, s := range load(t, "base").Secrets {
		for key := range s.Data {
			row := regexp.MustCompile("(?m)^\\|[^|]*`" + s.Name + "`[^|]*\\| `" + regexp.QuoteMeta(key) + "` \\|")
			if !row.MatchString(table) {
				t.Errorf("the Secret %s with its key %s is not in the table", s.Name, key)
			}
		}
	}
}
