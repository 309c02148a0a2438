package supervisor

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/natscontext"
)

const (
	// patience is how long a router of the same user may take to accept a question.
	patience = time.Second
	// incomplete is how long askLocally waits for the complete message of the agent. After that, the
	// second process waits for it.
	incomplete = 100 * time.Millisecond
)

// reply is the answer of a router of the same user.
type reply struct {
	eventID    string // of the event, if the router accepted the question
	notes, out []byte
	code       int
}

var errElsewhere = errors.New("the router leaves the answer to the second process")

// askLocally asks a router of the same user on this machine, which is the fastest way. After an
// error, the second process asks, except after [os.ErrDeadlineExceeded], which means that the
// router accepted the question and did not answer in time.
func askLocally(args []string, stdin *input) (reply, error) {
	q, ok := questionOf(args, os.Getenv, natscontext.OwnHome)
	if !ok {
		return reply{}, errElsewhere
	}
	to, err := dial(q.name)
	if err != nil {
		return reply{}, errElsewhere
	}
	defer to.close()
	late := time.NewTimer(incomplete)
	defer late.Stop()
	select {
	case <-stdin.done:
		q.Document = stdin.document
		return q.ask(to)
	case <-late.C:
		return reply{}, errElsewhere
	}
}

// request returns the HTTP request of the question.
func (q question) request() []byte {
	var b bytes.Buffer
	b.WriteString("POST " + q.Target + " HTTP/1.1\r\nHost: localhost\r\n" +
		"Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(q.Document)) + "\r\n")
	for _, h := range [...][2]string{{HeaderChallenge, q.Challenge}, {HeaderTimeout, q.Timeout}, {HeaderSessions, q.Sessions}} {
		if h[1] != "" {
			b.WriteString(h[0] + ": " + h[1] + "\r\n")
		}
	}
	b.WriteString("\r\n")
	b.Write(q.Document)
	return b.Bytes()
}

// ask asks the router at the other end of the socket: see [askLocally].
func (q question) ask(to *socket) (r reply, err error) {
	if to.write(q.request(), patience) != nil {
		return r, errElsewhere
	}
	wait := patience
	for {
		status, header, err := to.head(wait)
		if err != nil && r.eventID != "" && errors.Is(err, os.ErrDeadlineExceeded) {
			return r, err
		}
		if err != nil {
			return r, errElsewhere
		}
		switch {
		case status == "102" && r.eventID == "" && q.genuine(q.router, status, header, nil):
			ms, err := strconv.ParseUint(header[HeaderTimeout], 10, 32)
			if err != nil {
				return r, errElsewhere
			}
			r.eventID, wait = header[HeaderEventID], time.Duration(ms)*time.Millisecond+slack
		case status == "200":
			err := q.read(&r, to, header, wait)
			return r, err
		default:
			return r, errElsewhere
		}
	}
}

// read reads the body of the answer.
func (q question) read(r *reply, from *socket, header map[string]string, wait time.Duration) error {
	code, err1 := strconv.Atoi(header[HeaderCode])
	notes, err2 := strconv.Atoi(header[HeaderNotes])
	size, err3 := strconv.Atoi(header["Content-Length"])
	if err1 != nil || err2 != nil || err3 != nil || notes < 0 || size < notes || size > maxAnswer {
		return errElsewhere
	}
	body, err := from.body(size, wait)
	if err != nil || !q.genuine(q.router, "200", header, body) {
		return errElsewhere
	}
	r.notes, r.out, r.code = body[:notes], body[notes:], code
	return nil
}
