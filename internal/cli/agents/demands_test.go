package agents

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"
)

// An administrator's requirements for Codex make hooks run, and people can't turn them off.
func TestDemands(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "others": "# ours\nallowed_sandbox_modes = [\"read-only\"]\n", "features": "[features]\nhooks = true\n", "CRLF": "a = 1\r\n",
	} {
		codex, err := find("codex")
		if err != nil {
			t.Fatal(err)
		}
		codex, _ = codex.chosen(filepath.Join("etc", "codex", requirements))
		after, err := add([]byte(text), hooks{program: "/usr/bin/hook-agent", args: []string{"--server=x"}, target: codex})
		if err != nil {
			t.Fatal(err)
		}
		var is struct {
			Features map[string]any              `toml:"features"`
			Hooks    map[string][]map[string]any `toml:"hooks"`
		}
		if err := toml.Unmarshal(after, &is); err != nil || is.Features["hooks"] != true || is.Features[ttyFeature] != false || len(is.Hooks) != len(codex.events()) {
			t.Errorf("%s: %v: %s", name, err, after)
		}
		if h, ok := written(after, codex); !ok || !slices.Equal(h.args, []string{"--server=x"}) || len(codex.altered(after, h)) > 0 {
			t.Errorf("%s: read as %+v", name, h)
		}
		older := bytes.ReplaceAll(after, []byte(managedFlag+" "), nil)
		if h, _ := written(older, codex); bytes.Equal(older, after) || !slices.Contains(codex.altered(older, h), "PreToolUse") {
			t.Errorf("%s: sub-agents are denied, and doctor says nothing", name)
		}
		if left, err := remove(after, codex); err != nil || string(left) != text {
			t.Errorf("%s: %v: left %q", name, err, left)
		}
	}
	codex, _ := find("codex")
	codex, _ = codex.chosen(requirements)
	if _, err := add([]byte("[features]\nhooks = false\n"), hooks{target: codex}); err == nil {
		t.Error("people can switch hooks off")
	}
}
