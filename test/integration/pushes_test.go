package integration

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Of several pushes at once one is stored. The log tells which: it says of the others that they
// were refused.
func TestThePushThatIsStoredIsRecorded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	secret, _, err := note.GenerateKey(rand.Reader, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	var pushes sync.WaitGroup
	stored := make(chan string, 8)
	for i := range cap(stored) {
		b, err := bundle.Seal(key, bundle.Statement{Name: "p", Serial: 1, Use: bundle.Enforce, Created: time.Now()}, []bundle.File{{Name: "worker.yaml", Text: fmt.Sprint("# ", i)}})
		if err != nil {
			t.Fatal(err)
		}
		pushes.Go(func() {
			m, err := nc.RequestMsg(&nats.Msg{Subject: "hooks.policy.push", Header: nats.Header{"Hook-Revision": {"0"}}, Data: b.Raw}, testkit.Patience)
			if err != nil {
				t.Error(err)
			} else if c := code(m); c == "" {
				stored <- b.Version()
			} else if c != "409" {
				t.Errorf("a push that is too late gets %s", c)
			}
		})
	}
	pushes.Wait()
	close(stored)
	conn := natstest.Connect(t, natsx.Options{InProcess: s})
	log, err := query.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	stands := map[string]int{}
	err = log.Query(t.Context(), query.Filter{Kinds: []audit.Kind{audit.PolicyKind}}, func(r query.Record) error {
		if r.Action == "refused" {
			stands[r.Policy]--
		} else {
			stands[r.Policy]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := <-stored
	if _, more := <-stored; more {
		t.Error("two pushes were stored")
	}
	for version, n := range stands {
		if (version == want) != (n == 1) || n < 0 || n > 1 {
			t.Errorf("the log says %d times that %s is stored; %s is", n, version, want)
		}
	}
	if stands[want] != 1 {
		t.Errorf("the log does not say that %s is stored: %v", want, stands)
	}
}
