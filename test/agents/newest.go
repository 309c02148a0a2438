package agents

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Newest returns the agent with the newest version in the npm registry.
func (a Agent) Newest(ctx context.Context) (Agent, error) {
	out, err := exec.CommandContext(ctx, "npm", "view", "--loglevel=error", a.Package, "version").Output()
	if err != nil {
		return a, fmt.Errorf("find the newest version of %s: npm could not ask its registry: %w", a.Name, err)
	}
	a.Version = strings.TrimSpace(string(out))
	return a, nil
}
