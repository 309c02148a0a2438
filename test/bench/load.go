package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// arm is one of the compared alternatives: the same event sent to another subject, or over another
// connection.
type arm struct {
	name    string
	subject string
	event   string
	hops    int
	conn    *nats.Conn // nil for the agent's connection to the server of the floor
	writer  *process   // if not nil, the arm makes single publishes to a log in this process, and no chains
	seat    *appender  // if not nil, the same in the agent's process

	turns     bool         // each event has its own turn, and so its own trace
	denyOneOf int          // one event of this number must be denied; 0 for none
	settle    func() error // remaining work after the answers, included in the time; nil for none
}

func newArm(name, prefix, event string, hops int) arm {
	return arm{name: name, subject: subjects(prefix).Event("emit", event), event: event, hops: hops}
}

// sample is the measurement of an arm in one round.
type sample struct {
	took    []time.Duration // of each chain
	elapsed time.Duration
}

func (s *sample) p50() time.Duration { return percentile(s.took, 0.50) }

func (s *sample) rate() float64 { return float64(len(s.took)) / s.elapsed.Seconds() }

// merge merges several samples into one.
func merge(parts ...*sample) *sample {
	all := &sample{}
	for _, p := range parts {
		all.took = append(all.took, p.took...)
		all.elapsed += p.elapsed
	}
	return all
}

// load sends n events to an arm, with inFlight at a time, and checks every answer.
func (b *bench) load(ctx context.Context, a arm, inFlight, n int) (*sample, error) {
	if a.writer != nil || a.seat != nil {
		return a.appends(n)
	}
	took := make([]time.Duration, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, inFlight)
	began := time.Now()
	for i := range inFlight {
		wg.Go(func() {
			sender := newSender(b.connOf(a), a, i)
			for {
				k := int(next.Add(1)) - 1
				if k >= n || ctx.Err() != nil {
					return
				}
				sender.denied = a.denies(k)
				start := time.Now()
				if err := sender.send(); err != nil {
					failed <- err
					return
				}
				took[k] = time.Since(start)
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
	}
	if a.settle != nil {
		if err := a.settle(); err != nil {
			return nil, err
		}
	}
	s := &sample{took, time.Since(began)}
	b.sent[a.name] += n
	if a.denyOneOf > 0 {
		b.denied[a.name] += n / a.denyOneOf
	}
	b.report.Chains += n
	b.report.Hops += n * a.hops
	return s, ctx.Err()
}

// denies reports whether event k must be denied.
func (a arm) denies(k int) bool { return a.denyOneOf > 0 && k%a.denyOneOf == a.denyOneOf-1 }

func (b *bench) connOf(a arm) *nats.Conn { return cmp.Or(a.conn, b.conn) }

// sender is an agent with one session. It sends the headers that pkg/agent sets.
type sender struct {
	conn   *nats.Conn
	arm    arm
	msg    nats.Msg
	count  string
	denied bool // whether the next event must be denied
}

func newSender(conn *nats.Conn, a arm, i int) *sender {
	session := fmt.Sprintf("session-%02d", i)
	h := nats.Header{}
	events.Event{ID: "-", Source: "/agent", Name: a.event, Session: session, Time: events.Now()}.SetHeader(h)
	return &sender{conn: conn, arm: a, msg: nats.Msg{Subject: a.subject, Header: h, Data: eventData(session)}, count: strconv.Itoa(a.hops)}
}

var (
	wantBody   = []byte(`{"action":"continue","data":{`)
	wantDenied = []byte(`{"action":"deny"`)
)

func (s *sender) send() error {
	_, err := s.ask()
	return err
}

func (s *sender) ask() (*nats.Msg, error) {
	id, want := events.NewID(), wantBody
	if s.denied {
		id, want = deniedMark+id, wantDenied
	}
	s.msg.Header["ce-id"] = []string{id}
	if s.arm.turns {
		s.msg.Header["Hook-Turn"] = []string{id}
	}
	reply, err := s.conn.RequestMsg(&s.msg, 30*time.Second)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.arm.name, err)
	}
	if !bytes.HasPrefix(reply.Data, want) || reply.Header.Get(wire.HeaderCount) != s.count {
		return nil, fmt.Errorf("%s answers %v %.200s: %s from %s hooks was expected", s.arm.name, reply.Header, reply.Data, want, s.count)
	}
	return reply, nil
}

// sameWork sends one event to each arm. It fails if the hooks or the agent get different headers or
// sizes from the arms.
func (b *bench) sameWork(arms ...arm) error {
	var want []string
	for _, a := range arms {
		calls, err := b.conn.SubscribeSync(subjects(prefixRouter).Call("*"))
		if err != nil {
			return err
		}
		reply, err := newSender(b.conn, a, 0).ask()
		if err != nil {
			return err
		}
		got := []string{shape(reply)}
		for range a.hops {
			call, err := calls.NextMsg(5 * time.Second)
			if err != nil {
				return fmt.Errorf("watch the calls of %s: %w", a.name, err)
			}
			got = append(got, shape(call))
		}
		if err := calls.Unsubscribe(); err != nil {
			return err
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("the arms do not do the same work:\n%s %q\n%s %q", arms[0].name, want, a.name, got)
		}
	}
	return nil
}

// samePublished sends one event to each arm. It fails if the arms publish different headers or
// sizes for watchers.
func (b *bench) samePublished(arms ...arm) error {
	var want []*nats.Msg
	for _, a := range arms {
		prefix, _, _ := strings.Cut(a.subject, ".")
		published, err := b.conn.SubscribeSync(prefix + ".*.bench.*")
		if err != nil {
			return err
		}
		if _, err := newSender(b.conn, a, 0).ask(); err != nil {
			return err
		}
		var got []*nats.Msg
		for len(got) < 2 {
			m, err := published.NextMsg(5 * time.Second)
			if err != nil {
				return fmt.Errorf("watch what %s publishes: %w", a.name, err)
			}
			if !strings.HasPrefix(m.Subject, prefix+".emit.") {
				got = append(got, m)
			}
		}
		if err := published.Unsubscribe(); err != nil {
			return err
		}
		if want == nil {
			want = got
		}
		if !slices.EqualFunc(got, want, alike) {
			return fmt.Errorf("the arms do not publish the same: %s %s and %s, %s %s and %s",
				arms[0].name, shape(want[0]), shape(want[1]), a.name, shape(got[0]), shape(got[1]))
		}
	}
	return nil
}

// alike reports whether two published messages have the same headers and about the same size. The
// sizes may differ by the digits of the durations in a result.
func alike(a, b *nats.Msg) bool {
	const digits = 64
	size := len(a.Data) - len(b.Data)
	return slices.Equal(headersOf(a), headersOf(b)) && -digits <= size && size <= digits
}

// shape returns the parts of a message that are equal for all events: the names and lengths of its
// headers, and the length of the body.
func shape(m *nats.Msg) string { return fmt.Sprint(headersOf(m), " ", len(m.Data)) }

// headersOf returns the names and lengths of a message's headers.
func headersOf(m *nats.Msg) []string {
	var names []string
	for name, values := range m.Header {
		names = append(names, fmt.Sprintf("%s:%d", name, len(values[0])))
	}
	slices.Sort(names)
	return names
}
