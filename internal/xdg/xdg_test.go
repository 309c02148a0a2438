package xdg_test

import (
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/internal/xdg"
)

func TestStateHome(t *testing.T) {
	t.Parallel()
	home, state := t.TempDir(), t.TempDir()
	for name, tt := range map[string]struct {
		env  map[string]string
		want string
	}{
		"what XDG_STATE_HOME names":   {map[string]string{"XDG_STATE_HOME": state, "HOME": home}, state},
		"a relative path is ignored":  {map[string]string{"XDG_STATE_HOME": "state", "HOME": home}, filepath.Join(home, ".local", "state")},
		"the home directory":          {map[string]string{"HOME": home}, filepath.Join(home, ".local", "state")},
		"the home directory, Windows": {map[string]string{"USERPROFILE": home}, filepath.Join(home, ".local", "state")},
		"nothing is known":            {map[string]string{"XDG_STATE_HOME": "state"}, ""},
	} {
		if got := xdg.StateHome(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%s: %q; want %q", name, got, tt.want)
		}
	}
}
