package pathguard_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestSearchesByName checks that the patterns of a text search count as files that are read.
func TestSearchesByName(t *testing.T) {
	for want, calls := range map[chain.Action][]string{
		"": {
			`{"tool_name":"Grep","tool_input":{"pattern":".env","path":"/repo","glob":"*.{ts,tsx}"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"*test*"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"src/**/*.go, !.env"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","glob":"**"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"**/.env"},"cwd":"/repo"}`,
			`{"tool_name":"search_file_content","tool_input":{"pattern":"KEY","include":"docs/**"},"cwd":"/repo"}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","glob":"a,,b"},"cwd":"/repo"}`,
			`{"tool_name":"grep_search","tool_input":{"query":"KEY","includePattern":"/repo/src/**/*.ts"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"/repo/**/*.env*"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"src/**/*.{ts,tsx}"},"cwd":"/repo"}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"/home/eve/.ssh"},"cwd":"/repo"}`,
			`{"tool_name":"file_search","tool_input":{"query":"auth controller"},"cwd":"/repo"}`,
		},
		chain.Deny: {
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":".env","output_mode":"content"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"*.go **/.env"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":".env,*.{ts,tsx}"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/home/eve","glob":".ssh/**"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"*.env"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"*env"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"?env"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"\\.e\\nv"}}`,
			`{"tool_name":"batch","tool_input":{"tool_calls":[{"tool":"read","parameters":{"filePath":"a"}},{"tool":"grep","parameters":{"pattern":"KEY","include":".env"}}]},"cwd":"/repo"}`,
			`{"tool_name":"search_file_content","tool_input":{"pattern":"KEY","include":".env"},"cwd":"/repo"}`,
			`{"tool_name":"grep","tool_input":{"pattern":"KEY","include":".env"},"cwd":"/repo"}`,
			`{"tool_name":"grep_search","tool_input":{"query":"KEY","include_pattern":["a",".env"]},"cwd":"/repo"}`,
			`{"tool_name":"grep_search","tool_input":{"query":"KEY","includePattern":"a/.env"},"cwd":"/repo"}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"secrets/**"}}`,
			`{"tool_name":"grep_search","tool_input":{"query":"KEY","includePattern":"/home/eve/.config/gcloud/*"},"cwd":"/repo"}`,
			`{"tool_name":"file_search","tool_input":{"query":"/home/eve/.ssh/**"},"cwd":"/repo"}`,
			`{"tool_name":"file_search","tool_input":{"query":"../home/eve/.ssh/*"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"../home/eve/.ssh/*"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"../../.aws/*","path":"/home/eve/p/q"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":".ssh/*","path":"/home/eve"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"glob_pattern":"~/.ssh/*"},"cwd":"/repo"}`,
		},
		chain.AskUser: {
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":7}}`,
			`{"tool_name":"grep_search","tool_input":{"query":"KEY","includePattern":"/home/eve/**"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"/home/*/.ssh/id_*"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"{/home/eve/.ssh,x}/*"},"cwd":"/repo"}`,
			`{"tool_name":"Glob","tool_input":{"pattern":"*/../../home/eve/*"},"cwd":"/repo"}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":".env*"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"*nv"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"` + strings.Repeat("a ", 1000) + `"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"{.env,x}"}}`,
			`{"tool_name":"Grep","tool_input":{"pattern":"KEY","path":"/repo","glob":"**/.e{nv,x}"}}`,
		},
	} {
		for _, data := range calls {
			if got := judge(t, pathguard.Options{Deny: []string{"**/secrets/**"}}, data); got.Action != want {
				t.Errorf("%s: %q (%s), want %q", data, got.Action, got.Reason, want)
			}
		}
	}
}
