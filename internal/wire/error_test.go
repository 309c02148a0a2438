package wire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestEveryErrorHasOneCode(t *testing.T) {
	t.Parallel()
	refused := wire.Errorf(wire.Overloaded, "try again later")
	for name, c := range map[string]struct {
		err  error
		want *wire.Error
	}{
		"no error": {nil, nil},
		"an error with a code keeps its code and its text":   {refused, refused},
		"so does one that is wrapped":                        {fmt.Errorf("register: %w", refused), refused},
		"a deadline":                                         {context.DeadlineExceeded, &wire.Error{Code: wire.Deadline, Text: "context deadline exceeded"}},
		"a wrapped deadline":                                 {fmt.Errorf("call: %w", context.DeadlineExceeded), &wire.Error{Code: wire.Deadline, Text: "call: context deadline exceeded"}},
		"an answer that is malformed":                        {approval.ErrMalformed, &wire.Error{Code: wire.Malformed, Text: "malformed answer"}},
		"an answer with an option that was not offered":      {approval.ErrNotOffered, &wire.Error{Code: wire.Malformed, Text: "option not offered"}},
		"an answer to other data":                            {fmt.Errorf("%w: look again", approval.ErrOtherData), &wire.Error{Code: wire.Conflict, Text: "answer to other data: look again"}},
		"an answer after the deadline of the approval":       {approval.ErrExpired, &wire.Error{Code: wire.Gone, Text: "approval expired"}},
		"anything else is a defect of the answering program": {errors.New("nil map"), &wire.Error{Code: wire.Internal, Text: "nil map"}},
		"a shutdown": {context.Canceled, &wire.Error{
			Code: wire.Deadline, Text: "the time to shut down was over before this was done: nothing was decided",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, wire.FromError(c.err)); diff != "" {
				t.Errorf("FromError(%v) (-want +got):\n%s", c.err, diff)
			}
		})
	}
}

func TestCodeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("no code"), 0},
		{context.DeadlineExceeded, 0}, // no answer from the other side
		{fmt.Errorf("answer: %w", wire.Errorf(wire.Gone, "too late")), wire.Gone},
	} {
		if got := wire.CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestAnErrorComesBackFromItsHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent *wire.Error
		text string // as it is read; "" if unchanged
	}{
		"a sentence":              {sent: wire.Errorf(wire.Conflict, "the id %q is taken", "a")},
		"line breaks":             {wire.Errorf(wire.Malformed, "one\r\ntwo\x7f"), "one  two "},
		"a text that is too long": {wire.Errorf(wire.Internal, "%s", strings.Repeat("é", 600)+"!"), strings.Repeat("é", 512) + "..."},
		"a cut inside a letter":   {wire.Errorf(wire.Internal, "%s", "x"+strings.Repeat("é", 600)), "x" + strings.Repeat("é", 511) + "..."},
		"an empty text":           {sent: wire.Errorf(wire.NotFound, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := *c.sent
			if c.text != "" {
				want.Text = c.text
			}
			if diff := cmp.Diff(&want, wire.ReadError(c.sent.Header())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadErrorOfAReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header wire.Header
		want   *wire.Error
	}{
		"no headers":                    {nil, nil},
		"headers of a plain reply":      {wire.Header{"Hook-Total": {"3"}}, nil},
		"names in lower case":           {wire.Header{"nats-service-error-code": {"404"}, "nats-service-error": {"gone"}}, &wire.Error{Code: 404, Text: "gone"}},
		"a code without a text":         {wire.Header{"Nats-Service-Error-Code": {"503"}}, &wire.Error{Code: 503}},
		"a text without a code":         {wire.Header{"Nats-Service-Error": {"no"}}, &wire.Error{Code: wire.Internal, Text: "no"}},
		"a code that is not a number":   {wire.Header{"Nats-Service-Error-Code": {"many"}}, &wire.Error{Code: wire.Internal}},
		"a long text of anybody":        {wire.Header{"Nats-Service-Error": {strings.Repeat("x\x01", 3000)}}, &wire.Error{Code: wire.Internal, Text: strings.Repeat("x ", 512) + "..."}},
		"a header name without a value": {wire.Header{"Nats-Service-Error-Code": {}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, wire.ReadError(c.header)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
