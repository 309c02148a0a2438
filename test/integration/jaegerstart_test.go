package integration

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// jaeger is a true Jaeger with everything in it.
type jaeger struct {
	*testkit.Process
	api, otlp string // URLs
}

// startJaeger starts the Jaeger that test/jaeger/build has built, or skips the test
// where it was not.
func startJaeger(t *testing.T) *jaeger {
	t.Helper()
	if _, err := os.Stat("../../bin/jaeger"); err != nil {
		if os.Getenv("HOOKROUTER_TEST_JAEGER") != "" {
			t.Fatal("there is no bin/jaeger")
		}
		t.Skip("there is no bin/jaeger: test/jaeger/build makes it from the module proxy, in some minutes")
	}
	addrs := testkit.FreeAddrs(t, 3)
	cmd := exec.Command("../jaeger/start") //nolint:noctx // it is ended by a signal
	cmd.Env = append(os.Environ(), "JAEGER_API="+addrs[0], "JAEGER_OTLP_HTTP="+addrs[1], "JAEGER_OTLP_GRPC="+addrs[2])
	j := &jaeger{started(t, cmd, "Ctrl-C", nil), "http://" + addrs[0], "http://" + addrs[1]}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	testkit.Until(t, testkit.Within(t, 30*time.Second), "Jaeger answers", func() bool {
		resp, err := http.Get(j.api + "/api/services") //nolint:noctx // it answers or the test fails
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	onLoopback(t, j.Process)
	return j
}

// onLoopback finds each port on which a process listens for others than this machine.
func onLoopback(t *testing.T, p *testkit.Process) {
	t.Helper()
	files, err := os.ReadDir("/proc/" + p.Pid() + "/fd")
	if err != nil {
		t.Skip("open ports are read from /proc")
	}
	own := map[string]bool{}
	for _, f := range files {
		to, _ := os.Readlink("/proc/" + p.Pid() + "/fd/" + f.Name()) // it may be closed by now
		own[to] = true
	}
	ports := 0
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile("/proc/" + p.Pid() + "/net/" + table)
		if err != nil {
			continue // without IPv6
		}
		for _, line := range strings.Split(string(text), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 10 || !own["socket:["+f[9]+"]"] || f[3] != "0A" && !strings.HasPrefix(table, "udp") {
				continue
			}
			ports++
			if addr, _, _ := strings.Cut(f[1], ":"); addr != "0100007F" && addr != "0000000000000000FFFF00000100007F" {
				t.Errorf("Jaeger listens on %s %s", table, f[1])
			}
		}
	}
	if ports == 0 {
		t.Error("Jaeger listens nowhere, as far as /proc tells")
	}
}
