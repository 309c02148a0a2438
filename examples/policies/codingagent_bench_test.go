package policies_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// BenchmarkEveryday is what the policy takes for one list of everyday calls.
func BenchmarkEveryday(b *testing.B) {
	file, err := load("coding-agent.yaml")(kind.Worker{})
	if err != nil {
		b.Fatal(err)
	}
	policy := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{})
	lines := linesOf(b, "testdata/coding-agent/everyday-9.txt")
	for b.Loop() {
		for _, line := range lines {
			if _, err := policy.Decide(b.Context(), event(b, line)); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(lines)), "µs/call")
}
