package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// startup builds hook-router, starts it several times with its embedded server and a new store, and
// measures the time until it is ready and its memory when idle.
func (b *bench) startup(ctx context.Context) error {
	starts, idle := 7, 5*time.Second
	if b.short {
		starts, idle = 3, 2*time.Second
	}
	binary := filepath.Join(b.dir, "hook-router")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "github.com/hookrouter/hookrouter/cmd/hook-router")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build hook-router (run the bench inside the module): %w\n%s", err, out)
	}
	times, rss := map[string][]float64{}, map[string][]float64{} // by audit mode
	for i := range starts {
		for _, mode := range []string{"off", "strict"} {
			ready, kib, err := startOnce(ctx, binary, mode, filepath.Join(b.dir, fmt.Sprint("start-", mode, i)), idle)
			if err != nil {
				return err
			}
			b.report.Starts++
			times[mode], rss[mode] = append(times[mode], ready.Seconds()*1e3), append(rss[mode], float64(kib)/1024)
		}
		idle = time.Second // the first ones idle longer
	}
	first := rss["off"][0]
	b.report.add(figure{
		Name: "hook-router with embedded NATS, ready after start", Unit: "ms", Value: median(times["off"]), Most: 300,
		Note: fmt.Sprintf("the slowest of %d: %.0f; with strict audit, the default: %.0f", starts, slices.Max(times["off"]), median(times["strict"])),
	})
	b.report.add(figure{
		Name: "hook-router with embedded NATS, idle memory (VmRSS)", Unit: "MB", Value: median(rss["off"]), Most: 60,
		Note: fmt.Sprintf("in MiB; after the longest idling: %.1f; with strict audit, the default: %.1f", first, median(rss["strict"])),
	})
	return nil
}

// startOnce starts a router in an audit mode. It returns the time until it was ready, and its
// resident memory in KiB after idling.
func startOnce(ctx context.Context, binary, mode, store string, idle time.Duration) (ready time.Duration, kib int, err error) {
	natsAddr, httpAddr, err := freePorts()
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.CommandContext(ctx, binary, "--nats-listen", natsAddr, "--http-listen", httpAddr, "--store-dir", store, "--audit", mode, "--auth", "off")
	var log bytes.Buffer
	cmd.Stderr = &log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, fmt.Errorf("start hook-router: %w", err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		end := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		end.Stop()
	}()
	for !isReady(ctx, "http://"+httpAddr+"/readyz") {
		if time.Since(began) > 20*time.Second || ctx.Err() != nil {
			return 0, 0, fmt.Errorf("hook-router is not ready: %s", &log)
		}
		time.Sleep(500 * time.Microsecond)
	}
	ready = time.Since(began)
	select {
	case <-time.After(idle):
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	kib, err = residentKiB(cmd.Process.Pid)
	return ready, kib, err
}

func isReady(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// freePorts returns two loopback addresses that were free when it was called.
func freePorts() (a, b string, err error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer first.Close()
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer second.Close()
	return first.Addr().String(), second.Addr().String(), nil
}

// residentKiB returns VmRSS of a process.
func residentKiB(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of hook-router: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, errors.New("read the memory of hook-router: no VmRSS")
}
