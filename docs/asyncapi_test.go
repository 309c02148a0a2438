package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// api is the part of AsyncAPI 3.0 that the description uses; strict decoding
// refuses what is beyond it.
type api struct {
	AsyncAPI           string                    `yaml:"asyncapi"`
	Info               map[string]any            `yaml:"info"`
	DefaultContentType string                    `yaml:"defaultContentType"`
	Servers            map[string]any            `yaml:"servers"`
	Channels           map[string]apiChannel     `yaml:"channels"`
	Operations         map[string]apiOperation   `yaml:"operations"`
	Components         map[string]map[string]any `yaml:"components"`
}

type apiRef struct {
	Ref string `yaml:"$ref"`
}

type apiChannel struct {
	Address     *string           `yaml:"address"`
	Description string            `yaml:"description"`
	Parameters  map[string]any    `yaml:"parameters"`
	Messages    map[string]apiRef `yaml:"messages"`
}

type apiOperation struct {
	Action   string   `yaml:"action"`
	Summary  string   `yaml:"summary"`
	Channel  apiRef   `yaml:"channel"`
	Messages []apiRef `yaml:"messages"`
	Bindings *apiRef  `yaml:"bindings"`
	Reply    *struct {
		Channel  apiRef   `yaml:"channel"`
		Messages []apiRef `yaml:"messages"`
	} `yaml:"reply"`
}

func (o apiOperation) channel() string { return strings.TrimPrefix(o.Channel.Ref, "#/channels/") }

// loadAPI reads the description twice: strictly, and as plain values.
func loadAPI(t *testing.T) (api, map[string]any) {
	t.Helper()
	text := []byte(read(t, "asyncapi.yaml"))
	var doc api
	if err := yaml.UnmarshalWithOptions(text, &doc, yaml.Strict(), yaml.DisallowUnknownField()); err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := yaml.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return doc, plain
}

// resolve follows a reference within the description.
func resolve(doc any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	for step := range strings.SplitSeq(path, "/") {
		m, isMap := doc.(map[string]any)
		if !isMap {
			return nil, false
		}
		if doc, ok = m[step]; !ok {
			return nil, false
		}
		if m, isMap := doc.(map[string]any); isMap && len(m) == 1 && m["$ref"] != nil {
			return nil, false // a reference through a reference is not for every reader
		}
	}
	return doc, true
}

func TestReferencesOfTheAPIResolve(t *testing.T) {
	_, plain := loadAPI(t)
	used := map[string]bool{}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				channelMessage := strings.HasPrefix(ref, "#/channels/") && strings.Contains(ref, "/messages/")
				target := ref
				if channelMessage { // such a reference names a reference
					target, _, _ = strings.Cut(ref, "/messages/")
				}
				got, ok := resolve(plain, target)
				if !ok {
					t.Errorf("%s: %s is not there", at, ref)
				}
				if channelMessage {
					_, name, _ := strings.Cut(ref, "/messages/")
					if m, _ := got.(map[string]any)["messages"].(map[string]any); m[name] == nil {
						t.Errorf("%s: %s is not there", at, ref)
					}
				}
			}
			for k, inner := range v {
				walk(inner, at+"/"+k)
			}
		case []any:
			for i, inner := range v {
				walk(inner, fmt.Sprintf("%s/%d", at, i))
			}
		}
	}
	walk(plain, "")
	for kind, all := range plain["components"].(map[string]any) {
		for name := range all.(map[string]any) {
			if !used["#/components/"+kind+"/"+name] {
				t.Errorf("components/%s/%s is used nowhere", kind, name)
			}
		}
	}
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// subject is the NATS subject of an address: an id is one token, other
// parameters are one or more.
func subject(address string) string {
	return parameter.ReplaceAllStringFunc(address, func(p string) string {
		if p == "{id}" || p == "{segment}" {
			return "*"
		}
		return ">"
	})
}

