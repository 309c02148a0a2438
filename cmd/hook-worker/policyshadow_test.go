package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// A version in shadow that asks less is no version that answers the same.
func TestAShadowVersionThatAsksLessDiffers(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	const hook = "  - {id: %s, events: [\"deploy:start\"], on_failure: deny, %scel: {rules: [%s]}}\n"
	policy := func(hooks ...string) string { return "hooks:\n" + strings.Join(hooks, "") }
	same := fmt.Sprintf(hook, "same", "", "{inject: x}")
	one := r.push(policy(same, fmt.Sprintf(hook, "narrowed", "", "{inject: x}"), fmt.Sprintf(hook, "gone", "", "{inject: x}"), fmt.Sprintf(hook, "labels", "", "{labels: [seen]}")))
	stderr, _ := r.worker(t.TempDir())
	says(t, stderr, `"policy taken over","policy":"`+one)
	two := r.push(policy(same, fmt.Sprintf(hook, "narrowed", "match: \"false\", ", "{inject: x}"), fmt.Sprintf(hook, "labels", "", "{when: \"false\", labels: [seen]}")), "--shadow")
	says(t, stderr, `"policy taken over","policy":"`+two)
	r.policies(connect(t, r.url), "deploy:start")
	testkit.Eventually(t, "all hooks are compared", func() bool {
		o := r.Run("policy", "compare", "production")
		return o.Code == 8 && strings.Contains(o.Stdout, `"compared":4,"differ":3`) &&
			strings.Contains(o.Stdout, `"hook":"narrowed","enforced":"inject_context","shadow":"continue"`) &&
			strings.Contains(o.Stdout, `"hook":"gone","enforced":"inject_context","shadow":"continue"`) &&
			strings.Contains(o.Stdout, `"hook":"labels","enforced":"continue, labels seen","shadow":"continue"`)
	})
}

func TestAPolicyInShadow(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	one := r.push(deployPolicy("one"))
	cache := t.TempDir()
	stderr, stop := r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+one)
	const open = "hooks:\n  - {id: freeze, events: [\"deploy:start\"], on_failure: deny, cel: {rules: [{when: \"false\", deny: x}]}}\n"
	two := r.push(open, "--shadow")
	says(t, stderr, `"policy taken over","policy":"`+two)
	a := connect(t, r.url)
	reason, _ := r.policies(a, "deploy:start")
	if reason != "one" {
		t.Errorf("a version in shadow decides: %q", reason)
	}
	testkit.Eventually(t, "both answers are compared", func() bool {
		o := r.Run("policy", "compare", "production")
		return o.Code == 8 && strings.Contains(o.Stdout, `"hook":"freeze","enforced":"deny","shadow":"continue"`) && strings.Contains(o.Stdout, `"policy":"`+two) &&
			strings.Contains(o.Stdout, `"compared":1,"differ":1`)
	})
	if got := r.status(t); got.Policy != one || got.Shadow != two {
		t.Errorf("status %+v", got)
	}
	if err := stop(); err != nil { // both come from the disk again
		t.Fatal(err)
	}
	stderr, _ = r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+two)
	three := r.signs("enforce", "production")
	says(t, stderr, `"policy taken over","policy":"`+three)
	if reason, by := r.policies(a, "deploy:start"); reason != "" || by["freeze"] != three || by["freeze-shadow"] != "" {
		t.Errorf("%q by %v; want nothing by %s", reason, by, three)
	}
	if got := r.status(t); got.Policy != three || got.Shadow != "" {
		t.Errorf("status %+v", got)
	}
}
