package integration

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// logged is a record as the stream has it.
type logged struct {
	Kind, Event, Hook, Action string
	Chain                     string `json:"chain_id"`
	Session                   string `json:"session_id"`
	EventID                   string `json:"event_id"`
	Reason, Failure, Dropped  string
	FailedOpen                bool            `json:"failed_open"`
	Shadow                    bool            `json:"shadow"`
	ApprovalID                string          `json:"approval_id"`
	Changes                   json.RawMessage `json:"changes"`
	In, Out, Data, Text       *struct {
		SHA256, Salt string
		Value        json.RawMessage
		Redacted     bool
	}
	Suppressed   bool
	Message      string
	Instance     string
	Registration json.RawMessage
	Lost         int
	Called       int
	Skipped      int

	line    string
	message int // in the stream, from 1
}

func (l logged) String() string {
	return strings.TrimSpace(fmt.Sprint(l.Kind, " ", l.Hook, " ", l.Action))
}

// auditLog reads all records of a segment.
func auditLog(t *testing.T, ctx context.Context, nc *nats.Conn, segment string) (list []logged) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, segment)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range stream.CachedInfo().State.LastSeq {
		m, err := stream.GetMsg(ctx, seq+1)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(m.Data) {
			one := decode[logged](t, line)
			one.line, one.message = string(line), int(seq+1)
			list = append(list, one)
		}
	}
	return list
}

// ofChain are the records of one chain.
func ofChain(list []logged, id string) (own []logged) {
	for _, one := range list {
		if one.Chain == id {
			own = append(own, one)
		}
	}
	return own
}

// steps are the records in short.
func steps(list []logged) (out []string) {
	for _, one := range list {
		out = append(out, one.String())
	}
	return out
}

func TestEveryStepOfAChainIsRecordedTogether(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "modifies", `{"events":["tool:post"],"priority":1}`, says(`{"action":"modify","data":{"session_id":"s","cmd":"ls"}}`))
	hook(t, ctx, nc, "skipped", `{"events":["tool:post"],"priority":2,"match":"data.cmd == 'rm'"}`, says(`{}`))
	hook(t, ctx, nc, "broken", `{"events":["tool:post"],"priority":3}`, says(`nonsense`))
	hook(t, ctx, nc, "silent", `{"events":["tool:post"],"priority":4,"timeout_ms":30}`, func(*nats.Msg) []byte { return nil })
	hook(t, ctx, nc, "injects", `{"events":["tool:post"],"priority":5}`, says(`{"action":"inject_context","context_injection":"mind the gap","suppress_output":true}`))
	hook(t, ctx, nc, "too-much", `{"events":["tool:post"],"priority":6}`, says(`{"action":"inject_context","context_injection":"`+strings.Repeat("x", 11<<10)+`"}`))
	hook(t, ctx, nc, "shows", `{"events":["tool:post"],"priority":7}`, says(`{"action":"continue","reason":"fine","user_message":"look"}`))
	hook(t, ctx, nc, "tries", `{"events":["tool:post"],"priority":8,"mode":"shadow"}`, says(`{"action":"deny","reason":"would"}`))

	m := request(t, ctx, nc, "hooks.execute.tool.post", nil, `{"session_id":"s","cmd":"rm"}`)
	if m.Header.Get("Hook-Audit") != "strict" {
		t.Errorf("the answer's header is %v", m.Header)
	}
	chainID := m.Header.Get("Hook-Chain-Id")
	var own []logged
	testkit.Until(t, ctx, "the shadow hook's answer is recorded", func() bool {
		own = ofChain(auditLog(t, ctx, nc, "HOOKS_AUDIT"), chainID)
		return len(own) == 13
	})
	var told []logged // the shadow's answer may stand anywhere
	for _, one := range own {
		if one.Shadow {
			if one.Hook != "tries" || one.Action != "deny" || one.Reason != "would" {
				t.Errorf("the shadow hook's record is %s", one.line)
			}
			continue
		}
		told = append(told, one)
	}
	want := []string{
		"hook.result modifies modify", "hook.error broken", "hook.timeout silent", "hook.result injects inject_context", "hook.result too-much inject_context",
		"hook.result shows continue", "hook.skipped skipped skipped", "injection injects delivered", "injection too-much dropped",
		"display injects suppressed", "display shows shown", "chain.result  continue",
	}
	if diff := cmp.Diff(want, steps(told)); diff != "" {
		t.Fatal(diff)
	}
	for i, one := range told {
		if one.message != told[0].message || one.Event != "tool:post" || one.Session != "s" || one.EventID != m.Header.Get("Hook-Event-Id") {
			t.Errorf("record %d stands in message %d, not %d: %s", i, one.message, told[0].message, one.line)
		}
	}
	if one := told[0]; string(one.Data.Value) != `{"session_id":"s","cmd":"ls"}` || !strings.Contains(string(one.Changes), `"/cmd"`) {
		t.Errorf("the change is recorded as %s", one.line)
	}
	if broken, silent := told[1], told[2]; !broken.FailedOpen || broken.Failure != "invalid_result" || !silent.FailedOpen || silent.Failure != "timeout" {
		t.Errorf("the failures are %s and %s", broken.line, silent.line)
	}
	if one := told[8]; one.Dropped != "oversize" {
		t.Errorf("the dropped injection is %s", one.line)
	}
	if one := told[11]; string(one.In.Value) != `{"session_id":"s","cmd":"rm"}` || string(one.Out.Value) != `{"session_id":"s","cmd":"ls"}` {
		t.Errorf("the result is %s", one.line)
	}
}

