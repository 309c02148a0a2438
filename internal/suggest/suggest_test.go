package suggest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/suggest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// asked is an approval request to add to a log.
type asked struct {
	command, session, by string // by is who decided; empty means ann
	deny                 bool
	cwd                  string // empty means /repo
	labels               []string
	emitter              string // empty means an agent
	hook, prompt         string
	redacted             bool
	failed               bool
	several              []string // people who allowed it together
	merged               bool     // another hook also asked
	data                 string   // replaces all of the above
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// logOf returns a log of these requests.
func logOf(t testing.TB, list ...asked) *suggest.Log {
	t.Helper()
	var l suggest.Log
	put := func(r audit.Record) {
		r.Time, r.Event = began, "tool:pre"
		d := query.Decode([]byte(strings.TrimSuffix(string(r.Append(nil)), "\n")))
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		l.Add(&d)
	}
	for i, a := range list {
		or := func(text, other string) string {
			if text == "" {
				return other
			}
			return text
		}
		id, session := fmt.Sprintf("q%d", i), or(a.session, fmt.Sprintf("s%d", i%2))
		data := a.data
		if data == "" {
			raw, err := json.Marshal(map[string]any{"tool_name": "Bash", "cwd": or(a.cwd, "/repo"), "tool_input": map[string]string{"command": a.command}})
			if err != nil {
				t.Fatal(err)
			}
			data = string(raw)
		}
		emitter := or(a.emitter, "nats agent/coder")
		if emitter == "-" {
			emitter = ""
		}
		base := audit.Record{ChainID: "c" + id, Session: session, EventID: "e" + id}
		r := base
		r.Kind, r.Hook, r.Action = audit.ApprovalRequested, "command-guard", "requested"
		if a.merged {
			r.Hook = "command-guard+path-guard"
		}
		r.Detail = audit.ApprovalRequest{ApprovalID: id, HookName: or(a.hook, "Commands"), Prompt: or(a.prompt, "Run this command?\n\n"+a.command), Options: []string{"Allow", "Deny"}}
		put(r)
		r = base
		r.Kind, r.Action = audit.ChainResult, "pending"
		r.Detail = audit.Chain{Emitter: emitter, ApprovalID: id, Labels: a.labels, In: &audit.Data{SHA256: "x", Value: json.RawMessage(data), Redacted: a.redacted}}
		put(r)
		if a.by == "-" {
			continue
		}
		r = base
		r.Kind, r.Action = audit.ApprovalDecided, "allow"
		r.Detail = audit.Decision{ApprovalID: id, Granted: !a.deny, DecidedBy: or(a.by, "nats approver/ann"), TimedOut: a.by == "timeout"}
		if a.failed {
			r.Detail = audit.Decision{ApprovalID: id, Granted: true, DecidedBy: "nats approver/ann", Error: "the approval system is down"}
		}
		if len(a.several) > 0 {
			line := strings.Replace(string(r.Append(nil)), `"granted"`, `"approved_by":["ann","bob"],"granted"`, 1)
			d := query.Decode([]byte(strings.TrimSuffix(line, "\n")))
			l.Add(&d)
			continue
		}
		put(r)
	}
	return &l
}

// times repeats a request, each time in its own session.
func times(n int, a asked) []asked {
	list := make([]asked, n)
	for i := range list {
		list[i] = a
		if a.session == "" {
			list[i].session = fmt.Sprintf("s%d", i)
		}
	}
	return list
}

// judge is shared by all tests; it has no state.
var judge = sync.OnceValues(suggest.NewJudge)

func suggestOf(t testing.TB, o suggest.Options, list ...asked) suggest.Report {
	t.Helper()
	j, err := judge()
	if err != nil {
		t.Fatal(err)
	}
	if o.Min == 0 {
		o.Min, o.Sessions = 3, 2
	}
	r, err := suggest.Suggest(t.Context(), logOf(t, list...), j, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func commands(r suggest.Report) (list []string) {
	for _, s := range r.Rules {
		list = append(list, s.Rule.Command)
	}
	return list
}

func commandsOf(list ...string) (all []asked) {
	for _, command := range list {
		all = append(all, asked{command: command})
	}
	return all
}

func join(lists ...[]asked) (all []asked) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// Commands that people allowed often enough become a rule for those commands only.
func TestWhatIsSuggested(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		list []asked
		want string
	}{
		"the same command":              {times(3, asked{command: "acme status --web"}), "acme status --web"},
		"too seldom":                    {times(2, asked{command: "acme status"}), ""},
		"one session":                   {times(9, asked{command: "acme status", session: "s"}), ""},
		"files of a directory":          {commandsOf("acme check conf/a.yaml", "acme check conf/b.yaml", "acme check conf/c.yaml"), "acme check conf/*.yaml"},
		"files below the directory":     {commandsOf("acme check /repo/conf/a.yaml", "acme check /repo/conf/b.yaml", "acme check /repo/conf/c.yaml"), "acme check /repo/conf/*.yaml"},
		"too few files":                 {commandsOf("acme check conf/a.yaml", "acme check conf/b.yaml"), ""},
		"files elsewhere":               {commandsOf("acme check /srv/a.yaml", "acme check /srv/b.yaml", "acme check /srv/c.yaml"), ""},
		"files above":                   {commandsOf("acme check ../a.yaml", "acme check ../b.yaml", "acme check ../c.yaml"), ""},
		"hidden directories":            {commandsOf("acme check .x/a.yaml", "acme check .x/b.yaml", "acme check .x/c.yaml"), ""},
		"other words":                   {commandsOf("acme check web", "acme check db", "acme check mail"), ""},
		"options":                       {commandsOf("acme --in=conf/a.yaml", "acme --in=conf/b.yaml", "acme --in=conf/c.yaml"), ""},
		"programs":                      {commandsOf("tools/a.x go", "tools/b.x go", "tools/c.x go"), ""},
		"no endings":                    {commandsOf("acme check conf/a", "acme check conf/b", "acme check conf/c"), ""},
		"another question":              {join(times(2, asked{command: "acme status"}), times(2, asked{command: "acme status", prompt: "The budget is spent. Run acme status?"})), ""},
		"another hook":                  {join(times(2, asked{command: "acme status"}), times(2, asked{command: "acme status", hook: "Budget"})), ""},
		"another directory":             {join(times(2, asked{command: "acme status"}), times(2, asked{command: "acme status", cwd: "/srv"})), ""},
		"another agent":                 {join(times(2, asked{command: "acme status"}), times(2, asked{command: "acme status", emitter: "nats agent/other"})), ""},
		"a person denied it once":       {join(times(9, asked{command: "acme status"}), times(1, asked{command: "acme status", deny: true})), ""},
		"somebody denied it, elsewhere": {join(times(9, asked{command: "acme status"}), times(1, asked{command: "acme status", deny: true, cwd: "/srv", hook: "x", labels: []string{"a"}})), ""},
		"a file of them was denied":     {join(commandsOf("acme check conf/a.yaml", "acme check conf/b.yaml", "acme check conf/c.yaml"), times(1, asked{command: "acme check conf/z.yaml", deny: true})), ""},
		"a masked file was denied":      {join(commandsOf("acme check conf/a.yaml", "acme check conf/b.yaml", "acme check conf/c.yaml"), times(1, asked{command: "acme check conf/[REDACTED:x].yaml", redacted: true, deny: true})), ""},
		"the approval system failed":    {times(9, asked{command: "acme status", failed: true}), ""},
		"a secret that is not shown":    {times(9, asked{command: "acme status ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", prompt: "Run it?"}), ""},
		"nobody answered it once":       {join(times(3, asked{command: "acme status"}), times(1, asked{command: "acme status", deny: true, by: "timeout"})), "acme status"},
		"sessions with labels":          {times(9, asked{command: "acme status", labels: []string{"secret-read"}}), ""},
		"masked":                        {times(9, asked{command: "acme status [REDACTED:x]", redacted: true}), ""},
		"masked elsewhere":              {times(9, asked{command: "acme status", redacted: true}), ""},
		"a secret in the log":           {times(9, asked{command: "acme status ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"}), ""},
		"no directory":                  {times(9, asked{command: "acme status", data: `{"tool_name":"Bash","tool_input":{"command":"acme status"}}`}), ""},
		"without a sandbox":             {times(9, asked{command: "acme status", data: `{"tool_name":"Bash","cwd":"/repo","tool_input":{"command":"acme status","dangerouslyDisableSandbox":true}}`}), ""},
		"several people":                {times(9, asked{command: "acme status", several: []string{"ann", "bob"}}), ""},
		"several hooks":                 {times(9, asked{command: "acme status", merged: true, hook: "Commands and Paths"}), ""},
		"a question that hides":         {times(9, asked{command: "acme status", prompt: "\u202eacme status"}), ""},
		"a question with a *":           {times(9, asked{command: "acme status", prompt: "* acme status"}), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			r := suggestOf(t, suggest.Options{}, c.list...)
			if got := strings.Join(commands(r), ", "); got != c.want {
				t.Errorf("suggested %q; want %q; refused %+v", got, c.want, r.Refused)
			}
			if r.Contradicts > 0 {
				t.Errorf("it contradicts %d denials", r.Contradicts)
			}
		})
	}
}

// The agent is the adversary: requests that it plants among harmless ones, or has others answer,
// never become a rule.
func TestBait(t *testing.T) {
	t.Parallel()
	many := func(command string) []asked { return times(50, asked{command: command}) }
	for sentence, list := range map[string][]asked{
		"one push among many of status":  join(many("git status"), times(1, asked{command: "git push --force"})),
		"a key among files":              join(commandsOf("cat docs/a.txt", "cat docs/b.txt", "cat docs/c.txt"), times(1, asked{command: "cat /home/ann/.ssh/id_rsa"}), times(1, asked{command: "cat docs/../../.ssh/id_rsa"})),
		"pushes":                         many("git push --force"),
		"keys":                           many("cat /home/ann/.ssh/id_rsa"),
		"keys beside":                    many("cat ../.ssh/id_rsa"),
		"settings that hold secrets":     commandsOf("acme check conf/a.tfstate", "acme check conf/b.tfstate", "acme check conf/c.tfstate"),
		"keys of a directory":            commandsOf("acme check tls/a.key", "acme check tls/b.key", "acme check tls/c.key"),
		"a directory of secrets":         commandsOf("acme check conf/secrets/a.yaml", "acme check conf/secrets/b.yaml", "acme check conf/secrets/c.yaml"),
		"removal":                        many("rm -rf build"),
		"removal by another name":        many("acme delete-cluster web"),
		"removal by option":              many("acme status --purge"),
		"no question asked":              many("acme status -y"),
		"a second command":               many("acme status; rm -rf /"),
		"a pipe":                         many("acme status | sh"),
		"a line break":                   many("acme status\nrm -rf /"),
		"a command within":               many("acme status $(id)"),
		"another within":                 many("acme status `id`"),
		"a glob":                         many("acme status *"),
		"quotes":                         many("acme 'status'"),
		"variables":                      many("A=b acme status"),
		"home":                           many("acme check ~/x"),
		"a script":                       many("bash build/check.sh"),
		"a program of the project":       many("./check"),
		"a target of the project":        many("make lint"),
		"an interpreter":                 many("python3 check.py"),
		"another machine":                many("curl https://example.com/x"),
		"another machine, by name":       many("acme get https://example.com/x"),
		"another machine, of any kind":   many("acme get store:///x"),
		"ssh":                            many("scp a.txt web:"),
		"a shell on another machine":     many("kubectl get pods"),
		"root":                           many("sudo acme status"),
		"somebody elsewhere":             many("acme copy ann@web"),
		"the control plane":              many("hookctl approvals list"),
		"the bus":                        many("nats sub x"),
		"what prints secrets":            many("printenv"),
		"files of variables":             many("cat .env"),
		"a letter that looks like it":    many("аcme status"),
		"answers of the agent":           times(50, asked{command: "acme status", by: "nats agent/coder"}),
		"answers of another agent":       times(50, asked{command: "acme status", by: "nats agent/other"}),
		"answers of the sender":          times(50, asked{command: "acme status", by: "nats admin/root", emitter: "nats admin/root"}),
		"answers of nobody":              times(50, asked{command: "acme status", by: approval.Unauthenticated}),
		"answers of a rule":              times(50, asked{command: "acme status", by: "rule broad"}),
		"what was let pass in time":      times(50, asked{command: "acme status", by: "timeout"}),
		"what nobody answered":           times(50, asked{command: "acme status", by: "-"}),
		"a tool that is named otherwise": times(50, asked{command: "acme status", data: `{"tool_name":"launch","cwd":"/repo","tool_input":{"command":"acme status"}}`}),
		"several calls":                  times(50, asked{data: `{"tool_name":"batch","cwd":"/repo","tool_input":{"tool_calls":[{"tool":"Bash","parameters":{"command":"acme status"}},{"tool":"Bash","parameters":{"command":"rm -rf /"}}]}}`}),
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			for _, unproven := range []bool{false, true} {
				for _, c := range commands(suggestOf(t, suggest.Options{Min: 3, Sessions: 2, Unproven: unproven}, list...)) {
					if c != "git status" && c != "cat docs/*.txt" {
						t.Errorf("suggested %q, unproven %v", c, unproven)
					}
				}
			}
		})
	}
}

