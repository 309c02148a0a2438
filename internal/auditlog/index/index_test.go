package index_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// fixture is a log with an indexer.
type fixture struct {
	t    *testing.T
	bus  *natsx.Conn
	log  *store.Log
	x    *index.Indexer
	last uint64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	bus := natstest.Connect(t, natsx.Options{URL: natstest.Listening(t).ClientURL()})
	log, err := store.Open(t.Context(), bus, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, bus: bus, log: log, x: index.NewIndexer(bus, log, "a", 1, nil)}
}

// write appends messages of one record each, from one number to another.
func (f *fixture) write(from, to int) {
	f.t.Helper()
	for i := from; i <= to; i++ {
		f.append(audit.Record{Kind: audit.ChainResult, ChainID: fmt.Sprintf("chain-%d", i), EventID: fmt.Sprintf("event-%d", i), Session: fmt.Sprintf("s%d", i%7), Action: "continue"})
	}
}

func (f *fixture) append(records ...audit.Record) {
	f.t.Helper()
	var body []byte
	for _, r := range records {
		body = r.Append(body)
	}
	var err error
	if f.last, err = f.log.Live().Append(f.t.Context(), f.bus.Of("audit", "w", "w1"), "", f.last, body); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) look(x *index.Indexer) {
	f.t.Helper()
	if err := x.Look(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// find returns the sequences of the messages in the live segment.
func (f *fixture) find(id string) (list []uint64) {
	f.t.Helper()
	x, err := index.Open(f.t.Context(), f.bus, f.log)
	if err != nil {
		f.t.Fatal(err)
	}
	_, err = x.Find(f.t.Context(), f.log.Live(), id, func(msg natsx.Record) (bool, error) {
		list = append(list, msg.Sequence)
		return true, nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

func (f *fixture) keys() []string {
	f.t.Helper()
	bucket, err := f.bus.FindBucket(f.t.Context(), index.Bucket("hooks", 1).Name)
	if err != nil {
		f.t.Fatal(err)
	}
	times, err := bucket.KeyTimes(f.t.Context(), "")
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, k := range times {
		names = append(names, k.Key)
	}
	slices.Sort(names)
	return names
}

func (f *fixture) want(id string, sequences ...uint64) {
	f.t.Helper()
	if diff := cmp.Diff(sequences, f.find(id)); diff != "" {
		f.t.Errorf("%q (-want +got):\n%s", id, diff)
	}
}

func TestIdsAreFoundInBlocksAndBehindThem(t *testing.T) {
	f := newFixture(t)
	f.write(1, 3000)
	f.look(f.x)
	f.write(3001, 3010) // what no look has seen
	for _, n := range []int{1, 2048, 2049, 3000, 3001, 3010} {
		f.want(fmt.Sprintf("chain-%d", n), uint64(n))
		f.want(fmt.Sprintf("event-%d", n), uint64(n))
	}
	f.want("chain-3011")
	if got := f.find("s3"); len(got) != 430 || !slices.IsSortedFunc(got, func(a, b uint64) int { return int(b) - int(a) }) || got[0] != 3006 || got[429] != 3 {
		t.Errorf("of a session there are %d messages, %v", len(got), got)
	}
}

func TestTheIndexIsBuiltAgainFromTheLog(t *testing.T) {
	f := newFixture(t)
	f.write(1, 2100)
	f.look(f.x)
	before := f.keys()
	bucket, err := f.bus.FindBucket(t.Context(), index.Bucket("hooks", 1).Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Erase(t.Context(), ">"); err != nil {
		t.Fatal(err)
	}
	f.want("event-7", 7) // without a block, all is read
	f.look(index.NewIndexer(f.bus, f.log, "b", 1, nil))
	if diff := cmp.Diff(before, f.keys()); diff != "" {
		t.Errorf("it is another one (-before +after):\n%s", diff)
	}
	f.want("event-7", 7)
}

func TestOneOfSeveralIndexersWrites(t *testing.T) {
	f := newFixture(t)
	f.write(1, 10)
	f.look(f.x)
	standby := index.NewIndexer(f.bus, f.log, "b", 1, nil)
	for range 3 { // the first one goes on
		f.look(standby)
		f.look(f.x)
	}
	f.write(11, 2050)
	f.look(standby)
	if slices.Contains(f.keys(), "head.1") {
		t.Fatal("a standby has written")
	}
	for range 6 { // nobody renews any more
		f.look(standby)
	}
	if !slices.Contains(f.keys(), "head.1") {
		t.Error("nobody has taken over")
	}
	f.look(f.x) // it is back, and finds the lease taken
	f.want("event-2000", 2000)
	f.want("event-2050", 2050)
}

func TestASegmentThatIsClosedIsIndexedToItsEnd(t *testing.T) {
	f := newFixture(t)
	f.write(1, 5)
	sealed, err := f.log.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.last = 0
	f.write(6, 7)
	f.look(f.x)
	if keys := f.keys(); !slices.Contains(keys, "head.1") || slices.Contains(keys, "head.2") {
		t.Errorf("the keys are %v", keys)
	}
	x, err := index.Open(t.Context(), f.bus, f.log)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := x.Find(t.Context(), sealed, "event-4", func(natsx.Record) (bool, error) { n++; return true, nil }); err != nil || n != 1 {
		t.Errorf("%d messages, %v", n, err)
	}
	f.want("event-6", 1)
}

func TestTheIndexOfAnotherLogHidesNothing(t *testing.T) {
	f := newFixture(t)
	f.write(1, 2100)
	f.look(f.x)
	js, err := jetstream.New(f.bus.Conn())
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), f.log.Live().Name()); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context(), f.bus, 1)
	if err != nil {
		t.Fatal(err)
	}
	f.log, f.last = again, 0
	f.write(9001, 9003)
	f.want("event-9002", 2)
	f.want("event-7")
}

// An agent chooses its ids and its data: neither hides what is recorded of it, nor puts
// it where it is not.
func TestWhatAnAgentWritesIsNoId(t *testing.T) {
	f := newFixture(t)
	odd := "a\"},{\"event_id\":\"b\\"
	f.append(audit.Record{Kind: audit.HookResult, ChainID: "c1", EventID: odd, Session: `":{`, Detail: audit.Call{
		Reason: `":{"approval_id":"x"`, Data: &audit.Data{Value: []byte(`{"event_id":"nested","chain_id":"c9"}`)},
	}}, audit.Record{Kind: audit.ChainResult, ChainID: "c1", Action: "deny", EventID: odd, Detail: audit.Chain{
		Reason: `\`, ApprovalID: "q1", In: &audit.Data{Value: []byte(`{"session_id":"nested","k":["]",{"a":"\\"}]}`)},
	}})
	f.append(audit.Record{Kind: audit.ChainResult, ChainID: "c2", Action: "continue", EventID: strings.Repeat("x", 5000)})
	f.look(f.x)
	f.want(odd, 1)
	f.want(`":{`, 1)
	f.want("q1", 1)
	f.want("c1", 1)
	f.want("c2", 2)
	f.want(index.Denied, 1)
	for _, no := range []string{"nested", "c9", "x", "b", "b\\"} {
		f.want(no)
	}
}

func TestRunIndexes(t *testing.T) {
	f := newFixture(t)
	f.write(1, 2048)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.x.Run(ctx) }()
	testkit.Eventually(t, "a block is written", func() bool {
		_, err := index.Open(t.Context(), f.bus, f.log)
		return err == nil && slices.Contains(f.keys(), "head.1")
	})
	stop()
	testkit.Closed(t, "the indexer", done)
}
