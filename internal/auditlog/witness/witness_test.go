package witness_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAnHonestLogIsSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	stop, _ := b.run()
	b.until("HOOKS_AUDIT", 3)
	for i := range 5 {
		b.write(2, "fine")
		b.sign()
		b.until("HOOKS_AUDIT", int64(5+2*i))
	}
	b.sign() // the same size again, as a router does that ends
	b.write(1, "fine")
	b.sign()
	b.until("HOOKS_AUDIT", 14)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if e := <-b.events; e.Kind != "started" {
		t.Errorf("the first event is %+v; want that it started", e)
	}
	if e := <-b.events; e.Kind != "signed" || e.Size != 3 || e.Origin != "hooks/HOOKS_AUDIT" {
		t.Errorf("the second event is %+v; want that it signed size 3", e)
	}
}

func TestAWitnessGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	for i := range 100 { // a week, in which nobody looked
		b.write(1+i/99*100, "fine")
		b.sign()
	}
	b.must(b.once())
	if got := b.published("HOOKS_AUDIT"); got != 203 {
		t.Errorf("it has signed size %d; want 203", got)
	}
	if got := b.cosigned(); got != 2 {
		t.Errorf("it has published %d signatures; want 2: only the last checkpoint of what it caught up with", got)
	}
	b.must(b.once())
	if got := b.cosigned(); got != 2 {
		t.Errorf("it has published %d signatures; want no more where nothing is new", got)
	}
	info, err := os.Stat(b.state)
	b.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the state has mode %v; want 0600", info.Mode())
	}
}

func TestAWitnessFollowsTheSegments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	stop, _ := b.run()
	b.until("HOOKS_AUDIT", 3)
	for i := 2; i <= 4; i++ {
		b.write(1, "fine")
		b.sign()
		b.rotate()
		b.write(2, "fine")
		b.sign()
		b.until(fmt.Sprintf("HOOKS_AUDIT_%d", i), 2)
	}
	if got := b.published("HOOKS_AUDIT"); got != 4 {
		t.Errorf("of the first segment it has signed size %d; want its end, 4", got)
	}
	b.must(stop())
	b.must(b.bus.RemoveStream(t.Context(), "HOOKS_AUDIT"))
	b.write(1, "fine")
	b.sign()
	b.must(b.once())
	b.must(os.Remove(b.state)) // and another one, that has not seen what was removed
	b.must(b.bus.RemoveStream(t.Context(), "HOOKS_AUDIT_2"))
	b.write(1, "fine")
	b.sign()
	b.must(b.once())
	if got := b.published("HOOKS_AUDIT_4"); got != 4 {
		t.Errorf("of the fourth segment it has signed size %d; want 4", got)
	}
}

// TestLaggingReplicaIsNoConflict: a replica that lags shows less for a moment.
func TestLaggingReplicaIsNoConflict(t *testing.T) {
	t.Parallel()
	b := newBenchIn(t, audit.LineFormat)
	b.write(3, "fine")
	b.sign()
	bodies := b.bodies()
	b.must(b.once())
	for len(b.events) > 0 {
		<-b.events
	}
	o := b.options()
	o.Grace = time.Hour
	b.recreate("HOOKS_AUDIT")
	stop, _ := b.runWith(o)
	b.waiting("ends after message 0, but 3 were seen")
	for _, body := range bodies {
		_, err := b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), body)
		b.must(err)
	}
	b.write(1, "fine")
	b.sign()
	b.until("HOOKS_AUDIT", 4)
	b.must(stop())
}

func TestAWitnessOutlivesTheServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	o := b.options()
	o.Every = 400 * time.Millisecond // so long that it asks nothing while the server stops: it would wait 5 s for the answer
	stop, done := b.runWith(o)
	b.until("HOOKS_AUDIT", 3)
	b.restart()
	b.bus.Close()
	b.bus = b.connect()
	var err error
	b.js, err = jetstream.New(b.bus.Conn())
	b.must(err)
	b.trail, err = store.Open(t.Context(), b.bus, 0)
	b.must(err)
	b.segment = b.trail.Live()
	b.write(2, "fine")
	b.sign()
	b.until("HOOKS_AUDIT", 5)
	select {
	case err := <-done:
		t.Fatalf("the witness ended: %v", err)
	default:
	}
	b.must(stop())
}
