package approval_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// numbered returns n options that differ.
func numbered(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("Option ", i))
	}
	return all
}

func TestCheckAccepts(t *testing.T) {
	for sentence, test := range map[string]struct {
		prompt  string
		options []string
	}{
		"nothing, which means the defaults": {},
		"the defaults":                      {approval.DefaultPrompt, approval.DefaultOptions()},
		"the longest prompt":                {strings.Repeat("p", 16<<10), nil},
		"a prompt of several lines":         {"Run this?\n\n\trm -rf build", nil},
		"fifty options":                     {"", numbered(50)},
		"the longest option":                {"", []string{strings.Repeat("ä", 256)}},
		"an option with emoji":              {"", []string{"👍🏽", "👩‍👩‍👧"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := approval.Check(test.prompt, test.options); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	for sentence, test := range map[string]struct {
		prompt  string
		options []string
		says    string
	}{
		"a prompt of 1 MB":                {strings.Repeat("p", 1<<20), nil, "approval_prompt has 1048576 bytes: at most 16384"},
		"a prompt one byte too long":      {strings.Repeat("p", 16<<10) + "p", nil, "approval_prompt"},
		"200 options":                     {"", numbered(200), "has 200 options: at most 50"},
		"51 options":                      {"", numbered(51), "has 51 options"},
		"an empty option":                 {"", []string{"Allow", ""}, "approval_options[1] is blank"},
		"a blank option":                  {"", []string{" \u00a0"}, "approval_options[0] is blank"},
		"an option that nobody can see":   {"", []string{"\u200b\ufeff"}, "approval_options[0] is blank"},
		"an option that is too long":      {"", []string{strings.Repeat("ä", 257)}, "approval_options[0] has 257 characters: at most 256"},
		"an option with a line break":     {"", []string{"Deny\nAllow"}, `approval_options[0] has control characters: "Deny\nAllow"`},
		"an option with terminal escapes": {"", []string{"\x1b[8mDeny"}, "control characters"},
		"an option with a C1 control":     {"", []string{"\u009b8mDeny"}, "control characters"},
		"an option twice":                 {"", []string{"Allow", "Deny", "Allow"}, "approval_options[2] \"Allow\" is the same as option 0"},
		"an option twice in another case": {"", []string{"Ändern", "äNDERN"}, "is the same as option 0"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := approval.Check(test.prompt, test.options)
			if err == nil {
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %q, want in it %q", err, test.says)
			}
			if len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\x1b\u009b\n") {
				t.Errorf("the error can't be shown: %q", err)
			}
		})
	}
}

func TestDefaultOptionsAreTheCallers(t *testing.T) {
	approval.DefaultOptions()[0] = "Spoilt"
	if got := approval.DefaultOptions()[0]; got != "Allow" {
		t.Errorf("the first default option is %q now", got)
	}
}

func TestTimeout(t *testing.T) {
	for sentence, test := range map[string]struct {
		seconds float64
		want    time.Duration
	}{
		"seconds":                       {12, 12 * time.Second},
		"a fraction is milliseconds":    {0.0015, 2 * time.Millisecond},
		"a decimal fraction is exact":   {1.005, 1005 * time.Millisecond},
		"zero":                          {0, 0},
		"less than a millisecond":       {1e-9, 0},
		"negative":                      {-5, 0},
		"less than every number":        {math.Inf(-1), 0},
		"no number":                     {math.NaN(), 0},
		"seven days":                    {7 * 86400, 7 * 24 * time.Hour},
		"a little less than seven days": {7*86400 - 0.001, 7*24*time.Hour - time.Millisecond},
		"more":                          {7*86400 + 1, approval.MaxTimeout},
		"huge":                          {1e300, approval.MaxTimeout},
		"more than every number":        {math.Inf(1), approval.MaxTimeout},
	} {
		if got := approval.Timeout(&test.seconds); got != test.want {
			t.Errorf("%s: %v, want %v", sentence, got, test.want)
		}
	}
	if got := approval.Timeout(nil); got != 300*time.Second {
		t.Errorf("nothing said: %v", got)
	}
}
