package console

import (
	"net/http"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/webhook/answerlink"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// linked is what a link shows: the approval request and the link's answer.
type linked struct {
	Approval approval.Request   `json:"approval"`
	Agent    string             `json:"agent"`             // as it claims
	Emitter  string             `json:"emitter,omitempty"` // the proven sender
	Option   string             `json:"option"`            // that the link answers with
	View     approvalview.View  `json:"view"`
	Decision *approval.Decision `json:"decision"` // null while nobody has answered
}

// linkAnswer is the body of an answer through a link.
type linkAnswer struct {
	By   string `json:"by"`
	Note string `json:"note"`
}

// linked returns what a link is about. The link's token is the bearer token.
func (c *Console) linked(r *http.Request) (linked, error) {
	token, _ := bearer(r)
	id, ok := answerlink.ID(token)
	if !ok || len(c.o.Links) == 0 {
		return linked{}, c.wrongLink(r)
	}
	record, err := c.o.Approvals.Get(r.Context(), id)
	if wire.CodeOf(err) == wire.NotFound {
		return linked{}, c.wrongLink(r)
	}
	if err != nil {
		return linked{}, err
	}
	now := time.Now()
	if record.Decision != nil {
		now = record.Created.Time // a used link still shows the decision
	}
	option, err := c.o.Links.Check(token, record.Request, now)
	switch {
	case answerlink.Expired(err):
		return linked{}, wire.Errorf(http.StatusGone, "%v", err)
	case err != nil:
		return linked{}, c.wrongLink(r)
	}
	return linked{record.Request, record.Agent, record.Emitter, option, approvalview.Of(record), record.Decision}, nil
}

// wrongLink counts a wrong link like a wrong token, and reveals nothing else.
func (c *Console) wrongLink(r *http.Request) error {
	return c.access.wrong.Wrong(r.RemoteAddr, "the link is not valid: open it just as it was sent")
}

// showLink answers GET /v1/link. It changes nothing, so that link previews do no harm.
func (c *Console) showLink(_ http.ResponseWriter, r *http.Request) (any, error) { return c.linked(r) }

// answerLink answers POST /v1/link: it gives the link's answer to the approval request.
func (c *Console) answerLink(w http.ResponseWriter, r *http.Request) (any, error) {
	l, err := c.linked(r)
	if err != nil {
		return nil, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	var given linkAnswer
	if len(body) > 0 && decode(body, &given) != nil {
		return nil, wire.Errorf(wire.Malformed, `the body is malformed: it must be empty, or a JSON object such as {"by":"ann","note":"a test machine"}`)
	}
	answer := approval.Answer{Option: l.Option, By: given.By, Note: given.Note, DataSHA256: l.Approval.DataSHA256}
	decision, err := c.o.Approvals.Answer(r.Context(), l.Approval.ID, answer, answerlink.Who)
	if err != nil {
		return nil, err
	}
	c.o.Log.Info("approval request answered", "approval_id", l.Approval.ID, "option", decision.Option, "granted", decision.Granted,
		"by", answerlink.Who, "address", r.RemoteAddr)
	return agentapi.Answered(r.Context(), c.o.Approvals, l.Approval.ID, decision), nil
}
