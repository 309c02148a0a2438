package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

const limited = `
hooks:
  - id: limits
    timeout_ms: 1500
    builtin:
      limits:
        rules:
          - {per: [session], calls: 40, within: 1h}
          - {per: [identity], calls: 90, within: 1h}
`

// Two workers count the calls of many sessions together, and one is killed meanwhile: no session
// and no identity gets more than its limit.
func TestAKilledWorkerRaisesNoLimit(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 2*time.Minute)
	s := natstest.Listening(t)
	router, program := testkit.Program(t, "hook-router"), testkit.Program(t, "hook-worker")
	for range 2 {
		startRouter(t, router, "", "", s.ClientURL())
	}
	file := filepath.Join(t.TempDir(), "worker.yaml")
	replace(t, file, limited)
	workers := make([]*testkit.Process, 2)
	for i := range workers {
		cmd := exec.Command("/bin/sh", "-c", `exec "$0" "$@" 2>&1`, program, "--config", file, "--nats-url", s.ClientURL()) //nolint:noctx // it is ended by a signal
		workers[i] = started(t, cmd, " answers for ", func(string) {})
	}
	var passed [4]atomic.Int64
	var asked atomic.Int64
	var kill sync.Once
	var load sync.WaitGroup
	each := testkit.Volume(t, 12, 40, 40)
	for n := range 32 {
		nc, session := natstest.Conn(t, s), n%len(passed)
		load.Go(func() {
			body := []byte(fmt.Sprintf(`{"tool_name":"Bash","session_id":"s%d"}`, session))
			for range each {
				m, err := nc.RequestWithContext(ctx, "hooks.execute.tool.pre", body)
				if err != nil {
					t.Error(err)
					return
				}
				if asked.Add(1) == 60 {
					kill.Do(func() { _ = workers[0].End(t, syscall.SIGKILL) })
				}
				if code(m) == "" && !strings.Contains(string(m.Data), `"action":"deny"`) {
					passed[session].Add(1)
				}
			}
		})
	}
	load.Wait()
	sum := int64(0)
	for i := range passed {
		n := passed[i].Load()
		if sum += n; n > 40 {
			t.Errorf("%d calls of session s%d passed; want at most 40", n, i)
		}
	}
	t.Logf("%d of %d calls passed", sum, asked.Load())
	if sum > 90 || sum < 20 {
		t.Errorf("%d calls passed; want at most 90, and most of these", sum)
	}
}
