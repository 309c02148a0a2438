package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// BenchmarkChains compares chains of three hooks a second over HTTP with those over NATS, 64
// in flight on connections that are kept, in turns of one run on one router that asks for
// credentials. It reports the median of the ratios as http/nats.
func BenchmarkChains(b *testing.B) {
	bus := start(b, router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: "off"}}})
	for i := range 3 {
		bus.hook(worker.Registration{ID: fmt.Sprintf("hook-%d", i), Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Continue()
		})
	}
	nc := bus.client("agent").Conn()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.Cleanup(client.CloseIdleConnections)
	arms := map[string]func(body string) error{
		"nats": func(body string) error {
			m, err := nc.Request("hooks.execute.tool.pre", []byte(body), 10*time.Second)
			if err == nil && !strings.HasPrefix(string(m.Data), `{"action":"continue"`) {
				err = fmt.Errorf("it answers %s %v", m.Data, m.Header)
			}
			return err
		},
		"http": func(body string) error {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, bus.url+tool, strings.NewReader(body))
			if err != nil {
				return err
			}
			r.Header = http.Header{"Authorization": {"Bearer " + bus.token}, "Content-Type": {"application/json"}}
			resp, err := client.Do(r)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err == nil && !strings.HasPrefix(string(text), `{"action":"continue"`) {
				err = fmt.Errorf("it answers %d %s", resp.StatusCode, text)
			}
			return err
		},
	}
	rate := func(arm string, d time.Duration) float64 {
		var chains atomic.Int64
		var all sync.WaitGroup
		began := time.Now()
		for i := range 64 {
			body := fmt.Sprintf(`{"session_id":"s%d","tool_name":"Bash","tool_input":{"command":"ls"}}`, i)
			all.Go(func() {
				for time.Since(began) < d {
					if err := arms[arm](body); err != nil {
						b.Error(err)
						return
					}
					chains.Add(1)
				}
			})
		}
		all.Wait()
		return float64(chains.Load()) / time.Since(began).Seconds()
	}
	for arm := range arms {
		rate(arm, time.Second)
	}
	var ratios, overNATS, overHTTP []float64
	for i := 0; b.Loop(); i++ {
		var got [2]float64
		for _, n := range [2][2]int{{0, 1}, {1, 0}}[i%2] {
			got[n] = rate([2]string{"nats", "http"}[n], 300*time.Millisecond)
		}
		overNATS, overHTTP, ratios = append(overNATS, got[0]), append(overHTTP, got[1]), append(ratios, got[1]/got[0])
	}
	median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
	b.ReportMetric(median(overNATS), "nats-chains/s")
	b.ReportMetric(median(overHTTP), "http-chains/s")
	b.ReportMetric(median(ratios), "http/nats")
}
