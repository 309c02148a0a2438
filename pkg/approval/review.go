package approval

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Review is an answer that did not end its request: the approval of one of several people, or a
// note that passes the request on.
type Review struct {
	By      string `json:"by"`               // the proven identity
	Person  string `json:"person,omitempty"` // the person with that identity; empty if the router knows none
	Model   bool   `json:"model,omitempty"`  // the identity is a model's
	Option  string `json:"option,omitempty"` // the option that allows; empty if the request was passed on
	Note    string `json:"note,omitempty"`
	Claimed string `json:"claimed_by,omitempty"` // the claimed name
	Time    Time   `json:"time"`
}

// Allows reports whether the review is an approval.
func (r Review) Allows() bool { return r.Option != "" && !r.Model }

// Who returns the name of the reviewer: the person, or else the identity.
func (r Review) Who() string { return cmp.Or(r.Person, r.By) }

// String describes the review in a sentence.
func (r Review) String() string {
	did := " passed it on"
	if r.Allows() {
		did = " allowed"
	}
	if r.Model {
		did = " (a model)" + did
	}
	if r.Note != "" {
		did += ": " + r.Note
	}
	return r.Who() + did
}

// EventReviewed is the event that reports an answer that did not end its request. Its data is the
// [Request] with its new Reviews and Progress.
const EventReviewed = "approval:reviewed"

// Pass returns the review for an answer with [Answer.Pass]. who is the proven identity that
// answered at now. Errors are as for [Decide].
func Pass(q Request, a Answer, who string, now time.Time) (Review, error) {
	if err := a.checkFor(q, now); err != nil {
		return Review{}, err
	}
	return Review{By: cmp.Or(who, Unauthenticated), Claimed: a.By, Note: a.Note, Time: At(now)}, nil
}

// checkFor validates an answer to this request.
func (a Answer) checkFor(q Request, now time.Time) error {
	if err := a.check(); err != nil {
		return err
	}
	if !now.Before(q.Expires.Time) {
		return fmt.Errorf("%w: it could be answered until %s", ErrExpired, q.Expires)
	}
	if a.DataSHA256 != "" && !strings.EqualFold(a.DataSHA256, q.DataSHA256) {
		return fmt.Errorf("%w: data_sha256 of the approval request is %s: look at it again before you answer", ErrOtherData, q.DataSHA256)
	}
	return nil
}

func (r Review) write(w *events.ObjectWriter) {
	w.String("by", r.By)
	w.Text("person", r.Person)
	w.Flag("model", r.Model)
	w.Text("option", r.Option)
	w.Text("note", r.Note)
	w.Text("claimed_by", r.Claimed)
	w.String("time", r.Time.String())
}