// If no identity is ever proven, answers count only when the operator says so.
func TestAnswersOfNobody(t *testing.T) {
	t.Parallel()
	list := times(4, asked{command: "acme status", by: approval.Unauthenticated, emitter: "-"})
	if r := suggestOf(t, suggest.Options{}, list...); len(r.Rules) > 0 || r.Unproven != 4 {
		t.Errorf("%+v", r)
	}
	if r := suggestOf(t, suggest.Options{Min: 3, Sessions: 2, Unproven: true}, list...); len(r.Rules) != 1 || r.Saved != 4 || r.Rules[0].Rule.Emitter != nil {
		t.Errorf("%+v", r)
	}
}

// A rule is written with its conditions and tests, after the existing content of a file.
func TestRulesAreAdded(t *testing.T) {
	t.Parallel()
	r := suggestOf(t, suggest.Options{}, commandsOf("acme check conf/a.yaml", "acme check conf/b.yaml", "acme check conf/c.yaml")...)
	if len(r.Rules) != 1 {
		t.Fatalf("%+v", r)
	}
	for _, file := range []string{
		"", "# none yet\n", "rules:\n  # mine\n  - {decision: deny, tool: Write}", "rules:\n- decision: deny\n  tool: Write\n", "rules:\n    - decision: deny\n      tool: Write # last\n\n",
	} {
		text, err := suggest.Append("rules.yaml", []byte(file), r.Rules)
		if err != nil || !strings.HasPrefix(string(text), file) {
			t.Errorf("%q: %v\n%s", file, err, text)
			continue
		}
		rules, err := approval.ParseRules("rules.yaml", text)
		tests, err2 := approval.ParseRuleTests("rules.yaml", text)
		if err != nil || err2 != nil || len(tests) < 10 {
			t.Fatalf("%v, %v, %d tests", err, err2, len(tests))
		}
		for _, test := range tests {
			if err := test.Check(rules); err != nil {
				t.Errorf("line %d: %v", test.Line, err)
			}
		}
		got := rules[len(rules)-1]
		if got.Mode != approval.Shadow || got.Emitter.ID != "nats agent/coder" || got.Labels.None[0] != "*" || got.Cwd != "/repo" || got.Prompt != "Run this command?\n\n*" {
			t.Errorf("%+v", got)
		}
	}
	for _, file := range []string{"rules: []\n", "{\"h:*\": allow}\n", "rules: [{decision: deny, tool: Write}]\n", "rules:\n  - decision: maybe\n"} {
		if text, err := suggest.Append("rules.yaml", []byte(file), r.Rules); err == nil {
			t.Errorf("%q became\n%s", file, text)
		}
	}
	again := suggestOf(t, suggest.Options{Min: 3, Sessions: 2, Known: approval.Rules{r.Rules[0].Rule}}, commandsOf("acme check conf/a.yaml", "acme check conf/b.yaml", "acme check conf/c.yaml")...)
	if len(again.Rules) > 0 || len(again.Refused) > 0 {
		t.Errorf("suggested again: %+v", again)
	}
}
