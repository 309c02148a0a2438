package mcpproxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"
)

// place is the position at which a stream of events ended.
type place struct {
	id    string        // of the last event; empty if the server sends none
	pause time.Duration // before the stream is reopened
}

// wait waits for the pause before the stream is reopened.
func (p place) wait(ctx context.Context) error {
	select {
	case <-time.After(min(max(p.pause, shortestWait), longestWait)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read relays the messages of a stream of events until the stream ends. m is the request of the
// stream; the zero message for none.
func (r *remote) read(m message, stream io.Reader) (at place, err error) {
	lines := newLineReader(stream)
	var data []byte
	hasData, isMessage := false, true
	for {
		chunk, err := lines.next()
		if err != nil { // the last event is incomplete
			return at, err
		}
		for line := range bytes.SplitSeq(bytes.TrimSuffix(chunk, []byte("\r")), []byte("\r")) {
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "data":
				if hasData {
					data = append(data, '\n')
				}
				data, hasData = append(data, value...), true
			case "event":
				isMessage = string(value) == "message"
			case "id":
				if len(value) <= 1024 && !bytes.ContainsRune(value, 0) {
					at.id = string(value)
				}
			case "retry":
				if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
					at.pause = time.Duration(min(ms, 1<<20)) * time.Millisecond
				}
			}
			if len(data) > maxMessage {
				return at, fmt.Errorf("an event is longer than %d MiB", maxMessage>>20)
			}
			if len(line) > 0 {
				continue
			}
			if isMessage && !blank(data) {
				r.receive(m, data)
			}
			data, hasData, isMessage = nil, false, true
		}
	}
}
