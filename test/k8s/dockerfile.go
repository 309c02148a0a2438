package k8s

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Instruction is one of a Dockerfile's: COPY, and the rest of its line.
type Instruction struct{ Name, Rest string }

// Instructions reads a Dockerfile, without comments and with lines joined.
func Instructions(text string) (all []Instruction) {
	joined := strings.ReplaceAll(text, "\\\n", "")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		all = append(all, Instruction{name, strings.Join(strings.Fields(rest), " ")})
	}
	return all
}

// last is what the last instruction of a name says, and whether there is one.
func last(all []Instruction, name string) (rest string, found bool) {
	for _, i := range all {
		if i.Name == name {
			rest, found = i.Rest, true
		}
	}
	return rest, found
}

var (
	numericUser = regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`)
	goImage     = regexp.MustCompile(`^--platform=\$BUILDPLATFORM docker\.io/library/golang:(\d+\.\d+)\.\d+-[a-z]+ AS build$`)
)

// Dockerfile finds what makes an image of other sources each time, that runs as
// root, or that holds more than the programs. goVersion is that of go.mod, ignore
// the text of the .dockerignore.
func Dockerfile(text, ignore, goVersion string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	all := Instructions(text)
	var stages []int
	for i, in := range all {
		if in.Name == "FROM" {
			stages = append(stages, i)
		}
	}
	if len(stages) != 2 || stages[0] != 0 {
		return []string{"there are not two stages"}
	}
	build, image := all[:stages[1]], all[stages[1]:]
	if m := goImage.FindStringSubmatch(build[0].Rest); len(m) != 2 || !strings.HasPrefix(goVersion, m[1]) {
		say("it is built by %q, want a pinned Go %s for the machine that builds", build[0].Rest, goVersion)
	}
	if image[0].Rest != "scratch" {
		say("the image stands on %s", image[0].Rest)
	}
	if env, _ := last(build, "ENV"); !strings.Contains(env, "CGO_ENABLED=0") || !strings.Contains(env, "GOTOOLCHAIN=local") {
		say("the build may link C, or another Go than the image's")
	}
	run, _ := last(build, "RUN")
	for _, want := range []string{
		"GOOS=$TARGETOS", "GOARCH=$TARGETARCH", "go build", "-trimpath", "-buildvcs=false", "-buildid=", "version.release=$VERSION",
		"./cmd/hook-router", "./cmd/hook-worker", "./cmd/hookctl",
	} {
		if !strings.Contains(run, want) {
			say("the build has no %s", want)
		}
	}
	if user, _ := last(image, "USER"); !numericUser.MatchString(user) {
		say("it runs as %q: runAsNonRoot needs the numbers of a user and a group", user)
	}
	var command []string
	text, _ = last(image, "ENTRYPOINT")
	if err := json.Unmarshal([]byte(text), &command); err != nil || !slices.Equal(command, []string{entrypoint}) {
		say("it runs %s, want [%q]", text, entrypoint)
	}
	labels, _ := last(image, "LABEL")
	for _, label := range []string{"title", "description", "source", "licenses", "version"} {
		if !strings.Contains(labels, "org.opencontainers.image."+label+"=") {
			say("it has no label %s", label)
		}
	}
	for _, in := range image {
		if in.Name == "RUN" || in.Name == "ADD" || in.Name == "COPY" && !strings.HasPrefix(in.Rest, "--from=build ") {
			say("the image takes more than the build made: %s %s", in.Name, in.Rest)
		}
	}
	allowed := strings.Split(ignore, "\n")
	if allowed[0] != "*" {
		say("the .dockerignore lets everything in")
	}
	for _, source := range Copied(all) {
		if !slices.Contains(allowed, "!"+source) {
			say("the .dockerignore keeps %s out", source)
		}
	}
	return wrong
}

// Copied are the files and directories that are taken from the sources.
func Copied(all []Instruction) (sources []string) {
	for _, in := range all {
		if words := strings.Fields(in.Rest); in.Name == "COPY" && !strings.HasPrefix(in.Rest, "--") {
			sources = append(sources, words[:len(words)-1]...)
		}
	}
	return sources
}
