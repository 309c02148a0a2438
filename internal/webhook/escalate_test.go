package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// people is an approval service in the clock of a test.
type people struct {
	approval.Service

	mu      sync.Mutex
	open    []approval.Request
	decided map[string]*approval.Decision
	notices chan approval.Notice
	failing int // how often Pending fails yet
}

func newPeople(open ...approval.Request) *people {
	return &people{open: open, decided: map[string]*approval.Decision{}, notices: make(chan approval.Notice, 10)}
}

func (p *people) Watch() (<-chan approval.Notice, func()) { return p.notices, func() {} }

func (p *people) Pending(context.Context, approval.Filter) ([]approval.Request, int, error) {
	if p.failing--; p.failing >= 0 {
		return nil, 0, errors.New("not ready")
	}
	return p.open, len(p.open), nil
}

func (p *people) Get(_ context.Context, id string) (approval.Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return approval.Record{Decision: p.decided[id], Emitter: "nats agent/coder"}, nil
}

// decide decides a request, and tells it where that is not lost.
func (p *people) decide(q approval.Request, told bool) {
	d := &approval.Decision{Option: "Deny"}
	p.mu.Lock()
	p.decided[q.ID] = d
	p.mu.Unlock()
	if told {
		p.notices <- approval.Notice{Request: q, Decision: d}
	}
}

// inbox is a transport that keeps what each host was sent, and when.
type inbox struct {
	start time.Time
	mu    sync.Mutex
	got   []string // "host 5m0s kind id agent"
}

func (b *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		Type     string
		Approval struct{ ID, Agent string }
	}
	_ = json.Unmarshal(body, &m)
	b.mu.Lock()
	b.got = append(b.got, strings.Join([]string{r.URL.Host, time.Since(b.start).Truncate(time.Minute).String(), m.Type, m.Approval.ID, m.Approval.Agent}, " "))
	b.mu.Unlock()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestASecondPersonIsToldWhenTheFirstDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(id string, since time.Duration) approval.Request {
			q := question
			q.ID, q.Created = id, approval.At(time.Now().Add(-since))
			return q
		}
		slow, quick, lost, old := at("slow", 0), at("quick", 0), at("lost", 0), at("old", 7*time.Minute)
		box, service := &inbox{start: time.Now()}, newPeople(old)
		service.failing = 2
		s, stop := run(t, webhook.Options{
			URLs: []string{"http://first.test"}, Client: &http.Client{Transport: box},
			Later: []webhook.Escalation{{After: 20 * time.Minute, URL: "http://third.test"}, {After: 5 * time.Minute, URL: "http://second.test"}},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { s.Follow(ctx, service) })
		for _, q := range []approval.Request{slow, quick, lost} {
			service.notices <- approval.Notice{Request: q}
		}
		sleep := func(d time.Duration) { time.Sleep(d); synctest.Wait() } //nolint:forbidigo // of the bubble's clock
		sleep(4 * time.Minute)
		service.decide(quick, true)
		service.decide(lost, false)
		sleep(6 * time.Minute)
		service.decide(slow, true)
		sleep(time.Hour)
		cancel()
		following.Wait()
		stop()
		want := []string{
			"second.test 0s approval:required old nats agent/coder",
			"second.test 5m0s approval:required slow nats agent/coder",
			"second.test 10m0s approval:resolved slow nats agent/coder",
			"third.test 13m0s approval:required old nats agent/coder",
		}
		slices.Sort(box.got)
		slices.Sort(want)
		if !slices.Equal(box.got, want) {
			t.Errorf("the receivers were sent\n%s\nwant\n%s", strings.Join(box.got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A decision whose notice is lost, as in a flood, is told all the same, and forgotten.
func TestALostDecisionIsToldLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, box := question, &inbox{start: time.Now()}
		asked.ID, asked.Created = "told", approval.At(time.Now())
		service := newPeople(asked)
		s, stop := run(t, webhook.Options{Client: &http.Client{Transport: box}, Later: []webhook.Escalation{{After: time.Minute, URL: "http://second.test"}}})
		ctx, cancel := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { s.Follow(ctx, service) })
		sleep := func(d time.Duration) { time.Sleep(d); synctest.Wait() } //nolint:forbidigo // of the bubble's clock
		sleep(2 * time.Minute)
		service.decide(asked, false)
		service.open = nil
		other := question
		other.ID, other.Created = "other", asked.Created
		service.notices <- approval.Notice{Request: other, Decision: &approval.Decision{Option: "Deny"}, Lost: true}
		sleep(time.Minute)
		cancel()
		following.Wait()
		stop()
		want := []string{"second.test 1m0s approval:required told nats agent/coder", "second.test 2m0s approval:resolved told nats agent/coder"}
		if !slices.Equal(box.got, want) {
			t.Errorf("the receiver was sent %q; want %q", box.got, want)
		}
	})
}

