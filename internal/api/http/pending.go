package httpapi

import (
	"context"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// preferred returns the request header, with the wait that Prefer sets unless the header sets one.
func (c *call) preferred(header wire.Header) wire.Header {
	seconds, ok := preferredWait(c.r.Header)
	if !ok || wire.Get(header, wire.HeaderWait) != "" {
		return header
	}
	c.w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(seconds))
	header = maps.Clone(header)
	header[wire.HeaderWait] = []string{strconv.Itoa(1000 * seconds)}
	return header
}

// preferredWait reads "wait" of RFC 7240, in seconds. As the RFC requires, it ignores what it can't
// parse.
func preferredWait(h http.Header) (seconds int, ok bool) {
	for part := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(strings.TrimSpace(name), "wait") {
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 16)
			return int(seconds), err == nil
		}
	}
	return 0, false
}

// resume answers GET /v1/pending/{id}: it waits for an approval request of the sender.
func (c *call) resume() error {
	header, err := c.header()
	if err != nil {
		return err
	}
	in, err := c.agents.ReadHeader(c.sender, c.preferred(header))
	if err != nil {
		return err
	}
	stream := c.wantsStream()
	if stream {
		in.Wait = 0
	}
	o, err := c.resumed(c.r.PathValue("id"), in)
	switch {
	case err != nil:
		return err
	case stream:
		return c.stream(o)
	}
	return c.await(o)
}

func (c *call) resumed(id string, in dispatch.Request) (*outcome, error) {
	return c.decide("execute", func(ctx context.Context) (*dispatch.Answer, error) { return c.agents.Resume(ctx, id, in) })
}

// await answers: at once, or when a person has decided or the wait is over.
func (c *call) await(o *outcome) error {
	if o.later == nil {
		return c.finish(o)
	}
	select {
	case o.body = <-o.later:
	case <-c.r.Context().Done():
		return nil // the client is gone; the request stays
	}
	if err := c.valid(); err != nil {
		return wire.Errorf(http.StatusUnauthorized, "%v", err)
	}
	code := http.StatusOK
	if id := pendingID(o.body); id != "" {
		code = http.StatusAccepted
		c.w.Header().Set("Location", "/v1/pending/"+id)
	}
	maps.Copy(c.w.Header(), o.header)
	_ = c.write(code, o.body) // fails only if the client is gone
	return nil
}

// pendingID returns the id of the approval request that a verdict waits for; empty if it is
// decided.
func pendingID(body []byte) string {
	v, err := verdict.Parse(body)
	if err != nil || v.Action != verdict.Pending || v.Approval == nil {
		return ""
	}
	return v.Approval.ID
}

func (c *call) wantsStream() bool {
	for accepted := range strings.SplitSeq(strings.Join(c.r.Header.Values("Accept"), ","), ",") {
		if typ, _, err := mime.ParseMediaType(accepted); err == nil && typ == "text/event-stream" {
			return true
		}
	}
	return false
}

// stream answers with events: "pending" while a person is asked, then "verdict"; or "error",
// after which the client may resume.
func (c *call) stream(o *outcome) error {
	if o.later != nil {
		o.body = <-o.later // at once: it must not wait
	}
	maps.Copy(c.w.Header(), o.header)
	c.w.Header().Set("Content-Type", "text/event-stream")
	id := pendingID(o.body)
	if id == "" {
		o.sent(c.push("verdict", o.body))
		return nil
	}
	c.w.Header().Set("Location", "/v1/pending/"+id)
	err := c.push("pending", o.body)
	for err == nil && c.r.Context().Err() == nil {
		var body []byte
		alive := func() error { return c.flush([]byte(":\n\n")) }
		if body, err = c.decided(c.r.Context(), id, dispatch.MaxWait, alive); err != nil {
			e := wire.FromError(err)
			c.agents.Refused("execute", e.Code)
			_ = c.push("error", failure(e))
			return nil
		}
		if body != nil {
			_ = c.push("verdict", body)
			return nil
		}
	}
	return nil
}

// decided waits for a decision; nil means that there is none yet or that ctx ended. It calls
// alive from time to time, and ends if that fails.
func (c *call) decided(ctx context.Context, id string, wait time.Duration, alive func() error) ([]byte, error) {
	began := time.Now()
	o, err := c.resumed(id, dispatch.Request{Emitter: c.sender, Wait: wait}) //nolint:contextcheck // a chain outlives its client
	if err != nil {
		return nil, err
	}
	defer o.sent(nil)
	tick := time.NewTicker(keepAliveEvery)
	defer tick.Stop()
	for o.later != nil {
		select {
		case o.body = <-o.later:
			o.later = nil
		case <-tick.C:
			if err := alive(); err != nil {
				return nil, nil // the client is gone
			}
		case <-ctx.Done():
			return nil, nil
		}
	}
	switch {
	case c.valid() != nil:
		return nil, wire.Errorf(http.StatusUnauthorized, "%v", errToken)
	case pendingID(o.body) == "":
		return o.body, nil
	case time.Since(began) < wait/2: // the router stops, or too many requests wait
		return nil, wire.Errorf(wire.Unavailable, "this router does not wait any longer: continue with GET /v1/pending/%s", id)
	}
	return nil, nil
}

// lineEnds are the line ends of a stream. push replaces them by its own.
var lineEnds = strings.NewReplacer("\r\n", "\ndata: ", "\r", "\ndata: ", "\n", "\ndata: ")

// push sends an event of the stream.
func (c *call) push(name string, body []byte) error {
	return c.flush([]byte("event: " + name + "\ndata: " + lineEnds.Replace(string(body)) + "\n\n"))
}

func (c *call) flush(text []byte) error {
	setWriteDeadline(c.w)
	if _, err := c.w.Write(text); err != nil {
		return err
	}
	return http.NewResponseController(c.w).Flush()
}

// failure encodes an error like the body of a refusal.
func failure(e *wire.Error) []byte {
	w := events.NewObjectWriter(nil)
	w.String("error", e.Text)
	w.Int("code", int64(e.Code))
	return w.End()
}
