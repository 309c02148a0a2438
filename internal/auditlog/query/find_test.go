package query_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// searched is a log of chains, to be searched.
type searched struct {
	t    *testing.T
	bus  *natsx.Conn
	log  *store.Log
	last uint64
}

func newSearched(t *testing.T) *searched {
	t.Helper()
	bus := natstest.Connect(t, natsx.Options{URL: natstest.Listening(t).ClientURL()})
	log, err := store.Open(t.Context(), bus, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &searched{t: t, bus: bus, log: log}
}

func (s *searched) write(body []byte) {
	s.t.Helper()
	var err error
	if s.last, err = s.log.Live().Append(s.t.Context(), s.bus.Of("audit", "w", "w1"), "", s.last, body); err != nil {
		s.t.Fatal(err)
	}
}

// chain appends the records of a chain.
func chainRecords(body []byte, id, event, session, action string) []byte {
	r := audit.Record{Time: time.Now(), Kind: audit.HookResult, ChainID: id, EventID: event, Session: session, Event: "tool:pre", Hook: "guard", Action: action, Detail: audit.Call{Rule: "worker.yaml:7 " + id}}
	body = r.Append(body)
	r.Hook = "lint"
	body = r.Append(body)
	r.Kind, r.Hook, r.Detail = audit.ChainResult, "", audit.Chain{DeniedBy: "guard"}
	return r.Append(body)
}

func (s *searched) index() {
	s.t.Helper()
	if err := index.NewIndexer(s.bus, s.log, "x", 1, nil).Look(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *searched) open() *query.Log {
	s.t.Helper()
	l, err := query.Open(s.t.Context(), s.bus)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

func TestAnyIdFindsItsChains(t *testing.T) {
	s := newSearched(t)
	s.write(chainRecords(nil, "c1", "e1", "s1", "continue"))
	s.write(chainRecords(nil, "c2", "e2", "s1", "deny"))
	s.write(chainRecords(nil, "c3", "e2", "s2", "continue")) // the same event again, to hide the denial
	s.write(chainRecords(nil, "c4", "c1", "e1", "continue")) // ids that other things have
	s.write(chainRecords(chainRecords(nil, "c5", "e5", "s1", "continue"), "c6", "e6", "s3", "continue"))
	for _, whole := range []bool{true, false} {
		name := "by the whole log"
		if !whole {
			name = "by the index"
			s.index()
		}
		read := 0
		for id, want := range map[string]query.Found{
			"c1": {Kind: query.OfChain, Chains: []string{"c1"}},
			"c5": {Kind: query.OfChain, Chains: []string{"c5"}},
			"e1": {Kind: query.OfEvent, Chains: []string{"c1"}},
			"e2": {Kind: query.OfEvent, Chains: []string{"c2", "c3"}},
			"e6": {Kind: query.OfEvent, Chains: []string{"c6"}},
			"s1": {Kind: query.OfSession, Chains: []string{"c2", "c5", "c1"}},
			"":   {Kind: query.LastDenial, Chains: []string{"c2"}},
		} {
			got, err := s.open().Find(t.Context(), id, func() bool { read++; return whole })
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s, %q: %v (-want +got):\n%s", name, id, err, diff)
			}
		}
		if (read > 0) != whole {
			t.Errorf("%s: the whole log was read %d times", name, read)
		}
		if _, err := s.open().Find(t.Context(), "nothing", func() bool { return whole }); !errors.Is(err, query.ErrNoChain) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An agent learns the id of a chain from its answer, and knows that of its next approval request. It
// can't hide either behind events of that id.
func TestNoEventHidesAChainOrARequestOfItsId(t *testing.T) {
	const id, request = "01a1fe4c-6277-7721-a95c-5a201d5eb9ab", "lktw2ypl4mio6cadi7qbxx6rxa"
	for name, c := range map[string]struct {
		events  int
		last    string
		indexed bool
	}{
		"a few, one denied, in the log":        {25, "deny", false},
		"a few, one denied, in the index":      {25, "deny", true},
		"more than are read, in the index":     {510, "continue", true},
		"more than are read, behind the index": {510, "continue", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSearched(t)
			s.write(chainRecords(nil, "before", request, "s2", "continue"))
			s.write(chainRecords(nil, id, "e1", "s1", "deny"))
			decision := audit.Record{
				Time: time.Now(), Kind: audit.ApprovalDecided, ChainID: "asked", EventID: "e2", Session: "s1", Event: "tool:pre", Action: "deny",
				Detail: audit.Decision{ApprovalID: request},
			}
			if _, err := s.log.Live().AppendFirst(t.Context(), store.DecisionSubject(s.bus, request), decision.Append(nil)); err != nil {
				t.Fatal(err)
			}
			for i := range c.events {
				action := "continue"
				if i == c.events-1 {
					action = c.last
				}
				s.write(chainRecords(chainRecords(nil, fmt.Sprintf("x%d", i), id, "s2", action), fmt.Sprintf("y%d", i), request, "s2", action))
			}
			if c.indexed {
				s.index()
			}
			for id, want := range map[string]query.Found{
				id:      {Kind: query.OfChain, Chains: []string{id}},
				request: {Kind: query.OfApproval, Chains: []string{"asked"}},
			} {
				got, err := s.open().Find(t.Context(), id, func() bool { return true })
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s: %v (-want +got):\n%s", id, err, diff)
				}
			}
			if c, err := s.open().Chain(t.Context(), id); err != nil || len(c.Records) != 3 {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func TestTheIndexLacksNothingThatTheLogHas(t *testing.T) {
	s := newSearched(t)
	s.write(chainRecords(nil, "c1", "e1", "s1", "deny"))
	s.index()
	s.write(chainRecords(nil, "c2", "e2", "s1", "deny")) // later than the index
	for id, want := range map[string]string{"e1": "c1", "e2": "c2", "": "c2"} {
		got, err := s.open().Find(t.Context(), id, nil)
		if err != nil || got.Chains[0] != want {
			t.Errorf("%q: %+v, %v", id, got, err)
		}
		if c, err := s.open().Chain(t.Context(), want); err != nil || len(c.Records) != 3 || c.Records[0].Rule != "worker.yaml:7 "+want {
			t.Errorf("%s: %+v, %v", want, c, err)
		}
	}
}

// From the event id of a denial to the rule, in a log of a million records, needs a
// small part of the work of reading the log.
func TestALookUpDoesNotReadTheLog(t *testing.T) {
	records := testkit.Volume(t, 3_000, 60_000, 1_000_000)
	s := newSearched(t)
	var body []byte
	chains := records / 3
	id := func(i int) string { return fmt.Sprintf("0194c3f2-7a51-7000-8000-%012d", i) }
	for i := range chains {
		action := "continue"
		if i == chains/3 {
			action = "deny"
		}
		if body = chainRecords(body, id(i), "toolu_"+id(i), fmt.Sprintf("session-%d", i%100), action); len(body) > 200<<10 || i == chains-1 {
			s.write(body)
			body = body[:0]
		}
	}
	began := time.Now()
	s.index()
	indexing := time.Since(began)
	scan := func() time.Duration {
		began, n := time.Now(), 0
		err := s.open().Query(t.Context(), query.Filter{}, func(query.Record) error { n++; return nil })
		if err != nil || n != chains*3 {
			t.Fatalf("%d records, %v", n, err)
		}
		return time.Since(began)
	}()
	lookUp := func(ask string) (took, work time.Duration) {
		began, used := time.Now(), cpuTime(t)
		l := s.open()
		found, err := l.Find(t.Context(), ask, nil)
		if err != nil {
			t.Fatalf("%q: %v", ask, err)
		}
		c, err := l.Chain(t.Context(), found.Chains[0])
		if err != nil || c.Records[0].Rule == "" {
			t.Fatalf("%q: %+v, %v", ask, c, err)
		}
		return time.Since(began), cpuTime(t) - used
	}
	var slowest, work time.Duration
	for _, ask := range []string{"toolu_" + id(chains/3), id(chains / 3), "toolu_" + id(0), "toolu_" + id(chains-1), ""} {
		took, used := lookUp(ask)
		again, usedAgain := lookUp(ask) // a collection of this test's garbage may fall into one of them
		slowest, work = max(slowest, min(took, again)), max(work, min(used, usedAgain))
	}
	t.Logf("%d records: indexed in %v, read in %v, a look-up takes %v at most (1/%d), and %v of CPU time, the server's included", chains*3, indexing, scan, slowest, scan/slowest, work)
	if records >= 60_000 && scan < 4*slowest {
		t.Errorf("a look-up takes %v, the whole log %v", slowest, scan)
	}
	limit := 200 * time.Millisecond // of CPU time, which other work of the machine does not lengthen
	if len(testkit.RaceFlags) > 0 {
		limit *= 10
	}
	if work > limit {
		t.Errorf("a look-up takes %v of CPU time, at most %v are allowed", work, limit)
	}
}
