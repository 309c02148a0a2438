package suggest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// directories returns the patterns that generalize a file of the command: one for each word that is
// a path below the command's working directory.
func directories(command, cwd string) map[string]bool {
	found := map[string]bool{}
	words := strings.Split(command, " ")
	for i, word := range words {
		dir, file := path.Split(word)
		ending := path.Ext(file)
		inside := strings.TrimPrefix(dir, strings.TrimSuffix(cwd, "/")+"/")
		if i == 0 || dir == "" || ending == "" || ending == file || strings.HasPrefix(word, "-") || strings.HasPrefix(inside, "/") || !inDirectory(inside) {
			continue
		}
		general := slices.Clone(words)
		general[i] = dir + "*" + ending
		if pattern := strings.Join(general, " "); allows(pattern, command) {
			found[pattern] = true
		}
	}
	return found
}

// names are file names with which every pattern is checked, in addition to those it was derived
// from.
var names = strings.Fields("server client ca master production signing encryption tls ssl config data index main id x 0")

// try suggests a rule, or returns why not.
func (s *suggester) try(ctx context.Context, pattern string, lines []*line) (why string, err error) {
	made := Suggestion{Rule: rule(pattern, lines), lines: lines}
	sessions, people := map[string]bool{}, map[string]bool{}
	commands := []string{pattern}
	for _, l := range lines {
		made.Answers += l.allowed
		maps.Copy(sessions, l.sessions)
		maps.Copy(people, l.people)
		commands = append(commands, l.command)
	}
	made.Sessions, made.People = len(sessions), slices.Sorted(maps.Keys(people))
	if strings.Contains(pattern, "*") {
		for _, name := range names {
			if command := strings.Replace(pattern, "*", name, 1); allows(pattern, command) {
				commands = append(commands, command)
			}
		}
	}
	f := lines[0].facts
	switch {
	case len(sessions) < s.o.Sessions:
		return fmt.Sprintf("it comes from %d of the %d sessions that are needed", len(sessions), s.o.Sessions), nil
	case f.Cwd == "":
		return "where it ran is not known", nil
	case !expressible(f):
		return "a rule can't name its hook, question or sender: they have a *, are too long or hide characters", nil
	}
	for _, denied := range s.denied {
		if allows(pattern, denied) {
			return "it was denied at another time: " + denied, nil
		}
	}
	for _, command := range commands {
		if why, err = s.judge.Refuse(ctx, f.Tool, f.Cwd, command); why != "" || err != nil {
			return why, err
		}
	}
	if !slices.ContainsFunc(lines, func(l *line) bool { return !matches(s.o.Known.Enforced(), l.facts) }) {
		return "", nil // there already is such a rule
	}
	s.report.Rules = append(s.report.Rules, made)
	return "", nil
}

// allows reports whether a rule with a pattern matches a command.
func allows(pattern, command string) bool {
	return matches(approval.Rules{{Hook: "h", Decision: approval.DefaultAllow, Command: pattern}}, approval.Facts{Hook: "h", Command: command})
}

// expressible reports whether a rule can match exactly what was asked.
func expressible(f approval.Facts) bool {
	for _, text := range [...]string{f.Hook, f.Tool, f.Emitter, strings.ReplaceAll(f.Prompt, f.Command, "")} {
		if strings.Contains(text, "*") || len(text) > approval.MaxGlob/2 {
			return false
		}
	}
	_, secrets := redact.Text(f.Prompt + " " + f.Cwd)
	return secrets == 0 && !masked.MatchString(f.Prompt) && f.Hook != "" && f.Prompt != "" && len(f.Prompt) <= approval.MaxGlob &&
		!strings.ContainsFunc(f.Hook+f.Tool+f.Emitter+f.Cwd+strings.ReplaceAll(f.Prompt, "\n", ""), func(r rune) bool { return !unicode.IsPrint(r) })
}

func matches(rules approval.Rules, f approval.Facts) bool {
	_, found := rules.Match(f)
	return found
}

// rule returns a rule that allows a command or a pattern, for the same kind of request as lines.
func rule(pattern string, lines []*line) approval.Rule {
	f := lines[0].facts
	r := approval.Rule{
		Name: pattern, Decision: approval.DefaultAllow, Mode: approval.Shadow, Hook: f.Hook, Tool: f.Tool, Command: pattern, Cwd: f.Cwd,
		Prompt: f.Prompt, Labels: &approval.LabelCondition{None: []string{"*"}},
	}
	if pattern != f.Command {
		r.Prompt = strings.ReplaceAll(f.Prompt, f.Command, "*")
	}
	if f.Emitter != "" {
		r.Emitter = &approval.EmitterCondition{ID: f.Emitter}
	}
	return r
}
