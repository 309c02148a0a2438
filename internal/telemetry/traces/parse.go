package traces

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answer is the part of a response of Jaeger's API that is used.
type answer struct {
	Data []struct {
		TraceID   string                   `json:"traceID"`
		Spans     []jaegerSpan             `json:"spans"`
		Processes map[string]jaegerProcess `json:"processes"`
	} `json:"data"`
	Errors []struct {
		Msg string `json:"msg"`
	} `json:"errors"`
}

type jaegerSpan struct {
	SpanID     string `json:"spanID"`
	Name       string `json:"operationName"`
	References []struct {
		Type    string `json:"refType"`
		TraceID string `json:"traceID"`
		SpanID  string `json:"spanID"`
	} `json:"references"`
	Start    uint64 `json:"startTime"` // microseconds since 1970
	Duration uint64 `json:"duration"`  // microseconds
	Tags     []struct {
		Key   string         `json:"key"`
		Value jsontext.Value `json:"value"`
	} `json:"tags"`
	Process string `json:"processID"`
}

type jaegerProcess struct {
	Service string `json:"serviceName"`
}

// maxMicros is the maximum time, in microseconds: about 285 years.
const maxMicros = 1 << 53

// Parse parses the response of Jaeger's API to a search or to a request for a trace: traces with
// all their spans. It accepts arbitrary input.
func Parse(body []byte) ([]*Trace, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("it is not an answer of Jaeger's API: %w", err)
	}
	if len(a.Data) == 0 && len(a.Errors) > 0 {
		return nil, errors.New(a.Errors[0].Msg)
	}
	var list []*Trace
	for _, one := range a.Data {
		t := &Trace{Source: SourceJaeger, ID: one.TraceID}
		known := make(map[string]bool, len(one.Spans))
		for i := range one.Spans {
			s := &one.Spans[i]
			if s.Start > maxMicros || s.Duration > maxMicros {
				return nil, fmt.Errorf("span %.40q has an impossible time", s.SpanID)
			}
			if s.SpanID == "" || known[s.SpanID] { // a storage may return a span twice
				continue
			}
			known[s.SpanID] = true
			t.Spans = append(t.Spans, s.span(one.TraceID, one.Processes[s.Process].Service))
		}
		t.Spans = t.whole()
		list = append(list, t)
	}
	return list, nil
}

func (j *jaegerSpan) span(trace, service string) Span {
	s := Span{
		ID: j.SpanID, Name: j.Name, Service: service, Tags: map[string]string{},
		Start: time.UnixMicro(int64(j.Start)).UTC(), Took: time.Duration(j.Duration) * time.Microsecond,
	}
	for _, ref := range j.References {
		if ref.Type == "CHILD_OF" && ref.TraceID == trace {
			s.Parent = ref.SpanID
			break
		}
	}
	for _, tag := range j.Tags {
		switch {
		case strings.HasPrefix(tag.Key, tagOwn), tag.Key == tagKind, tag.Key == tagMessaging, tag.Key == tagError, tag.Key == tagStatus:
			s.Tags[tag.Key] = text(tag.Value)
		}
	}
	if s.Tags[tagError] == "true" {
		s.Failed = s.Tags[tagStatus]
		if s.Failed == "" {
			s.Failed = "error"
		}
	}
	return s
}

// text returns the value of a tag as text.
func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return string(value)
	}
	plain, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return string(value)
	}
	return string(plain)
}
