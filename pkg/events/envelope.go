package events

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	ce "github.com/cloudevents/sdk-go/v2/event"
)

func isStructured(header map[string][]string) bool {
	for k, v := range header {
		if strings.EqualFold(k, "content-type") && len(v) > 0 &&
			strings.HasPrefix(strings.ToLower(v[0]), ce.ApplicationCloudEventsJSON) {
			return true
		}
	}
	return false
}

// looksLikeEnvelope reports whether data has the attributes that every CloudEvents envelope must
// have.
func looksLikeEnvelope(data Object) bool {
	version, _ := data.GetString("specversion")
	id, _ := data.GetString("id")
	source, _ := data.GetString("source")
	return version == ce.CloudEventsVersionV1 && id != "" && source != ""
}

// decodeEnvelope decodes a structured-mode body.
func decodeEnvelope(body []byte) (Event, Object, error) {
	envelope, err := ParseEnvelope(body)
	if err != nil {
		return Event{}, Object{}, err
	}
	if _, ok := envelope.Get(""); ok { // the SDK would stop reading here
		return Event{}, Object{}, errors.New("the CloudEvent is not valid: an attribute has no name")
	}
	var cloud ce.Event
	if err := cloud.UnmarshalJSON(attributesOf(envelope)); err != nil {
		return Event{}, Object{}, fmt.Errorf("the CloudEvent is not valid: %s", oneLine(err))
	}
	if err := cloud.Validate(); err != nil {
		return Event{}, Object{}, fmt.Errorf("the CloudEvent is not valid: %s", oneLine(err))
	}
	if v := cloud.SpecVersion(); v != ce.CloudEventsVersionV1 {
		return Event{}, Object{}, fmt.Errorf("the CloudEvents specversion is %q: only 1.0 is known", clip(v))
	}
	raw, err := dataOf(envelope)
	if err != nil {
		return Event{}, Object{}, err
	}
	data, err := ParseObject(raw)
	if err != nil {
		return Event{}, Object{}, err
	}
	ev := fromCloudEvent(cloud)
	ev.Data = data.Bytes()
	return ev, data, nil
}

// attributesOf returns the envelope without its data. The SDK would decode the data a second time,
// and misreads base64 behind white space or with escapes.
func attributesOf(envelope Object) []byte {
	attributes := []byte{'{'}
	for _, m := range envelope.members {
		if m.name == "data" || m.name == "data_base64" {
			continue
		}
		if len(attributes) > 1 {
			attributes = append(attributes, ',')
		}
		attributes = append(attributes, envelope.raw[m.start:m.end]...)
	}
	return append(attributes, '}')
}

// dataOf returns the data of an envelope.
func dataOf(envelope Object) ([]byte, error) {
	data, plain := envelope.Get("data")
	_, encoded := envelope.Get("data_base64")
	switch {
	case plain && encoded:
		return nil, errors.New("the CloudEvent is not valid: it has both data and data_base64")
	case plain:
		return data, nil
	case !encoded:
		return nil, errors.New("the CloudEvent has no data: it must be a JSON object")
	}
	text, ok := envelope.GetString("data_base64")
	if !ok {
		return nil, errors.New("the CloudEvent is not valid: data_base64 must be a string")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the CloudEvent is not valid: data_base64: %w", err)
	}
	return data, nil
}

func fromCloudEvent(cloud ce.Event) Event {
	ev := Event{ID: cloud.ID(), Source: cloud.Source(), Name: cloud.Type(), Session: cloud.Subject()}
	if t := cloud.Time(); !t.IsZero() {
		ev.Time = t.Format(time.RFC3339Nano)
	}
	for k, v := range cloud.Extensions() {
		if ev.Extensions == nil {
			ev.Extensions = map[string]string{}
		}
		ev.Extensions[k] = fmt.Sprint(v)
	}
	return ev
}

// oneLine joins the lines of an error into one. It sorts them, since they come in random order.
func oneLine(err error) string {
	lines := strings.Split(err.Error(), "\n")
	slices.Sort(lines)
	return clip(strings.Join(strings.Fields(strings.Join(lines, " ")), " "))
}
