package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// read reads a body of at most limit bytes. It must be JSON, in a form that a page of another
// site can't send. The error has code 400, 408, 413 or 415.
func (c *call) read(limit int) ([]byte, error) {
	if err := checkType(c.r.Header); err != nil {
		return nil, err
	}
	release, err := c.reserve(limit)
	if err != nil {
		return nil, err
	}
	defer release()
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, int64(limit)))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return nil, wire.Errorf(wire.TooLarge, "the body has more than %d bytes, the most that is allowed", limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, wire.Errorf(http.StatusRequestTimeout, "the body did not arrive within %s", c.o.BodyTimeout)
	case err != nil:
		return nil, wire.Errorf(wire.Malformed, "the body could not be read to its end: %v", err)
	}
	setReadDeadline(c.w, time.Time{})
	return body, nil
}

// bounded limits the time to send the body of a request to Options.BodyTimeout, even if no handler
// reads it: net/http reads it to its end before it answers.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			setReadDeadline(w, time.Now().Add(s.o.BodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

func setReadDeadline(w http.ResponseWriter, end time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(end) // a test's recorder has no deadline
}

func checkType(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return wire.Errorf(http.StatusUnsupportedMediaType, "the body has a content encoding: send it without")
	}
	typ, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return wire.Errorf(http.StatusUnsupportedMediaType, "the content type must have the charset utf-8")
	}
	if err == nil && (typ == "application/json" || typ == "application/cloudevents+json") {
		return nil
	}
	return wire.Errorf(http.StatusUnsupportedMediaType, "the content type must be application/json, or application/cloudevents+json for an event in structured mode")
}

// header returns the request's headers, and refuses repeated ones that matter.
func (c *call) header() (wire.Header, error) {
	for name, values := range c.r.Header {
		if lower := strings.ToLower(name); len(values) > 1 && (strings.HasPrefix(lower, "ce-") || strings.HasPrefix(lower, "hook-") || lower == "content-type") {
			return nil, wire.Errorf(wire.Malformed, "the header %s is given %d times: give it once", name, len(values))
		}
	}
	return wire.Header(c.r.Header), nil
}

// setWriteDeadline bounds how long the client may take for the next write.
func setWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout)) // a test's recorder has no deadline
}
