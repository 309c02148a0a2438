package conformance

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		data []string
		want []string
	}{
		"data that names none":         {[]string{`{}`, `{"session_id":null}`, `{"session_id":""}`}, []string{"own"}},
		"data that names one":          {[]string{`{}`, `{"session_id":"s"}`, `{"session_id":"s"}`}, []string{"s"}},
		"data that names two":          {[]string{`{"session_id":"s"}`, `{"session_id":"r"}`}, []string{"s", "r"}},
		"a session that is no string":  {[]string{`{"session_id":1}`}, []string{"own"}},
		"steps that have no data":      {[]string{``}, []string{"own"}},
		"a session deeper in the data": {[]string{`{"a":{"session_id":"s"}}`}, []string{"own"}},
	} {
		t.Run(name, func(t *testing.T) {
			var c Case
			for _, data := range tt.data {
				c.Steps = append(c.Steps, Step{Op: OpExecute, Data: json.RawMessage(data)})
			}
			if got := c.sessions("own"); !slices.Equal(got, tt.want) {
				t.Errorf("sessions = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestContextManager(t *testing.T) {
	const (
		stays   = `{"role":"system","content":"A"}`
		passes  = `{"role":"system","content":"B","ephemeral":true}`
		appends = `{"role":"system","content":"B","ephemeral":true,"append_to_last_tool_result":true}`
	)
	for name, tt := range map[string]struct {
		state, first                   string
		deliveries                     []string
		persistent, transient, request string // after the last delivery
	}{
		"a persistent message stays": {
			state: Present, first: `[{"role":"user","content":"hi"}]`, deliveries: []string{`[` + stays + `]`, `[]`},
			persistent: `[]`, transient: `[]`, request: `[{"role":"user","content":"hi"},` + stays + `]`,
		},
		"an ephemeral message is for one call": {
			state: Present, first: `[]`, deliveries: []string{`[` + passes + `]`, `[]`},
			persistent: `[]`, transient: `[]`, request: `[]`,
		},
		"an ephemeral message comes last": {
			state: Present, first: `[]`, deliveries: []string{`[` + passes + `,` + stays + `]`},
			persistent: `[` + stays + `]`, transient: `[` + passes + `]`, request: `[` + stays + `,` + passes + `]`,
		},
		"a tool result takes it in": {
			state: Present, first: `[{"role":"tool","content":"exit 0","id":7}]`, deliveries: []string{`[` + appends + `]`},
			persistent: `[]`, transient: `[` + appends + `]`, request: `[{"role":"tool","content":"exit 0\n\nB","id":7}]`,
		},
		"what is no tool result does not": {
			state: Present, first: `[{"role":"user","content":"hi"}]`, deliveries: []string{`[` + appends + `]`},
			persistent: `[]`, transient: `[` + appends + `]`, request: `[{"role":"user","content":"hi"},` + appends + `]`,
		},
		"an empty conversation does not": {
			state: Present, first: `[]`, deliveries: []string{`[` + appends + `]`},
			persistent: `[]`, transient: `[` + appends + `]`, request: `[` + appends + `]`,
		},
		"appending needs ephemeral": {
			state: Present, first: `[{"role":"tool","content":"exit 0"}]`,
			deliveries: []string{`[{"role":"system","content":"B","append_to_last_tool_result":true}]`},
			persistent: `[{"role":"system","content":"B","append_to_last_tool_result":true}]`, transient: `[]`,
			request: `[{"role":"tool","content":"exit 0"},{"role":"system","content":"B","append_to_last_tool_result":true}]`,
		},
		"a failing manager is reached and keeps nothing": {
			state: Failing, first: `[]`, deliveries: []string{`[` + stays + `]`},
			persistent: `[` + stays + `]`, transient: `[]`, request: `[]`,
		},
		"an absent manager is not reached": {
			state: Absent, first: `[]`, deliveries: []string{`[` + stays + `]`},
			persistent: `[]`, transient: `[]`, request: `[]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &contextManager{state: tt.state, first: parsed(t, tt.first).([]any)}
			var persistent, transient, request []any
			for _, messages := range tt.deliveries {
				persistent, transient, request = m.deliver(parsed(t, messages).([]any))
			}
			for _, part := range []struct {
				name, want string
				got        any
			}{{"persistent", tt.persistent, persistent}, {"transient", tt.transient, transient}, {"request", tt.request, request}} {
				if err := compare(part.name, parsed(t, part.want), part.got, exact); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestContextManagerKeepsToolResultsAsTheyAre(t *testing.T) {
	m := &contextManager{state: Present, first: parsed(t, `[{"role":"tool","content":"exit 0"}]`).([]any)}
	m.deliver(parsed(t, `[{"role":"system","content":"B","ephemeral":true,"append_to_last_tool_result":true}]`).([]any))
	_, _, request := m.deliver(nil)
	if err := compare("request", parsed(t, `[{"role":"tool","content":"exit 0"}]`), request, exact); err != nil {
		t.Error(err)
	}
}
