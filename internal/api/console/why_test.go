package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/wire"
)

func TestWhyNeedsAccess(t *testing.T) {
	var asked []string
	c := open(t, console.Options{Approvals: newMemory(), Why: func(_ context.Context, id string) ([]byte, error) {
		asked = append(asked, id)
		if id == "unknown" {
			return nil, wire.Errorf(wire.NotFound, "nothing")
		}
		return []byte(`{"verdict":"denied"}`), nil
	}})
	if r := ask(c, "GET", "/v1/why?id=e1", "", "Authorization", ""); r.Code != http.StatusUnauthorized || len(asked) > 0 {
		t.Errorf("without a token: %d, %q is asked", r.Code, asked)
	}
	if r := ask(c, "GET", "/v1/why?id=a%2Fb%20c", ""); r.Code != http.StatusOK || strings.TrimSpace(r.Body.String()) != `{"verdict":"denied"}` || asked[0] != "a/b c" {
		t.Errorf("%d %s, %q is asked", r.Code, r.Body, asked)
	}
	if r := ask(c, "GET", "/v1/why", ""); r.Code != http.StatusOK || asked[1] != "" {
		t.Errorf("of the last denial: %d, %q", r.Code, asked)
	}
	if r := ask(c, "GET", "/v1/why?id=unknown", ""); r.Code != http.StatusNotFound {
		t.Errorf("of an unknown id: %d", r.Code)
	}
	if r := ask(c, "GET", "/v1/why?id="+strings.Repeat("x", 5000), ""); r.Code != http.StatusBadRequest || len(asked) != 3 {
		t.Errorf("of a long id: %d", r.Code)
	}
	// The page itself holds nothing, and needs no token: what it asks for does.
	r := ask(c, "GET", "/why/0194c3f2-7a51-7000-8000-000000000001", "", "Authorization", "")
	if r.Code != http.StatusOK || !strings.Contains(r.Body.String(), `id="why-verdict"`) || strings.Contains(r.Body.String(), "0194c3f2") {
		t.Errorf("the page is %d %.300s", r.Code, r.Body)
	}
	none := open(t, console.Options{Approvals: newMemory()})
	if r := ask(none, "GET", "/v1/why", ""); r.Code != http.StatusServiceUnavailable {
		t.Errorf("without a log: %d", r.Code)
	}
}
