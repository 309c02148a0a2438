package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/webhook/answerlink"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

var links = answerlink.Derive([][]byte{[]byte("0123456789abcdef0123456789abcdef")})

// linkOf is the Authorization header of who opened a link.
func linkOf(q approval.Record, option int) string {
	_, token, _ := strings.Cut(links.URL("", q.Request, option), "#")
	return "Bearer " + token
}

func TestALinkAnswersOnce(t *testing.T) {
	svc := newMemory()
	svc.ask(question("q"))
	q, _ := svc.Get(t.Context(), "q")
	c := open(t, console.Options{Approvals: svc, Links: links})
	type page struct {
		Option   string
		Approval approval.Request
		Decision *approval.Decision
	}
	for range 2 { // as previews of links do
		if p := decode[page](t, ask(c, "GET", "/v1/link", "", "Authorization", linkOf(q, 1))); p.Option != q.Options[1] || p.Approval.ID != "q" || p.Decision != nil {
			t.Fatalf("the link shows %+v", p)
		}
	}
	if r := ask(c, "POST", "/v1/link", `{"by":"ann","note":"not now"}`, "Authorization", linkOf(q, 1)); r.Code != http.StatusOK {
		t.Fatalf("the answer: %d %s", r.Code, r.Body)
	}
	if d := svc.decision("q"); d == nil || d.Option != q.Options[1] || d.DecidedBy != answerlink.Who || d.ClaimedBy != "ann" || d.Note != "not now" {
		t.Errorf("decision %+v", d)
	}
	if r := ask(c, "POST", "/v1/link", "", "Authorization", linkOf(q, 0)); r.Code != http.StatusConflict {
		t.Errorf("the other link: %d %s", r.Code, r.Body)
	}
	if p := decode[page](t, ask(c, "GET", "/v1/link", "", "Authorization", linkOf(q, 0))); p.Decision == nil {
		t.Error("the used link does not show the decision")
	}
}

func TestALinkGivesNoOtherAccess(t *testing.T) {
	svc := newMemory()
	svc.ask(question("q"))
	svc.ask(question("other"))
	late := question("late")
	late.Expires = approval.At(time.Now().Add(-time.Second))
	svc.ask(late)
	q, _ := svc.Get(t.Context(), "q")
	c := open(t, console.Options{Approvals: svc, Links: links})
	for _, path := range []string{"/v1/approvals", "/v1/approvals/q", "/v1/why", "/v1/registry"} {
		if r := ask(c, "GET", path, "", "Authorization", linkOf(q, 0)); r.Code != http.StatusUnauthorized {
			t.Errorf("%s with a link: %d", path, r.Code)
		}
	}
	if r := ask(c, "POST", "/v1/approvals/q", `{"option":"Deny"}`, "Authorization", linkOf(q, 0)); r.Code != http.StatusUnauthorized {
		t.Errorf("an answer with a link as a token: %d", r.Code)
	}
	forged := strings.Replace(linkOf(q, 0), " q.", " other.", 1)
	for name, header := range map[string]string{"the console's token": right, "another request": forged, "none": ""} {
		if r := ask(c, "POST", "/v1/link", "", "Authorization", header); r.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, r.Code, r.Body)
		}
	}
	if r := ask(c, "POST", "/v1/link", "", "Authorization", linkOf(late, 0)); r.Code != http.StatusGone {
		t.Errorf("a link that has expired: %d %s", r.Code, r.Body)
	}
	if r := ask(c, "POST", "/v1/link", "", "Authorization", linkOf(q, 0), "Origin", "https://evil.example"); r.Code != http.StatusForbidden {
		t.Errorf("from another page: %d", r.Code)
	}
	if svc.decision("q") != nil || svc.decision("other") != nil || svc.decision("late") != nil {
		t.Error("something was answered")
	}
	off := open(t, console.Options{Approvals: svc})
	if r := ask(off, "POST", "/v1/link", "", "Authorization", linkOf(q, 0)); r.Code != http.StatusUnauthorized {
		t.Errorf("where links are off: %d", r.Code)
	}
}

func TestWrongLinksAreThrottled(t *testing.T) {
	svc := newMemory()
	svc.ask(question("q"))
	c := open(t, console.Options{Approvals: svc, Links: links})
	for range 10 {
		ask(c, "GET", "/v1/link", "", "Authorization", "Bearer q.0.AAAAAAAAAAAAAAAAAAAAAA")
	}
	if r := ask(c, "GET", "/v1/link", "", "Authorization", "Bearer q.0.AAAAAAAAAAAAAAAAAAAAAA"); r.Code != http.StatusTooManyRequests {
		t.Errorf("the eleventh guess: %d", r.Code)
	}
	q, _ := svc.Get(t.Context(), "q")
	if r := ask(c, "GET", "/v1/link", "", "Authorization", linkOf(q, 0)); r.Code != http.StatusOK {
		t.Errorf("a right link after wrong ones: %d", r.Code)
	}
}
