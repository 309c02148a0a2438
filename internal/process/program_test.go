package process_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	sh, err := process.Find("", "sh")
	if err != nil {
		fmt.Println(err)
		return
	}
	hello := process.Program{Path: sh, Args: []string{"-c", "read -r name; echo hello $name; exit 3"}, Input: []byte("Ada\n")}
	out, err := hello.Run(context.Background())
	fmt.Printf("%s%d %v\n", out.Text, out.Code, err)
	// Output:
	// hello Ada
	// 3 <nil>
}

func shell(t *testing.T, script string, args ...string) process.Program {
	t.Helper()
	sh, err := process.Find("", "sh")
	if err != nil {
		t.Fatal(err)
	}
	return process.Program{Path: sh, Args: append([]string{"-c", script, "sh"}, args...), Env: process.Environ(process.DefaultEnv)}
}

func TestTheOutput(t *testing.T) {
	t.Setenv("SECRET", "s3cret")
	for name, c := range map[string]struct {
		script string
		set    func(*process.Program)
		want   string
	}{
		"without the standard error":    {"echo a; echo b >&2", nil, "a\n"},
		"with it":                       {"echo a; echo b >&2", func(p *process.Program) { p.Both = true }, "a\nb\n"},
		"no variable but those allowed": {`echo "$SECRET$MINE"`, func(p *process.Program) { p.Env = []string{"MINE=x"} }, "x\n"},
		"where it is told to run":       {"pwd", func(p *process.Program) { p.Dir = "/" }, "/\n"},
		"nothing to read":               {"cat", nil, ""},
	} {
		cmd := shell(t, c.script)
		if c.set != nil {
			c.set(&cmd)
		}
		out, err := cmd.Run(t.Context())
		if err != nil || string(out.Text) != c.want || out.Cut || out.Code != 0 {
			t.Errorf("%s: %q %+v, %v; want %q", name, out.Text, out, err, c.want)
		}
	}
}

func TestTooMuchOutputIsCut(t *testing.T) {
	for name, script := range map[string]string{"a program": "exec yes", "its child": "yes; true", "one byte": "printf 12345678901; sleep 1000"} {
		cmd := shell(t, script)
		cmd.MaxOutput = 10
		if out, err := cmd.Run(t.Context()); err != nil || !out.Cut || len(out.Text) != 10 {
			t.Errorf("%s: %q, %v; want 10 bytes that are cut", name, out.Text, err)
		}
	}
}

func TestASignalIsAnError(t *testing.T) {
	if out, err := shell(t, "kill -SEGV $$").Run(t.Context()); err == nil || !strings.Contains(err.Error(), "segmentation fault") {
		t.Errorf("%+v, %v; want an error that names the signal", out, err)
	}
}
