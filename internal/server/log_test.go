package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// lines is a log that a test reads while it is written.
type lines struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

const loggedSecret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"

// logging is a server whose log is read, a request as an agent, and its connection; the hook
// guard answers what the member say has, by a rule.
func logging(t *testing.T, level slog.Level) (log *lines, send func(verb, say string), agent *nats.Conn) {
	t.Helper()
	log = &lines{}
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))})
	hook := connect(t, s.InProcess())
	agent = connect(t, s.InProcess())
	if _, err := hook.QueueSubscribe("hooks.call.guard", "guard", func(m *nats.Msg) {
		var data struct{ Say json.RawMessage }
		_ = json.Unmarshal(m.Data, &data)
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Hook-Rule": {"g.yaml:4 cel.rules[0]"}}, Data: data.Say})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Request("hooks.register.guard", []byte(`{"events":["tool:pre"],"match":"has(data.say)","durable":true}`), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	return log, func(verb, say string) {
		t.Helper()
		body := `{"session_id":"s1","tool_name":"Bash"}`
		if say != "" {
			body = `{"session_id":"s1","tool_name":"Bash","say":` + say + `}`
		}
		header := nats.Header{"Hook-Wait-Ms": {"0"}, "ce-specversion": {"1.0"}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "ce-id": {fmt.Sprintf("e-%d", time.Now().UnixNano())}}
		if _, err := agent.RequestMsg(&nats.Msg{Subject: "hooks." + verb + ".tool.pre", Data: []byte(body), Header: header}, 20*time.Second); err != nil {
			t.Fatal(err)
		}
	}, agent
}

// An event that is allowed costs the log nothing at info: the audit log has it.
func TestAnAllowedEventIsNotLogged(t *testing.T) {
	t.Parallel()
	log, send, _ := logging(t, slog.LevelInfo)
	before := log.String()
	for range testkit.Volume(t, 50, 200, 500) {
		send("execute", "")
		send("emit", "")
		send("execute", `{"action":"inject_context","context_injection":"x"}`)
		send("emit", `{"action":"continue","user_message":"fine"}`)
	}
	send("emit", `{"action":"deny","reason":"last"}`) // its line comes after theirs
	testkit.Eventually(t, "the denial is logged", func() bool { return strings.Contains(log.String(), "reason=last") })
	grown := strings.TrimPrefix(log.String(), before)
	if n := strings.Count(grown, "\n"); n != 1 || !strings.Contains(grown, `msg="event denied"`) {
		t.Errorf("%d bytes in %d lines: %s", len(grown), n, grown)
	}
}

func TestWhatPeopleWantToHearOfIsLogged(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level][]string{
		slog.LevelInfo: {
			`level=INFO msg="event denied" event=tool:pre session_id=s1 event_id=e-`, "denied_by=guard", `reason="no `, `rule="g.yaml:4 cel.rules[0]"`, "duration=",
			`level=INFO msg="event waits for a person"`, "approval_id=", `level=WARN msg="hook failed"`, "failed_open=true",
		},
		slog.LevelWarn: {`level=WARN msg="hook failed"`, "failed_open=true", "event_id=e-"},
	} {
		log, send, _ := logging(t, level)
		send("execute", `{"action":"deny","reason":"no `+loggedSecret+`"}`)
		send("execute", `{"action":"ask_user","approval_prompt":"sure?"}`)
		send("execute", `{"action":"nonsense"}`)
		testkit.Eventually(t, "the failure is logged", func() bool { return strings.Contains(log.String(), "hook failed") })
		text := log.String()
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("at %v the log lacks %s:\n%s", level, part, text)
			}
		}
		if strings.Contains(text, loggedSecret) {
			t.Errorf("at %v the log has a secret:\n%s", level, text)
		}
	}
}

// Who decided about an approval request, why and after how long is logged.
func TestADecisionIsLogged(t *testing.T) {
	t.Parallel()
	for option, what := range map[string]string{"Allow": "approval granted", "Deny": "approval denied"} {
		log, send, agent := logging(t, slog.LevelInfo)
		send("execute", `{"action":"ask_user","approval_prompt":"sure?"}`)
		var id []string
		testkit.Eventually(t, "the request is logged", func() bool {
			id = regexp.MustCompile(`approval_id=(\w+)`).FindStringSubmatch(log.String())
			return id != nil
		})
		if _, err := agent.Request("hooks.approve."+id[1], []byte(`{"option":"`+option+`","note":"seen `+loggedSecret+`"}`), 20*time.Second); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the decision is logged", func() bool { return strings.Contains(log.String(), what) })
		line := regexp.MustCompile(`level=INFO msg="` + what + `" approval_id=` + id[1] + ` hook=guard event=tool:pre session_id=s1 event_id=e-\d+ chain_id=\S+ by=unauthenticated reason="seen \[REDACTED:\S+" duration=\d`)
		if text := log.String(); !line.MatchString(text) {
			t.Errorf("no line matches %s:\n%s", line, text)
		}
	}
}
