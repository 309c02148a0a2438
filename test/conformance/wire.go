package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// The headers of the protocol that this package writes or reads.
const (
	headerDefaults  = "Hook-Defaults"
	headerTimeout   = "Hook-Timeout-Ms"
	headerRetry     = "Hook-Retry"
	headerMode      = "Hook-Mode"
	headerError     = "Nats-Service-Error"
	headerErrorCode = "Nats-Service-Error-Code"
)

// Target is the router under test. The prefix belongs to one case at a time.
type Target struct {
	Conn   *nats.Conn
	Prefix string
	// HTTP is the URL of its HTTP API, and Token an agent's, where agents speak that; empty
	// where they speak NATS.
	HTTP, Token string
	// Hooks runs the scripted hooks; nil where this package does so itself.
	Hooks *Hooks
	// Agent sends the events; nil where this package does so itself.
	Agent *Agent
}

// ServesExecute reports whether anybody answers for the execute side. It sends an
// event that no case's hook matches.
func ServesExecute(ctx context.Context, target Target) (bool, error) {
	_, err := target.request(ctx, target.subject(OpExecute, "conformance:probe"), nil, []byte("{}"))
	if errors.Is(err, nats.ErrNoResponders) {
		return false, nil
	}
	return err == nil, err
}

// subject is <prefix>.<verb>.<name>, an event's colons as dots; without the last
// part where name is empty.
func (t Target) subject(verb, name string) string {
	if name == "" {
		return t.Prefix + "." + verb
	}
	return t.Prefix + "." + verb + "." + strings.ReplaceAll(name, ":", ".")
}

// request sends a request and returns the body of the reply. A refusal is an
// error, and so is nobody being there.
func (t Target) request(ctx context.Context, subject string, header nats.Header, body []byte) ([]byte, error) {
	if path, ok := t.overHTTP(subject); ok {
		return t.post(ctx, path, header, body)
	}
	if op, members, ok := t.command(subject, header, body); ok && t.Agent != nil {
		got, err := t.Agent.ask(ctx, op, t.Prefix, members)
		return got.Result, err
	}
	msg := &nats.Msg{Subject: subject, Header: header, Data: body}
	reply, err := t.Conn.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", subject, err)
	}
	if code := reply.Header.Get(headerErrorCode); code != "" {
		return nil, fmt.Errorf("request %s: refused: %s %s", subject, code, reply.Header.Get(headerError))
	}
	return reply.Data, nil
}

// requestJSON is request for a reply that is JSON of type T.
func requestJSON[T any](ctx context.Context, t Target, subject string, header nats.Header, body []byte) (T, error) {
	var want T
	raw, err := t.request(ctx, subject, header, body)
	if err != nil {
		return want, err
	}
	v, err := decode(raw)
	if err != nil {
		return want, fmt.Errorf("request %s: read reply: %w", subject, err)
	}
	got, ok := v.(T)
	if !ok {
		return want, fmt.Errorf("request %s: read reply: want %T, got %s", subject, want, show(v))
	}
	return got, nil
}

// eventHeader is the header of an event in binary mode, with an id of its own.
func eventHeader(event, session string) nats.Header {
	return nats.Header{
		"ce-specversion": {"1.0"},
		"ce-id":          {nuid.Next()},
		"ce-source":      {"urn:hookrouter:conformance"},
		"ce-type":        {event},
		"ce-subject":     {session},
		"ce-time":        {time.Now().UTC().Format(time.RFC3339Nano)},
	}
}

// attribute reads a CloudEvents attribute, whose header may be in any case.
func attribute(header nats.Header, name string) string {
	for _, key := range slices.Sorted(maps.Keys(header)) {
		if strings.EqualFold(key, "ce-"+name) {
			return header.Get(key)
		}
	}
	return ""
}

// setDefaults puts the default fields into header, nil being none.
func setDefaults(header nats.Header, fields json.RawMessage) error {
	if fields == nil {
		return nil
	}
	text, err := asciiJSON(fields)
	if err != nil {
		return fmt.Errorf("write %s: %w", headerDefaults, err)
	}
	header.Set(headerDefaults, text)
	return nil
}

// setTimeout puts a step's timeout_s into header; 0 leaves it to the router.
func setTimeout(header nats.Header, seconds float64) {
	if seconds > 0 {
		header.Set(headerTimeout, strconv.FormatFloat(seconds*1000, 'f', 0, 64))
	}
}

// asciiJSON is the same JSON document with everything beyond ASCII escaped, so
// that it can travel in a header.
func asciiJSON(raw json.RawMessage) (string, error) {
	v, err := decode(raw)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, r := range string(encode(v)) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String(), nil
}
