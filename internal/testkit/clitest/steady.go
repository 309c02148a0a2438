package clitest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Want waits for lines in this order.
func (b *Background) Want(lines ...string) {
	b.t.Helper()
	for _, want := range lines {
		if got := Steady(b.Line()); got != want {
			b.t.Errorf("line %q; want %q", got, want)
		}
	}
}

// Settled is like [Steady], and also replaces varying parts of reports and approval requests, and
// removes trailing blanks of lines.
func Settled(text string) string {
	text = ApprovalID.ReplaceAllString(text, "QUESTION")
	text = digestPattern.ReplaceAllString(text, "DIGEST")
	text = spanPattern.ReplaceAllString(text, "SPAN")
	text = tookPattern.ReplaceAllString(text, "in TIME") // before Steady, which replaces only some of them
	lines := strings.Split(strings.TrimSpace(Steady(text)), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// SteadyLines applies [Steady] to each line.
func SteadyLines(lines []string) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = Steady(line)
	}
	return list
}

// Steady replaces text that differs between runs.
func Steady(text string) string {
	text = idPattern.ReplaceAllString(text, "ID")
	text = timePattern.ReplaceAllString(text, "TIME")
	text = clockPattern.ReplaceAllString(text, "CLOCK")
	text = msPattern.ReplaceAllString(text, "MS")
	text = usPattern.ReplaceAllString(text, `"us":0`)
	return urlPattern.ReplaceAllString(text, "ADDR")
}

// Want compares an outcome after [Steady], ignoring surrounding blanks.
func (o Outcome) Want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit code %d; want %d", o.Code, code)
	}
	if diff := cmp.Diff(strings.TrimSpace(stdout), strings.TrimSpace(Steady(o.Stdout))); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.TrimSpace(stderr), strings.TrimSpace(Steady(o.Stderr))); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}

// Text that differs between runs.
var (
	idPattern    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	clockPattern = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`)
	msPattern    = regexp.MustCompile(`\d+\.\dms`)
	usPattern    = regexp.MustCompile(`"us":\d+`)
	urlPattern   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

var (
	// ApprovalID matches the id of an approval request.
	ApprovalID    = regexp.MustCompile(`\b[a-z2-7]{26}\b`)
	digestPattern = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	spanPattern   = regexp.MustCompile(`\b(4m5\ds|[0-4](\.\d)?s|[1-9]00ms)\b`) // remaining or elapsed time of a new approval request
	tookPattern   = regexp.MustCompile(`in [0-9][0-9.hmnµ]*s\b`)
)
