package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// channels are popular channels of conda.
	channels   = regexp.MustCompile(`^(conda-forge|defaults|main|anaconda|bioconda|pytorch|nvidia|rapidsai|fastai|huggingface|intel|msys2|r)(/(linux|osx|win)-\w+)?$`)
	ofChannel  = strings.Fields("conda mamba micromamba pixi")
	inChannel  = regexp.MustCompile(`^([\w./-]+)::`)
	fromOption = regexp.MustCompile(`(?i)^(-[a-z]|--[\w-]+=)(git\+|git@|[a-z]+://)`)
	// adding are verbs of commands in which an option with an address names a package source.
	adding = strings.Fields("add install i download wheel create init sync lock update upgrade")
	// condaOptions are options that name a channel.
	condaOptions = shell.Options{Flags: "yqvkdCOm", Values: "c", Long: "--channel="}
)

// addsByOption reports whether a command adds packages from an address in one of its options.
func addsByOption(c shell.Command) bool {
	return c.Does(2, adding) && c.AnyArg(fromOption.MatchString)
}

// addsFromRegistry reports whether the packages of a project come from the usual registry or
// channel. Commands that run something in the project pass too.
func addsFromRegistry(c shell.Command) bool {
	switch verbs := c.Verbs(1); {
	case len(verbs) > 0 && slices.Contains([]string{"run", "shell", "task"}, verbs[0]):
		return true
	case !installsFromRegistry(c):
		return false
	case !slices.Contains(ofChannel, c.Name()):
		return true
	}
	for a := range condaOptions.Each(c.Args()) {
		switch m := inChannel.FindStringSubmatch(a.Text); {
		case len(m) > 0 && !channels.MatchString(m[1]), !a.Takes && strings.HasPrefix(a.Name, "--channel"):
			return false
		case a.Takes && (!a.Value.Known || !channels.MatchString(strings.TrimPrefix(a.Value.Text, "="))):
			return false
		}
	}
	return true
}
