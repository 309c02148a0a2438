package exechook_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

func TestNewNamesTheFieldThatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain.sh"), "#!/bin/sh\n", 0o644)
	for name, c := range map[string]struct {
		config  exechook.Config
		pointer string
		want    string
	}{
		"no command":                   {exechook.Config{}, "/command", "must be a list"},
		"an empty command":             {exechook.Config{Command: []string{""}}, "/command", "must be a list"},
		"a program that isn't there":   {exechook.Config{Command: []string{"./nothing.sh"}}, "/command/0", "there is no such file"},
		"a program not in PATH":        {exechook.Config{Command: []string{"no-such-program-anywhere"}}, "/command/0", "no such program in PATH"},
		"a file without the x bit":     {exechook.Config{Command: []string{"./plain.sh"}}, "/command/0", "it is not executable: chmod +x it"},
		"a directory":                  {exechook.Config{Command: []string{dir}}, "/command/0", dir},
		"a value in env":               {exechook.Config{Command: []string{"sh"}, Env: []string{"PATH", "A=b"}}, "/env/1", "must be the name of a variable"},
		"an output below nothing":      {exechook.Config{Command: []string{"sh"}, MaxOutput: -1}, "/max_output", "must be 1 to 16777216, not -1"},
		"too many at once":             {exechook.Config{Command: []string{"sh"}, Concurrency: 5000}, "/concurrency", "must be 1 to 1024, not 5000"},
		"a directory that isn't there": {exechook.Config{Command: []string{"sh"}, Dir: "nowhere"}, "/dir", "is not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Base = dir
			_, err := exechook.New(c.config)
			var field *kind.FieldError
			if !errors.As(err, &field) || string(field.Pointer) != c.pointer || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v; want %s at %s", err, c.want, c.pointer)
			}
		})
	}
}

func TestTheProgramIsFoundFromItsDirectory(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(base, "hooks", "deny.sh"), "#!/bin/sh\nprintf '{\"action\":\"deny\",\"reason\":\"%s\"}' \"$(basename \"$PWD\") $1\"\n", 0o755)
	for name, c := range map[string]exechook.Config{
		"from the base":       {Command: []string{"./deny.sh", "arg"}, Dir: "hooks", Base: base},
		"by a whole path":     {Command: []string{filepath.Join(base, "hooks", "deny.sh"), "arg"}, Dir: filepath.Join(base, "hooks")},
		"with the base alone": {Command: []string{"./deny.sh", "arg"}, Base: filepath.Join(base, "hooks")},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := exechook.New(c)
			if err != nil {
				t.Fatalf("New: %v", err)
			}
			got, err := h(t.Context(), bash)
			if err != nil || got.Reason != "hooks arg" {
				t.Errorf("result %+v, %v; want the reason %q", got, err, "hooks arg")
			}
		})
	}
}

func TestAScriptWithoutAFirstLineSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bare"), "echo hello\n", 0o755)
	h, err := exechook.New(exechook.Config{Command: []string{"./bare"}, Base: dir})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	if _, err := h(t.Context(), bash); err == nil || !strings.Contains(err.Error(), "a script begins with a line like #!/bin/sh") {
		t.Errorf("error %v; want a hint at the first line", err)
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// Reading a file runs no program that the file chooses: a signed policy is read before it is known
// whether it may run commands.
func TestNewRunsNoProgramOfTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	shell := filepath.Join(dir, "bash")
	write(t, shell, "#!/bin/sh\necho \"$@\" > "+filepath.Join(dir, "ran")+"\n", 0o755)
	write(t, filepath.Join(dir, "plain.sh"), "true\n", 0o644)
	write(t, filepath.Join(dir, "headed.sh"), "#!"+shell+"\ntrue\n", 0o755)
	for _, c := range []exechook.Config{
		{Command: exechook.Command{shell, "plain.sh"}},
		{Command: exechook.Command{"./bash", "plain.sh"}},
		{Command: exechook.Command{"./headed.sh"}},
	} {
		c.Base = dir
		if _, err := exechook.New(c); err != nil {
			t.Errorf("New(%q): %v", c.Command, err)
		}
		if did, err := os.ReadFile(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("New(%q) ran it: %s", c.Command, did)
		}
	}
}
