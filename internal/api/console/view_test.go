package console_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/approvalview"
)

func TestTheViewIsWhatATerminalShows(t *testing.T) {
	svc := newMemory()
	q := question("q")
	q.Event, q.Data = "tool:pre", json.RawMessage(`{"tool_name":"Edit","tool_input":{"file_path":"/x","old_string":"a\nb c\n","new_string":"a\nb d\n"}}`)
	svc.ask(q)
	c := open(t, console.Options{Approvals: svc})
	r := ask(c, "GET", "/v1/approvals/q/view", "")
	view := decode[approvalview.View](t, r)
	if r.Code != http.StatusOK || len(view.Edits) != 1 || view.Edits[0].Diff.Added != 1 || view.Subject[0].Text != "/x" || len(view.Rest) != 2 {
		t.Errorf("%d %+v", r.Code, view)
	}
	if r := ask(c, "GET", "/v1/approvals/q/view", "", "Authorization", ""); r.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", r.Code)
	}
	if r := ask(c, "GET", "/v1/approvals/none/view", ""); r.Code != http.StatusNotFound {
		t.Errorf("of an unknown one: %d", r.Code)
	}
}
