package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

func ExampleDecide() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := approval.Request{
		Prompt: "Deploy to production?", Options: []string{"Allow once", "Deny"}, Default: approval.DefaultDeny,
		Created: approval.At(now), Expires: approval.At(now.Add(approval.DefaultTimeout)),
	}

	d, err := approval.Decide(q, approval.Answer{Option: "allow ONCE", By: "Alice"}, "nats:alice", now)
	fmt.Println(d.Option, d.Granted, d.DecidedBy, err)

	d, _ = approval.Decide(q, approval.Answer{Option: "Deny"}, "", now)
	fmt.Println(d.DecidedBy, "-", approval.Reason(q, d))

	_, err = approval.Decide(q, approval.Answer{Option: "Allow always"}, "nats:alice", now)
	fmt.Println(errors.Is(err, approval.ErrNotOffered), "-", err)

	fmt.Println(approval.Reason(q, approval.TimedOut(q, q.Expires.Time)))
	// Output:
	// Allow once true nats:alice <nil>
	// unauthenticated - User denied: Deploy to production?
	// true - option not offered: "Allow always" is not one of "Allow once", "Deny"
	// Approval timeout - denied by default: Deploy to production?
}

func ExampleCheck() {
	fmt.Println(approval.Check("Deploy?", []string{"Allow", "Deny", "DENY"}))
	// Output: approval_options[2] "DENY" is the same as option 1: options must differ in more than the case of letters
}

func ExampleTimeout() {
	fmt.Println(approval.Timeout(nil))
	seconds := 1.5
	fmt.Println(approval.Timeout(&seconds))
	seconds = -1
	fmt.Println(approval.Timeout(&seconds))
	// Output:
	// 5m0s
	// 1.5s
	// 0s
}

func ExampleParseRules() {
	rules, err := approval.ParseRules("rules.yaml", []byte(`
rules:
  - name: staging is fine
    decision: allow
    hook: production-*
    prompt: "Deploy to staging*"
  - decision: deny
    prompt: "*database*"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, prompt := range []string{"Deploy to staging?", "Deploy to staging database?", "Deploy to production?"} {
		if rule, found := rules.Decide("production-guard", "Bash", prompt); found {
			fmt.Printf("%s %s, by %s\n", prompt, rule.Decision, rule.Name)
		} else {
			fmt.Println(prompt, "ask a person")
		}
	}

	_, err = approval.ParseRules("rules.yaml", []byte(`{"cost_control:openai:*": "alow"}`))
	fmt.Println(err)
	// Output:
	// Deploy to staging? allow, by staging is fine
	// Deploy to staging database? deny, by rule 2
	// Deploy to production? ask a person
	// rules.yaml:1:27: the rule "cost_control:openai:*" must be allow or deny, not "alow"
}

func ExampleChanges() {
	changes, err := approval.Changes(
		[]byte(`{"tool_name":"Bash","tool_input":{"command":"rm -rf /","timeout":5}}`),
		[]byte(`{"tool_name":"Bash","tool_input":{"command":"rm -rf build"},"timestamp":"2026-03-01T12:00:00Z"}`),
	)
	fmt.Println(string(changes), err)
	// Output: [{"op":"replace","path":"/tool_input/command","value":"rm -rf build","old":"rm -rf /"},{"op":"remove","path":"/tool_input/timeout","old":5}] <nil>
}

func ExampleRecord_Append() {
	data := json.RawMessage(`{ "id": 9007199254740993, "size": 1e2 }`)
	record := approval.Record{Request: approval.Request{ID: "q1", DataSHA256: approval.Digest(data)}, Data: data}

	var read approval.Record
	if err := json.Unmarshal(record.Append(nil), &read); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n%v\n", read.Data, approval.Digest(read.Data) == read.DataSHA256)
	// Output:
	// { "id": 9007199254740993, "size": 1e2 }
	// true
}
