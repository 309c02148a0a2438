package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// patience is how long an agent or a person goes on at most: longer than any
// approval request is open.
const patience = 20 * time.Minute

// errNeverAnswered means that an agent gave up.
var errNeverAnswered = errors.New("given up")

// errand is one event of one agent.
type errand struct {
	id              string // ce-id
	session, prompt string
}

func (e errand) question() string { return approval.IDOf("", e.session, "tool:pre", e.id) }

func (e errand) body() []byte {
	return fmt.Appendf(nil, `{"session_id":%q,"tool_name":"Bash","command":%q}`, e.session, e.prompt)
}

func (e errand) header() nats.Header {
	return nats.Header{"ce-specversion": {"1.0"}, "ce-id": {e.id}, "ce-source": {"/simulated"}, "ce-type": {"tool:pre"}, "ce-subject": {e.session}}
}

// raw executes an event as any NATS client could: it sends it again until there
// is an answer. twin says that another one sends the same event at the same time.
func raw(nc *nats.Conn, rng *rand.Rand, e errand, twin bool) telling {
	t := telling{id: e.question(), session: e.session, prompt: e.prompt, began: time.Now()}
	for header := e.header(); time.Since(t.began) < patience; header["Hook-Retry"] = []string{"1"} {
		if twin && rng.IntN(2) == 0 {
			delete(header, "Hook-Retry") // then the hooks run again
		}
		wait := between(rng, 0, 90*time.Second)
		header["Hook-Wait-Ms"] = []string{strconv.FormatInt(wait.Milliseconds(), 10)}
		m, err := request(nc, "hooks.execute.tool.pre", header, e.body(), wait+6*time.Second)
		switch code := code(m); {
		case err != nil, code == 429, code == 503, code == 504:
			<-time.After(between(rng, 20*time.Millisecond, time.Second))
			continue
		case code != 0:
			t.told, t.err = time.Now(), fmt.Errorf("refused: %v", m.Header)
			return t
		}
		if t.verdict, t.err = verdict.Parse(m.Data); t.err != nil || t.verdict.Action != verdict.Pending {
			t.told = time.Now()
			return t
		}
	}
	t.err = errNeverAnswered
	return t
}

// sdk executes an event with pkg/agent; asked is called with each approval request.
func sdk(conn *nats.Conn, e errand, asked func(id string)) telling {
	t := telling{session: e.session, prompt: e.prompt, began: time.Now(), sdk: true}
	client, err := hookrouter.Connect(context.Background(), hookrouter.Options{Conn: conn, Patience: patience})
	if err != nil {
		panic(err) // the connection is there
	}
	a, err := agent.New(client, agent.Options{
		Session:   e.session,
		OnPending: func(q verdict.Approval) { t.id, t.pending = q.ID, time.Now(); asked(q.ID) },
	})
	if err != nil {
		panic(err) // the connection is there
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	x, err := a.Execute(ctx, "tool:pre", json.RawMessage(e.body()))
	t.told, t.verdict, t.err = time.Now(), x.Verdict, err
	if a := x.Approval; t.id == "" && a != nil && !a.Cached { // which names the approval request that was answered
		t.id = a.ID
	}
	return t
}

// impostor sends an event again with other data, and returns what it heard where
// it was not refused.
func impostor(nc *nats.Conn, rng *rand.Rand, e errand) (passed string) {
	header := e.header()
	if rng.IntN(2) == 0 {
		header["Hook-Retry"] = []string{"1"}
	}
	other := e
	other.prompt += ", and more"
	m, err := request(nc, "hooks.execute.tool.pre", header, other.body(), 6*time.Second)
	if code := code(m); err == nil && code != 409 && code != 503 && code != 504 {
		return fmt.Sprintf("%d %s", code, m.Data)
	}
	return "" // the router may have died
}

// person answers an approval request once.
func person(nc *nats.Conn, q approval.Request, kind kind, said approval.Answer) answer {
	body, err := json.Marshal(said)
	if err != nil {
		panic(err) // texts and booleans
	}
	a := answer{id: q.ID, kind: kind, said: said, code: silence}
	m, err := request(nc, "hooks.approve."+q.ID, nil, body, 6*time.Second)
	if err != nil {
		return a
	}
	if a.code = code(m); a.code != 0 {
		a.text = m.Header.Get("Nats-Service-Error")
		return a
	}
	var accepted struct{ Option string }
	if err := json.Unmarshal(m.Data, &accepted); err != nil {
		a.code, a.text = 500, err.Error()
	}
	a.text = accepted.Option
	return a
}

// words are what a person of a kind says to an approval request.
func words(rng *rand.Rand, q approval.Request, by string) (kind, approval.Answer) {
	said := approval.Answer{By: by, Option: q.Options[rng.IntN(len(q.Options))]}
	switch n := rng.IntN(20); n {
	case 0, 1:
		said.Option = "Allow everything"
		return notOffered, said
	case 2, 3:
		said.DataSHA256 = approval.Digest([]byte(by))
		return otherData, said
	case 4:
		said.Option, said.FreeText = "Rather not", true
		return freeText, said
	case 5:
		said.Option, said.Error = "", "the approval system is away"
		return failed, said
	case 6, 7, 8:
		said.DataSHA256 = q.DataSHA256
	}
	return plain, said
}

// look waits until an approval request can be seen; false where there is none in time.
func look(ctx context.Context, nc *nats.Conn, id string) (q approval.Request, ok bool) {
	for ctx.Err() == nil {
		m, err := request(nc, "hooks.approval."+id, nil, nil, 6*time.Second)
		if err == nil && code(m) == 0 && json.Unmarshal(m.Data, &q) == nil {
			return q, true
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return q, false
}

func request(nc *nats.Conn, subject string, header nats.Header, body []byte, within time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: header, Data: body})
}

// code is the refusal code of a reply, 0 for none.
func code(m *nats.Msg) int {
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m.Header.Get("Nats-Service-Error-Code"))
	return n
}
