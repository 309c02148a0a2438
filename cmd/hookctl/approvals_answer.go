package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type approvalsAnswerCmd struct {
	ID        string `arg:"" help:"Id of the question, which approvals lists."`
	Option    string `arg:"" optional:"" help:"The answer: an option of the question, in any case of letters; without one, they are named."`
	Note      string `placeholder:"TEXT" help:"Why, for the record."`
	By        string `placeholder:"NAME" help:"Who answers; default: the user of this machine. The record keeps it beside what the connection proves."`
	SHA256    string `name:"sha256" placeholder:"DIGEST" help:"Answer only for this data, as show showed its digest; default: the data as it is known now."`
	AnyOption bool   `help:"Let an answer that is not offered decide too: it denies, unless it is Allow, Allow once or Allow always."`
}

// answered is the JSON form of an accepted answer.
type answered struct {
	ID     string `json:"id"`
	Status string `json:"status"` // accepted
	Option string `json:"option"`
}

// Run answers.
func (c *approvalsAnswerCmd) Run(ctx context.Context, e *env) error {
	a, closeBus, err := e.approver(ctx)
	if err != nil {
		return err
	}
	defer closeBus()
	if c.SHA256 == "" || c.Option == "" {
		r, err := a.Get(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("answer approval %s: %w", c.ID, cmp.Or(errors.Unwrap(err), err)) // it is not shown here
		}
		if c.Option == "" {
			return fmt.Errorf("answer approval %s: say which option: %s", c.ID, quoted(r.Options))
		}
		c.SHA256 = r.DataSHA256
	}
	option, err := a.Answer(ctx, c.ID, approval.Answer{
		Option: c.Option, By: cmp.Or(c.By, osUser()), Note: c.Note, DataSHA256: c.SHA256, FreeText: c.AnyOption,
	})
	switch {
	case err != nil:
		return closedOr(err)
	case e.out.json:
		e.out.document(answered{c.ID, "accepted", option})
	default:
		e.out.print("accepted: %s\n", printable(option))
	}
	return nil
}

// quoted are options as they are typed: each is one argument.
func quoted(options []string) string {
	list := make([]string, len(options))
	for i, option := range options {
		list[i] = strconv.Quote(option)
	}
	return strings.Join(list, ", ")
}

// closedError is a refusal of an answer that came too late: nothing changed.
type closedError struct{ error }

func (e closedError) Unwrap() error { return e.error }

// closedOr is err, as a closedError where it is one.
func closedOr(err error) error {
	refusal, ok := errors.AsType[*approver.Refusal](err)
	if ok && (refusal.Code == wire.Conflict || refusal.Code == wire.Gone) {
		return closedError{err}
	}
	return err
}