func TestInjectionsThatADenialDiscardsAreRecorded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "injects", `{"events":["e"],"priority":1}`, says(`{"action":"inject_context","context_injection":"mind the gap"}`))
	hook(t, ctx, nc, "denies", `{"events":["e"],"priority":2}`, says(`{"action":"deny","reason":"no"}`))
	request(t, ctx, nc, "hooks.execute.e", nil, `{}`)
	list := auditLog(t, ctx, nc, "HOOKS_AUDIT")[2:]
	if diff := cmp.Diff([]string{"hook.result injects inject_context", "hook.result denies deny", "injection injects dropped", "chain.result  deny"}, steps(list)); diff != "" {
		t.Fatal(diff)
	}
	if one := list[2]; one.Dropped != "denied" || string(one.Text.Value) != `"mind the gap"` {
		t.Errorf("the dropped injection is %s", one.line)
	}
}

func TestAQuestionAndItsAnswerAreRecorded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_prompt":"Deploy with ghp_abcdefghijklmnopqrstuvwxyz0123456789?"}`))
	asked := listen(t, nc, "hooks.event.approval.required")
	told := execute(t, ctx, nc, event("one", "Hook-Wait-Ms", "20000"), `{"session_id":"s1"}`)
	q := openQuestion(t, ctx, asked)
	if got := steps(auditLog(t, ctx, nc, "HOOKS_AUDIT")); !cmp.Equal(got[1:], []string{"hook.result asks ask_user", "approval.requested asks requested", "chain.result  pending"}) {
		t.Errorf("before anyone was told of the approval request the log had %q", got)
	}
	again := execute(t, ctx, nc, event("one", "Hook-Wait-Ms", "0"), `{"session_id":"s1"}`)
	answer(t, nc, q.ID, "Allow")
	if v := take(t, ctx, told); v.Action != "continue" {
		t.Fatal(v)
	}
	take(t, ctx, again)
	var list []logged
	testkit.Until(t, ctx, "the event that was sent again is recorded", func() bool {
		list = auditLog(t, ctx, nc, "HOOKS_AUDIT")
		return len(list) >= 8 // one more where it came after the decision
	})
	for _, one := range list[1:] {
		if one.Kind != "registration" && one.Kind != "hook.result" && one.ApprovalID != q.ID || strings.Contains(one.line, "ghp_abc") {
			t.Error(one.line)
		}
	}
	text := strings.Join(steps(list), ", ")
	if !strings.Contains(text, "approval.requested asks joined, chain.result  pending") || !strings.Contains(text, "approval.decided asks allow") {
		t.Errorf("the log has %s", text)
	}
}

// In virtual time only the last instance goes without a renewal for long enough to expire.
func TestRegistrationsAreRecordedBeforeTheyCount(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Server(t)
		routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: time.Second}})
		nc := natstest.Conn(t, s)
		ctx := testkit.Within(t, 30*time.Second)
		for _, one := range []struct{ subject, body string }{
			{"register.a", `{"events":["e"],"instance":"i"}`},
			{"register.a", `{"events":["e"],"instance":"i"}`}, // a renewal
			{"register.a", `{"events":["e"],"instance":"j"}`},
			{"register.a", `{"events":["e","f"],"instance":"j"}`},
			{"unregister.a", `{"instance":"i"}`},
			{"unregister.a", `{}`},
			{"unregister.a", `{}`}, // nothing is there
			{"register.b", `{"events":["e"],"instance":"k","match":"data.x == 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'"}`},
		} {
			if m := request(t, ctx, nc, "hooks."+one.subject, nil, one.body); code(m) != "" {
				t.Fatal(m.Header)
			}
		}
		want := []string{
			"registration a registered", "registration a instance", "registration a changed", "registration a instance_removed",
			"registration a unregistered", "registration b registered", "registration b expired",
		}
		var list []logged
		testkit.Until(t, ctx, "the hook that nobody renews expires", func() bool {
			list = auditLog(t, ctx, nc, "HOOKS_AUDIT")
			return len(list) >= len(want)
		})
		if diff := cmp.Diff(want, steps(list)); diff != "" {
			t.Error(diff)
		}
		if list[1].Instance != "j" || !strings.Contains(string(list[2].Registration), `"f"`) || list[4].Registration != nil {
			t.Errorf("the records are %s %s %s", list[1].line, list[2].line, list[4].line)
		}
		if text := string(list[5].Registration); !strings.Contains(text, "data.x == '[REDACTED:github-token]'") {
			t.Errorf("a secret in a match is recorded as %s", text)
		}
	})
}

