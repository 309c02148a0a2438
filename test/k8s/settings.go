package k8s

import (
	"fmt"
	"regexp"
	"strings"
)

// Program is what a program takes: its flags and variables, from its own --help.
type Program struct {
	Flags     map[string]bool // "--nats-url"
	Variables map[string]bool // "HOOK_ROUTER_NATS_URL"
}

var (
	helpFlag     = regexp.MustCompile(`--([a-z0-9-]+)`)
	helpVariable = regexp.MustCompile(`\$([A-Z][A-Z0-9_]+)`)
)

// NewProgram reads the text of --help.
func NewProgram(help string) Program {
	p := Program{map[string]bool{}, map[string]bool{}}
	for _, m := range helpFlag.FindAllString(help, -1) {
		p.Flags[m] = true
	}
	for _, m := range helpVariable.FindAllStringSubmatch(help, -1) {
		p.Variables[m[1]] = true
	}
	return p
}

// foreign are the programs that are not ours.
var foreign = map[string]Program{
	"nats":   {Flags: map[string]bool{"--config": true}},
	"jaeger": {Flags: map[string]bool{"--memory.max-traces": true}},
}

// common are variables that every program takes, by what reads them: the Go
// runtime, the OpenTelemetry SDK.
var common = map[string]bool{
	"GOMEMLIMIT":                  true,
	"OTEL_SERVICE_NAME":           true,
	"OTEL_TRACES_EXPORTER":        true,
	"OTEL_EXPORTER_OTLP_ENDPOINT": true,
	"OTEL_EXPORTER_OTLP_PROTOCOL": true,
}

// entrypoint of our image, where a container has no command.
const entrypoint = "/usr/local/bin/hook-router"

// Settings finds flags and variables that a program does not take. help gives the
// --help of one of ours, by its name and subcommands. A variable that NATS does
// not know may be read by its configuration, which configured gives.
func Settings(s *Set, help func(command ...string) (Program, error), configured map[string]bool) (wrong []string) {
	for _, w := range s.Workloads() {
		for _, c := range w.Containers() {
			say := func(format string, args ...any) {
				wrong = append(wrong, w.Name+": "+c.Name+" "+fmt.Sprintf(format, args...))
			}
			takes, isForeign := foreign[c.Name]
			command := append(append([]string{}, c.Command...), c.Args...)
			if !isForeign {
				if len(c.Command) == 0 {
					command = append([]string{entrypoint}, command...)
				}
				name, ours := strings.CutPrefix(command[0], "/usr/local/bin/")
				if !ours {
					say("runs %s, which is not in our image", command[0])
					continue
				}
				words := []string{name}
				for _, word := range command[1:] {
					if !strings.HasPrefix(word, "-") {
						words = append(words, word)
					}
				}
				var err error
				if takes, err = help(words...); err != nil {
					say("runs what does not exist: %v", err)
					continue
				}
				command = command[1:]
			}
			for _, word := range command {
				if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "-") && !takes.Flags[flag] {
					say("has a flag that it does not take: %s", flag)
				}
			}
			values := map[string]bool{} // those that others are made of
			for _, v := range c.Env {
				for _, m := range dependent.FindAllStringSubmatch(v.Value, -1) {
					values[m[1]] = true
				}
			}
			for _, v := range c.Env {
				if !common[v.Name] && !takes.Variables[v.Name] && !values[v.Name] && (c.Name != "nats" || !configured[v.Name]) {
					say("has a variable that it does not read: %s", v.Name)
				}
			}
		}
	}
	return wrong
}

// Configured are the variables that the NATS configuration of a set reads.
func Configured(s *Set) map[string]bool {
	read := map[string]bool{}
	for _, m := range s.ConfigMaps {
		for name, text := range m.Data {
			if !strings.HasSuffix(name, ".conf") {
				continue
			}
			for line := range strings.Lines(text) {
				line, _, _ = strings.Cut(line, "#")
				for _, v := range helpVariable.FindAllStringSubmatch(line, -1) {
					read[v[1]] = true
				}
			}
		}
	}
	return read
}
