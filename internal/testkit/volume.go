package testkit

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Tier determines how much a test run does.
type Tier int

// The tiers, from the smallest to the largest.
const (
	Smoke Tier = iota // everything once: what go test does by default
	CI                // before a change is merged
	Full              // everything with the full number of repetitions
)

// CurrentTier returns the tier that the environment selects. It fails the test if the environment
// names an unknown tier.
func CurrentTier(t testing.TB) Tier {
	t.Helper()
	tier, known := tier()
	if !known {
		t.Fatalf("HOOKROUTER_TEST_TIER is %q, want smoke, ci or full", os.Getenv("HOOKROUTER_TEST_TIER"))
	}
	return tier
}

func tier() (t Tier, known bool) {
	if os.Getenv("HOOKROUTER_FULL") != "" {
		return Full, true
	}
	switch os.Getenv("HOOKROUTER_TEST_TIER") {
	case "", "smoke":
		return Smoke, true
	case "ci":
		return CI, true
	case "full":
		return Full, true
	}
	return Smoke, false
}

// Volume returns the number of repetitions of a test in the current tier. It logs the number, and
// .ci/run prints it.
func Volume(t testing.TB, smoke, ci, full int) int {
	t.Helper()
	n := [...]int{Smoke: smoke, CI: ci, Full: full}[CurrentTier(t)]
	t.Logf("volume: %d of %d", n, full)
	return n
}

// From skips the test in tiers smaller than tier.
func From(t testing.TB, tier Tier) {
	t.Helper()
	if CurrentTier(t) < tier {
		t.Skipf("runs from the tier %s on", [...]string{Smoke: "smoke", CI: "ci", Full: "full"}[tier])
	}
}

// Parallel sets the number of parallel tests of this package, unless the command line sets it. It
// is for packages whose tests wait more than they compute. TestMain must call it first.
func Parallel(n int) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if set {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}