// TestEverySubjectOfTheRouterIsInTheAPI compares the description with what a
// router says it serves, and with what it has really subscribed to.
func TestEverySubjectOfTheRouterIsInTheAPI(t *testing.T) {
	doc, plain := loadAPI(t)
	if doc.AsyncAPI != "3.0.0" {
		t.Errorf("the version is %q", doc.AsyncAPI)
	}
	described, heard := map[string]string{}, map[string]bool{}
	for name, op := range doc.Operations {
		channel, ok := doc.Channels[op.channel()]
		if !ok || channel.Address == nil {
			t.Errorf("operation %s has no channel with an address", name)
			continue
		}
		for _, m := range parameter.FindAllStringSubmatch(*channel.Address, -1) {
			if channel.Parameters[m[1]] == nil {
				t.Errorf("channel %s does not describe its parameter %s", op.channel(), m[1])
			}
		}
		if op.Action != "receive" {
			continue
		}
		heard[subject(*channel.Address)] = true
		if op.Bindings == nil {
			continue
		}
		binding, _ := resolve(plain, op.Bindings.Ref)
		queue, _ := binding.(map[string]any)["nats"].(map[string]any)["queue"].(string)
		described[subject(*channel.Address)] = queue
	}

	s := natstest.Server(t)
	key, err := nkeys.CreateServer()
	if err != nil {
		t.Fatal(err)
	}
	routertest.Start(t, s, router.Options{ServerKey: key}, natsx.Options{Name: "the router"})
	var info micro.Info
	ask(t, natstest.Conn(t, s), "$SRV.INFO.hook-router", "", &info)
	served, names := map[string]string{}, []string{}
	for _, e := range info.Endpoints {
		served[e.Subject] = e.QueueGroup
		names = append(names, e.Name)
	}
	if row := "| endpoints | " + code(names, ", ") + " |"; !strings.Contains(read(t, "protocol.md"), row) {
		t.Errorf("protocol.md does not list the router's endpoints: %s", row)
	}
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("what the router serves (-) and what the description says (+):\n%s", diff)
	}

	listens := map[string]bool{}
	conns, err := s.Connz(&server.ConnzOptions{Subscriptions: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conns.Conns {
		if c.Name != "the router" {
			continue
		}
		for _, sub := range c.Subs {
			if strings.HasPrefix(sub, "$SRV.") {
				sub = "$SRV.>"
			}
			if !strings.HasPrefix(sub, "_INBOX.") && !heard[sub] {
				t.Errorf("the router listens on %s, which is not described", sub)
			}
			listens[sub] = true
		}
	}
	for sub := range heard {
		if !listens[sub] {
			t.Errorf("the router does not listen on %s", sub)
		}
	}
}

// TestMessagesAreAsDescribed plays one of each and compares what is on the wire
// with the schemas.
func TestMessagesAreAsDescribed(t *testing.T) {
	t.Parallel()
	_, plain := loadAPI(t)
	s := natstest.Server(t)
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	routertest.Start(t, s, router.Options{Audit: auditlog.Options{Key: key}})
	nc := natstest.Conn(t, s)
	watched := map[string]chan *nats.Msg{}
	for _, sub := range []string{
		"hooks.event.>", "hooks.result.>", "hooks.router.report", "hooks.audit.w.>", "hooks.audit.decision.*", "hooks.checkpoint.*",
		"hooks.call.guard", "hooks.call.giver", "hooks.call.asker", "hooks.call.linter", "hooks.call.second",
	} {
		ch := make(chan *nats.Msg, 64)
		watched[sub] = ch
		answer := map[string]string{
			"hooks.call.guard": `{"action":"deny","reason":"no"}`, "hooks.call.giver": `[1,"two"]`,
			"hooks.call.asker": `{"action":"ask_user","approval_options":["Allow always","Deny"],"reason":"it is production",` +
				`"data":{"session_id":"s1","tool_name":"Bash","novel":true},"user_message":"look","suppress_output":true}`,
			"hooks.call.linter": `{"action":"inject_context","context_injection":"fix\u0007 this","ephemeral":true,"append_to_last_tool_result":true}`,
			"hooks.call.second": `{"action":"inject_context","context_injection":"` + strings.Repeat("x", 11_000) + `"}`,
		}[sub]
		if _, err := nc.Subscribe(sub, func(m *nats.Msg) {
			if answer != "" {
				_ = m.Respond([]byte(answer))
			}
			ch <- m
		}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(message string, m *nats.Msg) {
		t.Helper()
		def, ok := resolve(plain, "#/components/messages/"+message)
		if !ok {
			t.Fatalf("there is no message %s", message)
		}
		if headers := def.(map[string]any)["headers"]; headers != nil {
			values := map[string]any{}
			for k, v := range m.Header {
				values[k] = v[0]
			}
			for _, e := range conform(plain, headers, values, "header") {
				t.Errorf("%s: %s", message, e)
			}
		}
		if payload := def.(map[string]any)["payload"]; payload != nil {
			var v any
			if err := json.Unmarshal(m.Data, &v); err != nil {
				t.Errorf("%s: %v: %s", message, err, m.Data)
				return
			}
			for _, e := range conform(plain, payload, v, "body") {
				t.Errorf("%s: %s: %s", message, e, m.Data)
			}
		}
	}
	question := "none"
	for _, step := range []struct{ subject, body, message string }{
		{"hooks.register.guard", `{"events":["tool:pre","*"],"on_failure":"deny","version":"1.2.0","match":"has(data.tool_name)"}`, "registered"},
		{"hooks.register.absent", `{"events":["tool:*"],"priority":-1,"session_id":"s1","protocol":2,"novelty":1}`, "registered"},
		{"hooks.register.giver", `{"channels":["a.b"]}`, "registered"},
		{"hooks.registry", ``, "registrationList"},
		{"hooks.explain.tool.pre", `{"session_id":"s1","tool_name":"Bash"}`, "explanation"},
		{"hooks.handlers", ``, "handlerList"},
		{"hooks.handlers.tool.*", ``, "handlerList"},
		{"hooks.emit.tool.pre", `{"session_id":"s1","tool_name":"Bash"}`, "hookResult"},
		{"hooks.collect.tool.pre", `{"session_id":"s1","tool_name":"Bash"}`, "dataArray"},
		{"hooks.contributions.a.b", ``, "contributionArray"},
		{"hooks.register.picky", `{"events":["tool:*"],"priority":-2,"match":"data.tool_name == 'Write'"}`, "registered"},
		{"hooks.emit.tool.pre", `{"session_id":"s1","tool_name":"Bash"}`, "hookResult"},
		{"hooks.unregister.picky", `{}`, "unregistered"},
		{"hooks.emit.tool.pre", `[]`, "refusal"},
		{"hooks.register.asker", `{"events":["deploy:start"],"priority":-1}`, "registered"},
		{"hooks.register.linter", `{"events":["tool:post"],"priority":-2}`, "registered"},
		{"hooks.register.second", `{"events":["tool:post"],"priority":-1}`, "registered"},
		{"hooks.unregister.guard", `{}`, "unregistered"},
		{"hooks.session.turn", `{"session_id":"s1"}`, "done"},
		{"hooks.execute.tool.post", `{"session_id":"s1"}`, "verdict"},
		{"hooks.execute.deploy.start", `{"session_id":"s1","tool_name":"Bash"}`, "verdict"},
		{"hooks.approvals", `{"session_id":"s1","limit":1}`, "approvalList"},
		{"hooks.approval.<id>", ``, "approvalRecord"},
		{"hooks.reveal.<id>", ``, "refusal"},
		{"hooks.approve.<id>", `{"option":"perhaps"}`, "refusal"},
		{"hooks.approve.<id>", `{"option":"allow always","by":"ann","note":"fine"}`, "accepted"},
		{"hooks.approve.<id>", `{"option":"Deny"}`, "refusal"},
		{"hooks.approve.unknown", `{"option":"Deny"}`, "refusal"},
		{"hooks.approval.<id>", ``, "approvalRecord"},
		{"hooks.execute.deploy.start", `{"session_id":"s1","tool_name":"Bash"}`, "verdict"},
		{"hooks.session.show", `{"session_id":"s1"}`, "sessionState"},
		{"hooks.session.revoke", `{"session_id":"s1","hook":"asker"}`, "revoked"},
		{"hooks.registry.accept", ``, "registryAccepted"},
		{"hooks.freeze", `{"session_id":"s1","reason":"runs wild"}`, "froze"},
		{"hooks.execute.tool.post", `{"session_id":"s1"}`, "verdict"},
		{"hooks.frozen", ``, "freezes"},
		{"hooks.freeze", `{"reason":"runs wild"}`, "refusal"},
		{"hooks.thaw", `{"session_id":"s1"}`, "thawed"},
		{"hooks.guard.pin", `{"id":"gate","events":["gate:pass"],"match":"has(data.x)"}`, "pin"},
		{"hooks.guard.pin", `{"id":"gate","events":["gate:open"],"match":"has(data.x)"}`, "refusal"},
		{"hooks.guards", ``, "pins"},
		{"hooks.execute.gate.pass", `{"session_id":"s1"}`, "refusal"},
		{"hooks.guard.unpin", `{"id":"gate"}`, "unpinned"},
		{"hooks.hook.disable", `{"id":"asker","reason":"too loud"}`, "disabled"},
		{"hooks.registry", ``, "registrationList"},
		{"hooks.hook.enable", `{"id":"asker"}`, "enabled"},
		{"hooks.hook.disable", `{"id":"a.b"}`, "refusal"},
		{"hooks.session.close", `{"session_id":"s9","agent":"coder"}`, "refusal"},
		{"hooks.session.close", `{"session_id":"s9","agent":"nats agent/coder"}`, "closed"},
		{"hooks.session.end", `{"session_id":"s1"}`, "done"},
		{"hooks.session.show", `{"session_id":"s1"}`, "sessionState"},
		{"hooks.unregister.giver", `{}`, "unregistered"},
		{"$SRV.PING.hook-router", ``, "serviceAnswer"},
		{"$SRV.INFO.hook-router", ``, "serviceAnswer"},
		{"$SRV.STATS.hook-router", ``, "serviceAnswer"},
	} {
		m, err := nc.RequestMsg(&nats.Msg{
			Subject: strings.ReplaceAll(step.subject, "<id>", question), Header: nats.Header{"Hook-Wait-Ms": {"0"}}, Data: []byte(step.body),
		}, 10*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", step.subject, err)
		}
		if code := m.Header.Get("Nats-Service-Error-Code"); (code != "") != (step.message == "refusal") {
			t.Errorf("%s %s: %v", step.subject, step.body, m.Header)
			continue
		}
		check(step.message, m)
		if v, err := verdict.Parse(m.Data); step.message == "verdict" && err == nil && v.Action == verdict.Pending {
			question = v.Approval.ID
		}
	}
	wanted := map[string]string{ // the router's own events, and the schemas of their data
		"approval:required": "ApprovalRequest", "approval:granted": "Record", "user:notification": "EventData",
	}
	for len(wanted) > 0 {
		select {
		case m := <-watched["hooks.event.>"]:
			check("observedEvent", m)
			name := m.Header.Get("ce-type")
			schema := wanted[name]
			delete(wanted, name)
			var data any
			if err := json.Unmarshal(m.Data, &data); err != nil {
				t.Fatal(err)
			}
			if schema != "" {
				for _, e := range conform(plain, map[string]any{"$ref": "#/components/schemas/" + schema}, data, name) {
					t.Errorf("%s: %s", e, m.Data)
				}
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the router did not tell of %v", wanted)
		}
	}
	for sub, message := range map[string]string{
		"hooks.result.>": "chainResult", "hooks.router.report": "routerReport",
		"hooks.call.guard": "call", "hooks.call.giver": "contributionCall", "hooks.audit.decision.*": "decision", "hooks.checkpoint.*": "checkpoint",
	} {
		select {
		case m := <-watched[sub]:
			check(message, m)
		case <-time.After(10 * time.Second):
			t.Errorf("nothing came on %s", sub)
		}
	}
	checkRecords(t, plain, watched["hooks.audit.w.>"], audit.RegistrationKind, audit.HookResult, audit.HookError, audit.HookSkipped,
		audit.InjectionKind, audit.DisplayKind, audit.ApprovalRequested, audit.ApprovalRevoked, audit.ChainResult)
}

// TestSchemasNameTheFieldsOfTheCode compares the schemas with the Go types.
func TestSchemasNameTheFieldsOfTheCode(t *testing.T) {
	t.Parallel()
	_, plain := loadAPI(t)
	properties := func(path ...string) []string {
		at, _ := resolve(plain, "#/components/schemas/"+strings.Join(path, "/"))
		return slices.Sorted(maps.Keys(at.(map[string]any)["properties"].(map[string]any)))
	}
	seconds := 1.0
	full := chain.Result{
		Action: chain.AskUser, Data: json.RawMessage("{}"), Reason: "x", ContextInjection: "x", ContextInjectionRole: "user",
		Ephemeral: true, AppendToLastToolResult: true, ApprovalPrompt: "x", ApprovalOptions: []string{"x"}, ApprovalTimeout: &seconds,
		ApprovalDefault: "allow", ApprovalKey: "x", SuppressOutput: true, UserMessage: "x", UserMessageLevel: "error", UserMessageSource: "x",
		Labels: []string{"a"}, Unlabel: []string{"b"}, ContextInjections: []chain.ContextInjection{{}},
	}
	var members map[string]any
	if err := json.Unmarshal(full.Append(nil), &members); err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2][]string{
		"Registration":    {properties("Registration"), fields(chain.Registration{})},
		"ApprovalRequest": {properties("ApprovalRequest"), fields(approval.Request{})},
		"Record":          {properties("Record"), fields(approval.Record{})},
		"Answer":          {properties("Answer"), fields(approval.Answer{})},
		"Filter":          {properties("ApprovalFilter"), fields(approval.Filter{})},
		"Message":         {properties("Message"), fields(verdict.Message{})},
		"Metadata":        {properties("Message", "properties", "metadata"), fields(verdict.Metadata{})},
		"Display":         {properties("Verdict", "properties", "display", "items"), fields(verdict.Display{})},
		"Warning":         {properties("Verdict", "properties", "warnings", "items"), fields(verdict.Warning{})},
		"Approval":        {properties("VerdictApproval"), fields(verdict.Approval{})},
		"Injection":       {properties("ContextInjection"), fields(chain.ContextInjection{})},
		"SessionState":    {properties("SessionState"), fields(approver.SessionInfo{})},
		"Listing":         {properties("Listing"), fields(agent.Listing{})},
		"Explanation":     {properties("Explanation", "properties", "hooks", "items"), fields(agent.Explanation{})},
		"HookResult":      {properties("HookResult"), slices.Sorted(maps.Keys(members))},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: the code (-) and the description (+):\n%s", name, diff)
		}
	}
}

// fields are the JSON names of a struct, those of embedded ones included.
func fields(v any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func ask(t *testing.T, nc *nats.Conn, subject, body string, into any) *nats.Msg {
	t.Helper()
	m, err := nc.Request(subject, []byte(body), 10*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	if into != nil {
		if err := json.Unmarshal(m.Data, into); err != nil {
			t.Fatalf("%s: %v: %s", subject, err, m.Data)
		}
	}
	return m
}

// conform reports where a value is not as the schema says. It knows the part of
// JSON Schema that the description uses.
func conform(doc, schema, v any, at string) (wrong []string) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		target, _ := resolve(doc, ref)
		return conform(doc, target, v, at)
	}
	for _, part := range list(s["allOf"]) {
		wrong = append(wrong, conform(doc, part, v, at)...)
	}
	if types := s["type"]; types != nil && !slices.Contains(append(list(types), types), any(typeOf(v))) {
		if typeOf(v) != "integer" || types != "number" {
			return append(wrong, fmt.Sprintf("%s is %v, not of type %v", at, v, types))
		}
	}
	if enum := list(s["enum"]); enum != nil && !slices.Contains(enum, v) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, not one of %v", at, v, enum))
	}
	if want, ok := s["const"]; ok && fmt.Sprint(want) != fmt.Sprint(v) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, not %v", at, v, want))
	}
	if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(fmt.Sprint(v)) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, not like %s", at, v, p))
	}
	for i, item := range list(v) {
		if s["items"] != nil {
			wrong = append(wrong, conform(doc, s["items"], item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	members, _ := v.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range list(s["required"]) {
		if _, ok := members[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s has no %v", at, name))
		}
	}
	for name, member := range members {
		switch inner, known := properties[name]; {
		case known:
			wrong = append(wrong, conform(doc, inner, member, at+"."+name)...)
		case s["additionalProperties"] == false:
			wrong = append(wrong, fmt.Sprintf("%s.%s is not described", at, name))
		case s["additionalProperties"] != nil:
			wrong = append(wrong, conform(doc, s["additionalProperties"], member, at+"."+name)...)
		}
	}
	return wrong
}

func list(v any) []any { l, _ := v.([]any); return l }

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}
