package agents

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// versionNumber matches the version in what `PROGRAM --version` prints.
var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

// versionWithin is how long a program may take to print its version.
const versionWithin = 10 * time.Second

// lacks says what the installed version of an agent does not do. fatal means that it runs no hooks.
// Both are empty if the version is new enough, or unknown.
func (t target) lacks(ctx context.Context, path string) (fatal, ungated string) {
	d, _ := agenthook.Find(t.dialect)
	program, installed := t.executable(path)
	if !installed || d.Oldest == "" {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	version := versionNumber.FindString(string(out))
	if err != nil || version == "" {
		return "", ""
	}
	if older(version, d.Oldest) {
		return fmt.Sprintf("%s %s runs no hooks if the settings name an event that it does not know, and they do: update it to %s or later", d.Agent, version, d.Oldest), ""
	}
	var notes, missing []string
	if older(version, d.FailsOpenBefore) {
		notes = append(notes, fmt.Sprintf("%s %s goes on if the process that it started is killed (until %s)", d.Agent, version, d.FailsOpenBefore))
	}
	for _, e := range d.Events {
		if older(version, e.Since) {
			missing = append(missing, fmt.Sprintf("%s (from %s on)", e.Native, e.Since))
		}
	}
	if len(missing) > 0 {
		notes = append(notes, fmt.Sprintf("%s %s does not know, and so does not gate: %s", d.Agent, version, strings.Join(missing, ", ")))
	}
	return "", strings.Join(notes, "; ")
}

// older reports whether a version is lower than another one, which is empty for any version.
func older(version, than string) bool {
	return than != "" && semver.Compare("v"+version, "v"+than) < 0
}
