package suggest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/examples/policies"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/suggest"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// FuzzSuggest checks that a suggested rule never allows what the guards of the starter policy deny,
// nor another program, whatever people allowed and whatever is asked later.
func FuzzSuggest(f *testing.F) {
	for _, seed := range [][5]string{
		{"acme check", "conf/a.yaml", "conf/b.yaml", "conf/c.yaml", "acme check conf/credentials.yaml"},
		{"cat", "docs/a.txt", "docs/b.txt", "docs/c.txt", "cat docs/../../.ssh/id_rsa"},
		{"cat", "tls/a.key", "tls/b.key", "tls/c.key", "cat tls/server.key"},
		{"acme", "a.git/hooks/a.x", "a.git/hooks/b.x", "a.git/hooks/c.x", "acme a.git/hooks/d.x"},
		{"git status", "", "", "", "git push --force"},
		{"acme", "/repo/d/a.x", "/repo/d/b.x", "/repo/d/c.x", "acme /repo/d/$(id).x"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	endings := []string{"yaml", "key", "json", "php", "conf", "pem", "txt"}
	if testkit.CurrentTier(f) == testkit.Smoke {
		endings = endings[:2]
	}
	for _, ending := range endings {
		for name := range strings.FieldsSeq("credentials secrets service_account wp-config appsettings.production appsettings.local hook-worker nats-server my-key server privkey ca master id_rsa coding-agent worker audit") {
			f.Add("cat", "conf/a."+ending, "conf/b."+ending, "conf/c."+ending, name)
			f.Add("acme check", "conf/a."+ending, "conf/b."+ending, "conf/c."+ending, name)
		}
	}
	options := basic.Kinds(kind.Worker{})
	options.FileOnly = true
	file, err := workerfile.Parse("coding-agent.yaml", policies.CodingAgent, options)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(file.Close)
	guards := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{AsIfEnforced: true})
	judge, err := judge()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, program, a, b, c, probe string) {
		var list []asked
		for _, word := range []string{a, b, c} {
			list = append(list, asked{command: program + " " + word}, asked{command: program + " " + word}, asked{command: program + " " + word})
		}
		r, err := suggest.Suggest(t.Context(), logOf(t, list...), judge, suggest.Options{Min: 3, Sessions: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Rules {
			for _, command := range []string{probe, program + " " + a, program + " " + probe, strings.Replace(s.Rule.Command, "*", probe, 1)} {
				data, err := json.Marshal(map[string]any{"tool_name": "Bash", "cwd": "/repo", "tool_input": map[string]string{"command": command}})
				if err != nil {
					t.Fatal(err)
				}
				facts := approval.Facts{Hook: s.Rule.Hook, Tool: "Bash", Prompt: "Run this command?\n\n" + command, Emitter: "nats agent/coder", Role: "agent"}
				if _, found := (approval.Rules{s.Rule}).Enforced().Match(facts.WithCall(events.ToolPre, data)); !found {
					continue
				}
				out, err := guards.Decide(t.Context(), events.Event{ID: "e", Name: events.ToolPre, Data: data})
				if err != nil || out.Action == chain.Deny {
					t.Errorf("%s allows %q, of which the starter policy says %s %s %v", s.Rule, command, out.Action, out.Reason, err)
				}
			}
		}
	})
}
