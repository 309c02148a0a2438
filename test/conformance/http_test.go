package conformance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// anybody has one token.
type anybody struct{}

func (anybody) Bearer(token string) (label string, ok bool) { return "agent/conformance", token == "t" }

// TestConformanceOverHTTP replays the suite, a part of it at the smallest volume, with an
// agent that speaks HTTP.
func TestConformanceOverHTTP(t *testing.T) {
	t.Parallel()
	cases, err := Load("testdata/public.json")
	if err != nil {
		t.Fatal(err)
	}
	server := natstest.Server(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	nth := testkit.Volume(t, 16, 1, 1)
	for _, prefix := range []string{"web0", "web1", "web2", "web3", "web4", "web5"} {
		r, _ := routertest.Start(t, server, router.Options{}, natsx.Options{Prefix: prefix})
		api := httptest.NewServer(httpapi.New(httpapi.Options{Agents: r.Agents(), Identities: anybody{}}).Handler())
		t.Cleanup(api.Close)
		target := Target{Conn: natstest.Conn(t, server), Prefix: prefix, HTTP: api.URL, Token: "t"}
		mine := cases[prefix[3]-'0':]
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			for i := 0; i < len(mine); i += 6 * nth {
				c := mine[i]
				if c.Name == "approval-cache-across-events" {
					continue // of two hooks with one name: where a sender is proven, a grant is for one hook
				}
				t.Run(c.Name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
					defer cancel()
					if err := Run(ctx, target, c); err != nil {
						t.Errorf("case %s:\n%v", c.Name, err)
					}
				})
			}
		})
	}
}
