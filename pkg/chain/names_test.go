package chain_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestCleanPolicy(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0123456789abcdef", 4)
	for policy, kept := range map[string]bool{
		"": false,

		"production@7 sha256:" + digest:                 true,
		"0-a._b@9999999999999999999 sha256:" + digest:   true,
		strings.Repeat("a", 64) + "@1 sha256:" + digest: true,
		"production":                                    false,
		"production@7":                                  false,
		"@7 sha256:" + digest:                           false,
		"Production@7 sha256:" + digest:                 false,
		"-a@7 sha256:" + digest:                         false,
		"a b@7 sha256:" + digest:                        false,
		"a@b@7 sha256:" + digest:                        false,
		"a@07 sha256:" + digest:                         false,
		"a@-7 sha256:" + digest:                         false,
		"a@ sha256:" + digest:                           false,
		"a@10000000000000000000 sha256:" + digest:       false,
		"a@7 sha256:" + digest + " ":                    false,
		"a@7 sha256:" + digest + "\n":                   false,
		"a@7 sha256:" + digest[1:]:                      false,
		"a@7 sha256:" + digest[1:] + "G":                false,
		"a@7 sha256:" + strings.ToUpper(digest):         false,
		strings.Repeat("a", 65) + "@1 sha256:" + digest: false,
	} {
		if got := chain.CleanPolicy(policy); (got == policy) != (kept || policy == "") || !kept && got != "" {
			t.Errorf("CleanPolicy(%q) is %q", policy, got)
		}
	}
}

func TestCheckGroup(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"security": true, "0": true, "a_b-c9": true, strings.Repeat("a", 63): true,
		"": false, "-a": false, "_a": false, "A": false, "a b": false, "a.b": false, "é": false, "a\n": false, strings.Repeat("a", 64): false,
	} {
		if err := chain.CheckGroup(name); (err == nil) != valid {
			t.Errorf("CheckGroup(%q): %v", name, err)
		}
	}
}
