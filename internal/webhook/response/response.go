// Package response reads what a receiver of HTTP requests answers.
package response

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// RetryAfter parses the Retry-After header, which has seconds or a time. said is false if it is
// missing or invalid.
func RetryAfter(h http.Header) (wait time.Duration, said bool) {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0), true
	}
	return 0, false
}

// WithoutURL removes the URL, which may have a secret, from an error of the HTTP client.
func WithoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
