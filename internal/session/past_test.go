package session_test

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// A router that stands still between a decision and its memory remembers it late: after an
// operator was told, by another router, that nothing is allowed any more.
func TestNoGrantAfterARevocation(t *testing.T) {
	t.Parallel()
	for name, revoked := range map[string]string{"of the agent": "s1\x00" + coder, "of every agent": "s1"} {
		for _, scope := range []string{"", approval.ScopeLineage, approval.ScopeAgent} {
			t.Run(name+" "+scope, func(t *testing.T) {
				t.Parallel()
				server := natstest.Server(t)
				slow, other := open(t, server), open(t, server)
				d := scoped(scope, time.Now().Add(time.Hour))
				asked := of("a1", coder, "s1")
				if _, err := other.Revoke(t.Context(), revoked, "", ""); err != nil {
					t.Fatal(err)
				}
				if err := slow.Remember(t.Context(), asked, d); err != nil {
					t.Fatal(err)
				}
				if got := answers(t, other, of("", coder, "s1")); got != "" {
					t.Errorf("answered by %q after the revocation", got)
				}
				again := of("a2", coder, "s1")
				again.Epoch = 1
				if err := slow.Remember(t.Context(), again, d); err != nil {
					t.Fatal(err)
				}
				if got := answers(t, other, of("", coder, "s1")); got != "a2" {
					t.Errorf("answered by %q; want the approval of what was asked after the revocation", got)
				}
			})
		}
	}
}

// What is granted to a tree ends with its root, also if the root ended before the answer.
func TestNoGrantForATreeWhoseRootEnded(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	asked := of("a1", coder, "s2")
	if err := store.End(t.Context(), "s1\x00"+coder); err != nil {
		t.Fatal(err)
	}
	if err := store.Remember(t.Context(), asked, scoped(approval.ScopeLineage, time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, store, of("", coder, "s3")); got != "" {
		t.Errorf("answered by %q", got)
	}
}

// A request without a session is never past.
func TestWithoutASessionNothingIsPast(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	if _, err := store.Revoke(t.Context(), "", "", ""); err != nil {
		t.Fatal(err)
	}
	if past, err := store.Past(t.Context(), of("a1", coder, "")); past || err != nil {
		t.Errorf("past: %v, %v", past, err)
	}
}
