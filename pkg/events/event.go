package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	ce "github.com/cloudevents/sdk-go/v2/event"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// DefaultSource is the CloudEvents source of events whose sender does not set one.
const DefaultSource = "/hookrouter"

// MaxSessionLen is the maximum length of a session id in bytes. The id becomes a header and a key.
const MaxSessionLen = 512

// Event is a CloudEvent 1.0. Its type is the event name, its subject the session, and its data a
// JSON object.
type Event struct {
	ID         string            // unique for its source
	Source     string            // a URI reference that identifies the sender
	Name       string            // as it was emitted; the CloudEvents type
	Session    string            // session id; empty for none; the CloudEvents subject
	Time       string            // RFC 3339; empty for none
	Extensions map[string]string // other attributes by lower-case name; nil for none
	Data       json.RawMessage   // a JSON object
}

// Ids are not secret, so randomness may be generated in advance.
func init() { uuid.EnableRandPool() }

// NewID returns a new unique id that sorts by time (UUIDv7).
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Now returns the current time in the format of events: RFC 3339 in UTC with microseconds.
func Now() string { return Stamp(time.Now()) }

// Stamp formats t like [Now].
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

// Decode decodes the event in a message. name is the event that the message's subject names. Decode
// supports binary mode (ce-* headers), structured mode (content-type application/cloudevents+json,
// or a body that is clearly the envelope of this very event, since the NATS binding of the official
// Go SDK sets no content-type), and a plain JSON object, for which it fills in the attributes. The
// Object is the event's data.
//
// The session id is data.session_id, or else the CloudEvents subject. It is an error if both are
// set and differ. Errors are one sentence for the sender.
func Decode(name string, header map[string][]string, body []byte) (Event, Object, error) {
	ev, data, err := decodeMode(name, header, body)
	if err != nil {
		return Event{}, Object{}, err
	}
	if ev.Name != name {
		return Event{}, Object{}, fmt.Errorf("the CloudEvents type %q is not the event %q that the subject names", clip(ev.Name), name)
	}
	if ev.Session, err = sessionOf(data, ev.Session); err != nil {
		return Event{}, Object{}, err
	}
	return ev, data, nil
}

func decodeMode(name string, header map[string][]string, body []byte) (Event, Object, error) {
	ev, binary, err := decodeHeader(header)
	if err != nil {
		return Event{}, Object{}, err
	}
	structured := isStructured(header)
	if binary && structured {
		return Event{}, Object{}, errors.New("the message has ce-* headers and a structured content-type: use one mode")
	}
	if structured {
		return decodeEnvelope(body)
	}
	data, err := ParseObject(body)
	if err != nil {
		return Event{}, Object{}, err
	}
	if !binary {
		if typ, _ := data.GetString("type"); typ == name && looksLikeEnvelope(data) {
			return decodeEnvelope(body)
		}
		ev = Event{ID: NewID(), Source: DefaultSource, Name: name, Time: Now()}
	}
	ev.Data = data.Bytes()
	return ev, data, nil
}

// sessionOf returns the session id from the data or the subject.
func sessionOf(data Object, subject string) (string, error) {
	session := subject
	if v, ok := data.Get("session_id"); ok && v.Kind() != 'n' {
		text, isText := data.GetString("session_id")
		if !isText {
			return "", errors.New("data.session_id must be a string")
		}
		if subject != "" && text != "" && text != subject {
			return "", fmt.Errorf("data.session_id %q and the CloudEvents subject %q differ", clip(text), clip(subject))
		}
		if text != "" {
			session = text
		}
	}
	return session, CheckSession(session)
}

// CheckSession returns an error unless a session id is UTF-8 without NUL, at most [MaxSessionLen]
// bytes long. NUL separates the parts of keys, and text that JSON can't represent would be another
// session once stored.
func CheckSession(id string) error {
	switch {
	case len(id) > MaxSessionLen:
		return fmt.Errorf("the session id has %d bytes: at most %d are allowed", len(id), MaxSessionLen)
	case !utf8.ValidString(id) || strings.Contains(id, "\x00"):
		return errors.New("the session id is not text: it must be UTF-8 without NUL")
	}
	return nil
}

// CloudEvent converts the event to an event of the CloudEvents SDK.
func (e Event) CloudEvent() ce.Event {
	cloud := ce.New()
	cloud.SetID(e.ID)
	cloud.SetSource(e.Source)
	cloud.SetType(e.Name)
	if e.Session != "" {
		cloud.SetSubject(e.Session)
	}
	if t, err := time.Parse(time.RFC3339Nano, e.Time); err == nil {
		cloud.SetTime(t)
	}
	for k, v := range e.Extensions {
		cloud.SetExtension(k, v)
	}
	cloud.DataEncoded = e.Data
	cloud.SetDataContentType(ce.ApplicationJSON)
	return cloud
}

// Decode decodes the event's data into v, a pointer to one of this package's types (ToolPreData …)
// or to any struct with json tags. Names match exactly, including case, so that a hook judges the
// same member as the tool. Members that v does not have are ignored.
func (e Event) Decode(v any) error {
	if err := jsonv2.Unmarshal(e.Data, v); err != nil {
		return fmt.Errorf("decode data of %s: %w", e.Name, err)
	}
	return nil
}