func TestWhatAnEscalationIs(t *testing.T) {
	if e, err := webhook.ParseEscalation("10m=https://bridge.example/a?b=c"); err != nil || e.After != 10*time.Minute || e.URL != "https://bridge.example/a?b=c" {
		t.Errorf("ParseEscalation = %v, %v", e, err)
	}
	for _, text := range []string{"", "10m", "https://bridge.example", "0s=https://bridge.example", "-1m=https://bridge.example", "10m=", "10m=hunter2://x"} {
		if e, err := webhook.ParseEscalation(text); err == nil {
			t.Errorf("ParseEscalation(%q) = %v", text, e)
		}
	}
}

func TestARequestCarriesLinksAndADecisionNone(t *testing.T) {
	url, requests := listen(t, nil)
	s, _ := run(t, webhook.Options{URLs: []string{url}, Links: "https://hooks.example.com"})
	s.Notify(t.Context(), approval.Notice{Request: question})
	s.Notify(t.Context(), approval.Notice{Request: question, Decision: &approval.Decision{Option: "Deny"}})
	var m struct {
		Approval struct {
			Links []struct{ Option, URL string }
		}
	}
	if err := json.Unmarshal(wait(t, requests).body, &m); err != nil {
		t.Fatal(err)
	}
	links := m.Approval.Links
	if len(links) != 2 || links[0].Option != "Allow" || links[1].Option != "Deny" || !strings.HasPrefix(links[1].URL, "https://hooks.example.com/answer#q1.1.") {
		t.Errorf("links %v", links)
	}
	if body := string(wait(t, requests).body); strings.Contains(body, "links") {
		t.Errorf("the decision has links: %s", body)
	}
}

// Who has a link is not proven, so no link allows what several people must.
func TestNoLinkAllowsForSeveral(t *testing.T) {
	url, requests := listen(t, nil)
	s, _ := run(t, webhook.Options{URLs: []string{url}, Links: "https://hooks.example.com"})
	q := question
	q.Needs = &chain.Approval{Approvers: []chain.Approvers{{Group: "owners", Count: 2}}}
	q.Progress = "0 of 2; needs 2 of owners"
	s.Notify(t.Context(), approval.Notice{Request: q})
	q.Reviews, q.Progress = []approval.Review{{By: "console ann", Person: "ann", Option: "Allow"}}, "1 of 2: ann allowed; needs 1 of owners"
	s.Notify(t.Context(), approval.Notice{Request: q})
	for _, want := range []struct{ kind, progress string }{{webhook.Required, "0 of 2; needs 2 of owners"}, {webhook.Reviewed, "1 of 2: ann allowed; needs 1 of owners"}} {
		var m struct {
			Type     string
			Approval struct {
				Progress string
				Links    []struct{ Option string }
			}
		}
		if err := json.Unmarshal(wait(t, requests).body, &m); err != nil {
			t.Fatal(err)
		}
		if links := m.Approval.Links; m.Type != want.kind || m.Approval.Progress != want.progress || len(links) != 1 || links[0].Option != "Deny" {
			t.Errorf("%+v; want %+v with a link that denies", m, want)
		}
	}
}
