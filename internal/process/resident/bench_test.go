package resident_test

import (
	"bytes"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/process/resident"
)

// BenchmarkAsk is a question of 1 KiB to a plain loop in Python; p50-us is the time of the
// one in the middle.
func BenchmarkAsk(b *testing.B) {
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip("there is no python3")
	}
	loop := "import json, sys\nfor line in sys.stdin:\n    call = json.loads(line)\n    print(json.dumps({'id': call['id'], 'result': None}), flush=True)"
	p := resident.New(resident.Options{Program: process.Program{Path: python, Args: []string{"-c", loop}, Env: process.Environ(process.DefaultEnv)}})
	defer p.Close()
	question := append(append([]byte(`{"event":"tool:pre","data":{"text":"`), bytes.Repeat([]byte("x"), 1000)...), `"}}`...)
	if _, err := p.Ask(b.Context(), question); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := p.Ask(b.Context(), question); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/float64(time.Microsecond), "p50-us")
}
