package exechook

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Contribution is the section exec of a contributor. The fields are those of [Config].
type Contribution struct {
	// Command is the program and its arguments; no shell is involved. It reads
	// {"channel": NAME} and prints the value as JSON, or nothing for none.
	Command Command `json:"command"`
	// Env are the names of the variables that the command sees besides PATH, HOME, LANG,
	// TZ and TMPDIR.
	Env []string `json:"env"`
	// Dir is where the command runs; empty means the directory of the file.
	Dir string `json:"dir"`
	// MaxOutput bounds the command's standard output, in bytes; 0 means
	// [DefaultMaxOutput].
	MaxOutput int `json:"max_output"`
	// Concurrency is how many commands run at once; 0 means [DefaultConcurrency].
	Concurrency int `json:"concurrency"`
}

// Contribute builds a contributor that runs a command for each request.
func Contribute(s kind.Section, c Contribution) (kind.Contributor, error) {
	cmd, err := newCommand(Config{Command: c.Command, Env: c.Env, Dir: c.Dir, MaxOutput: c.MaxOutput, Concurrency: c.Concurrency, Base: s.Worker.Dir})
	if err != nil {
		return nil, err
	}
	return cmd.give, nil
}

func (c *command) give(ctx context.Context, channel string) (any, error) {
	input, err := jsontext.AppendQuote([]byte(`{"channel":`), channel)
	if err != nil {
		return nil, fmt.Errorf("write the channel for %s: %w", c.name, err)
	}
	out, stderr, err := c.run(ctx, append(process.Environ(c.env), "HOOK_CHANNEL="+channel), append(input, "}\n"...))
	switch {
	case err != nil:
		return nil, err
	case out.Code != 0:
		return nil, c.exited(out.Code, stderr)
	}
	value := jsontext.Value(bytes.TrimSpace(out.Text))
	switch {
	case len(value) == 0:
		return nil, nil
	case !value.IsValid():
		return nil, fmt.Errorf("run %s: its output is not JSON", c.name)
	}
	return value, nil
}
