package web

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// failure is the body of a refusal.
type failure struct {
	Error string `json:"error"`
	Code  int    `json:"code"`
}

// Refuse answers with the code and text of a refusal. Other errors are logged with the path and
// not sent to the client. It returns the code.
func Refuse(w http.ResponseWriter, log *slog.Logger, path string, err error) (code int) {
	refusal, ok := errors.AsType[*wire.Error](err)
	if !ok || refusal.Code < 400 || refusal.Code > 599 {
		log.Error("HTTP request failed", "path", path, "error", err)
		refusal = wire.Errorf(wire.Internal, "the router failed; its log says why")
	}
	switch h := w.Header(); {
	case refusal.Code == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case refusal.Code == http.StatusTooManyRequests && h.Get("Retry-After") == "":
		h.Set("Retry-After", strconv.Itoa(int(WrongWindow.Seconds())))
	}
	body, _ := json.Marshal(failure{refusal.Text, refusal.Code}) // a string and a number only
	Write(w, refusal.Code, body)
	return refusal.Code
}

// Write answers with JSON.
func Write(w http.ResponseWriter, code int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n')) // fails only if the client is gone
}

// Clip shortens what a client sent, for an error that quotes it.
func Clip(s string) string { return shorten.Bytes(s, 80, "...") }
