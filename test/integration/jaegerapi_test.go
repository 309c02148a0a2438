package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// jaegerTrace is a trace as Jaeger's API tells it. It is read here anew, without
// internal/telemetry/traces, which is tested by it.
type jaegerTrace struct {
	ID        string       `json:"traceID"`
	Spans     []jaegerSpan `json:"spans"`
	Processes map[string]struct {
		Service string      `json:"serviceName"`
		Tags    []jaegerTag `json:"tags"`
	} `json:"processes"`
}

type jaegerTag struct {
	Key   string
	Value any
}

type jaegerSpan struct {
	ID         string `json:"spanID"`
	Name       string `json:"operationName"`
	Start      int64  `json:"startTime"` // microseconds
	Duration   int64  `json:"duration"`
	ProcessID  string `json:"processID"`
	References []struct{ RefType, TraceID, SpanID string }
	Tags       []jaegerTag

	service string
	process map[string]string // its tags
}

func (s *jaegerSpan) start() time.Time { return time.UnixMicro(s.Start) }

func (s *jaegerSpan) end() time.Time { return time.UnixMicro(s.Start + s.Duration) }

// tag is the text of one of our attributes, "" where it is missing.
func (s *jaegerSpan) tag(name string) string {
	for _, tag := range s.Tags {
		if tag.Key == "hookrouter."+name {
			return fmt.Sprint(tag.Value)
		}
	}
	return ""
}

func (tr *jaegerTrace) named(name string) (list []*jaegerSpan) {
	for i := range tr.Spans {
		if s := &tr.Spans[i]; s.Name == name {
			list = append(list, s)
		}
	}
	return list
}

func (tr *jaegerTrace) parent(s *jaegerSpan) *jaegerSpan {
	for _, ref := range s.References {
		for i := range tr.Spans {
			if ref.RefType == "CHILD_OF" && ref.TraceID == tr.ID && ref.SpanID == tr.Spans[i].ID {
				return &tr.Spans[i]
			}
		}
	}
	return nil
}

// below are the children of a span, nil for those without a parent.
func (tr *jaegerTrace) below(above *jaegerSpan) (list []*jaegerSpan) {
	for i := range tr.Spans {
		if s := &tr.Spans[i]; tr.parent(s) == above {
			list = append(list, s)
		}
	}
	return list
}

// tree is the trace as text: the spans below each other, in the order of their names,
// those of one name in that of their times.
func (tr *jaegerTrace) tree() string {
	var b strings.Builder
	var walk func(above *jaegerSpan, indent string)
	walk = func(above *jaegerSpan, indent string) {
		list := tr.below(above)
		slices.SortFunc(list, func(a, b *jaegerSpan) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Start, b.Start))
		})
		for _, s := range list {
			fmt.Fprintf(&b, "%s%s [%s]%s\n", indent, s.Name, s.service, s.about())
			walk(s, indent+"  ")
		}
	}
	walk(nil, "")
	return b.String()
}

// about are the tags that a span of its kind must have.
func (s *jaegerSpan) about() (text string) {
	var names []string
	switch first, _, _ := strings.Cut(s.Name, " "); first {
	case "execute", "hooks.execute":
		names = []string{"action", "denied_by", "hooks"}
	case "call":
		names = []string{"action", "hook.priority", "hook.mode"}
	case "hook":
		names = []string{"action", "hook.mode"}
	case "approval":
		decided := s.tag("approval.decided_by") != "" && s.tag("approval.decided_by") != "timeout"
		return fmt.Sprintf(" action=%s decided=%v timed_out=%s", s.tag("action"), decided, s.tag("approval.timed_out"))
	}
	for _, name := range names {
		text += " " + strings.TrimPrefix(name, "hook.") + "=" + s.tag(name)
	}
	return text
}

// get asks the API.
func (j *jaeger) get(t *testing.T, ctx context.Context, path string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, j.api+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// traces are all traces of all services, by service.
func (j *jaeger) traces(t *testing.T, ctx context.Context) map[string][]*jaegerTrace {
	t.Helper()
	var services struct{ Data []string }
	j.get(t, ctx, "/api/services", &services)
	all := map[string][]*jaegerTrace{}
	for _, service := range services.Data {
		var found struct{ Data []*jaegerTrace }
		j.get(t, ctx, "/api/traces?limit=1000&service="+url.QueryEscape(service), &found)
		for _, one := range found.Data {
			for i := range one.Spans {
				s := &one.Spans[i]
				s.service, s.process = one.Processes[s.ProcessID].Service, map[string]string{}
				for _, tag := range one.Processes[s.ProcessID].Tags {
					s.process[tag.Key] = fmt.Sprint(tag.Value)
				}
			}
		}
		all[service] = found.Data
	}
	return all
}

// settled waits until Jaeger has all of the turn, and the decision.
func (j *jaeger) settled(t *testing.T, ctx context.Context, turn agentTurn) (all map[string][]*jaegerTrace) {
	t.Helper()
	testkit.Until(t, ctx, "Jaeger has the whole turn", func() bool {
		all = j.traces(t, ctx)
		spans, decided := 0, false
		for _, one := range all["hook-router"] {
			if one.ID == turn.Trace {
				spans = len(one.Spans)
			}
			decided = decided || len(one.named("decide careful")) > 0
		}
		return decided && len(all["coding-agent"]) > 0 && spans >= strings.Count(treeOfTheTurn, "\n")
	})
	return all
}
