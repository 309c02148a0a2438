package agents

import (
	"strings"
	"testing"
)

// A variable that makes an agent read another file than the machine's takes its hooks away.
func TestManagedSettingsElsewhere(t *testing.T) {
	t.Parallel()
	for dialect, variable := range map[string]string{"gemini": "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "qwen": "QWEN_CODE_SYSTEM_SETTINGS_PATH"} {
		agent, err := find(dialect)
		if err != nil {
			t.Fatal(err)
		}
		path := "/" + agent.paths[managed]
		for file, fails := range map[string]bool{"": false, path: false, "/tmp/other.json": true} {
			var list findings
			agent.checkHooks(path, func(name string) string { return map[string]string{variable: file}[name] }, nil, hooks{target: agent}, &list)
			said := false
			for _, f := range list {
				said = said || f.State == "fail" && strings.HasPrefix(f.Text, variable+" is set")
			}
			if said != fails {
				t.Errorf("%s=%s: %+v; want it told: %v", variable, file, list, fails)
			}
		}
	}
}
