package webhook_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// An agent asks more than the queue holds: people are told what others ask, and next.
func TestAnAgentThatAsksALotSilencesNobody(t *testing.T) {
	const queue = 4
	release := make(chan struct{})
	url, arrived := listen(t, func(http.ResponseWriter, *http.Request) { <-release })
	s, stop := run(t, webhook.Options{URLs: []string{url}, Queue: queue})
	ask := func(agent string) {
		s.Notify(t.Context(), approval.Notice{Request: question, Emitter: agent})
	}
	ask("nats agent/flood")
	wait(t, arrived) // the queue is empty, and the receiver busy
	for range 100 {
		ask("nats agent/flood")
	}
	ask("nats agent/ann")
	ask("nats agent/bob")
	ask("nats agent/flood")
	close(release)
	stop()
	for i, agent := range []string{"flood", "ann", "bob", "flood"} {
		if body := string(wait(t, arrived).body); !strings.Contains(body, `"agent":"nats agent/`+agent+`"`) {
			t.Errorf("message %d is %s; want one of %s", i+1, body, agent)
		}
	}
	if got, want := s.Stats(), (webhook.Stats{Delivered: 1 + queue, Dropped: 103 - queue}); got != want {
		t.Errorf("stats %+v; want %+v", got, want)
	}
}