func TestCollectsAreRecorded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "gives", `{"events":["e"]}`, says(`{"data":{"a":1}}`))
	hook(t, ctx, nc, "fails", `{"events":["e"]}`, says(`nonsense`))
	hook(t, ctx, nc, "passed-over", `{"events":["e"],"match":"false"}`, says(`{"data":{"a":2}}`))
	hook(t, ctx, nc, "unsure", `{"events":["e"],"match":"data.absent == 1"}`, says(`{"data":{"a":3}}`))
	request(t, ctx, nc, "hooks.register.gone", nil, `{"events":["e"]}`)
	request(t, ctx, nc, "hooks.collect.e", nil, `{"session_id":"s"}`)
	var list []logged
	testkit.Until(t, ctx, "it is recorded", func() bool {
		list = auditLog(t, ctx, nc, "HOOKS_AUDIT")[5:]
		return len(list) > 0
	})
	want := []string{
		"hook.result gives collect", "hook.error fails collect", "hook.skipped passed-over skipped", "hook.error unsure collect",
		"hook.error gone collect", "chain.result  collect",
	}
	if diff := cmp.Diff(want, steps(list)); diff != "" {
		t.Fatal(diff)
	}
	if list[3].Failure != "match_error" || list[4].Failure != "no_responder" {
		t.Errorf("the failures are %s and %s", list[3].Failure, list[4].Failure)
	}
	if last := list[5]; last.Called != 2 || last.Skipped != 1 {
		t.Errorf("called %d, skipped %d: want 2 and 1", last.Called, last.Skipped)
	}
}

// What records hold of data is a salted digest, and a view without secrets.
func TestRecordsKeepSecretsToThemselves(t *testing.T) {
	t.Parallel()
	const secret, mail, body = "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "eve@example.com", `{"session_id":"s","token":"%s","to":"%s"}`
	sent := fmt.Sprintf(body, secret, mail)
	for mode, want := range map[recorder.Data]string{
		recorder.Digest: ``, recorder.Redacted: `REDACTED`, recorder.Full: sent, "": `REDACTED`,
	} {
		t.Run(string(mode), func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{Audit: auditlog.Options{View: recorder.View{Data: mode}}})
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, 30*time.Second)
			hook(t, ctx, nc, "h", `{"events":["e"]}`, says(`{"action":"deny","reason":"no `+secret+`"}`))
			request(t, ctx, nc, "hooks.emit.e", nil, sent)
			request(t, ctx, nc, "hooks.emit.e", nil, sent)
			request(t, ctx, nc, "hooks.emit.e", nil, strings.Replace(sent, `"s"`, `"other"`, 1))
			list := auditLog(t, ctx, nc, "HOOKS_AUDIT")
			first, second, third := list[2], list[4], list[6]
			if first.In.Salt == "" || first.In.Salt != second.In.Salt || first.In.SHA256 != second.In.SHA256 || third.In.Salt == first.In.Salt {
				t.Errorf("the salts of a session and another are %s, %s, %s", first.In.Salt, second.In.Salt, third.In.Salt)
			}
			if got := string(first.In.Value); !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("the record holds %s of the data", got)
			}
			for _, one := range list {
				if mode != recorder.Full && (strings.Contains(one.line, secret) || strings.Contains(one.line, mail)) {
					t.Errorf("a secret stands in the log: %s", one.line)
				}
			}
			var salt []byte
			testkit.Until(t, ctx, "the salt is stored", func() bool {
				e, err := bucket(t, ctx, nc, "hooks_salts").Get(ctx, first.In.Salt)
				if err == nil {
					salt = e.Value()
				}
				return err == nil
			})
			if sum := sha256.Sum256(append(salt, sent...)); hex.EncodeToString(sum[:]) != first.In.SHA256 {
				t.Error("the digest is not the one of the salt and the data as sent")
			}
		})
	}
}
