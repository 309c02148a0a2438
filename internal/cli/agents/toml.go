package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// config is where Codex keeps settings in TOML, beside its hooks.json. It reads hooks of both, and
// complains if there are some in both.
const config = "config.toml"

// requirements holds what an administrator demands of Codex: its hooks need no trust.
const requirements = "requirements.toml"

// switchedOn keeps people from switching all hooks off.
const switchedOn = "[features]\nhooks = true\n"

// chosen is the file of a directory that has, or is to have, the hooks: for Codex config.toml
// if it holds hooks of others in a form that ours can join, else hooks.json.
func (t target) chosen(path string) (target, string) {
	if t.dialect != "codex" {
		return t, path
	}
	if filepath.Base(path) == requirements {
		t.toml, t.demands = true, true
		return t, path
	}
	beside := filepath.Join(filepath.Dir(path), config)
	inJSON, _ := read(path) // what can't be read is told by who reads it next
	text, _ := read(beside)
	there := t
	there.toml = true
	switch {
	case len(commands(inJSON, t)) > 0:
		return t, path
	case len(commands(text, there)) > 0:
		return there, beside
	case isBlank(inJSON) && len(hooksIn(text)) > 0:
		if _, err := addTOML(text, hooks{program: "hook-agent", target: there}); err == nil {
			return there, beside
		}
	}
	return t, path
}

// hooksIn are the hooks of a configuration in TOML, by event, without the record of what
// people have trusted beside them.
func hooksIn(settings []byte) map[string]any {
	var document struct {
		Hooks map[string]any `toml:"hooks"`
	}
	if toml.Unmarshal(settings, &document) != nil {
		return nil
	}
	delete(document.Hooks, "state")
	return document.Hooks
}

// addTOML appends hooks to a configuration in TOML. All other bytes stay as they are.
func addTOML(settings []byte, h hooks) ([]byte, error) {
	end := newline(settings)
	added := bytes.Clone(settings)
	if len(added) > 0 && !bytes.HasSuffix(added, []byte("\n")) {
		added = append(added, end...)
	}
	if h.target.demands {
		lines, err := demanded(settings)
		if err != nil {
			return nil, err
		}
		added = append(added, strings.ReplaceAll(lines, "\n", end)...)
	}
	added, err := withoutTTY(added)
	if err != nil {
		return nil, err
	}
	for _, e := range h.target.events() {
		one := h.of(e)
		for _, line := range []string{
			"", "[[hooks." + e.Native + "]]", "[[hooks." + e.Native + ".hooks]]", `type = "command"`,
			"command = " + quotedTOML(one.command), "timeout = " + strconv.FormatInt(one.timeout, 10),
		} {
			added = append(added, line+end...)
		}
	}
	var before, after map[string]any
	if err := errors.Join(toml.Unmarshal(settings, &before), toml.Unmarshal(added, &after)); err != nil {
		return nil, err
	}
	for _, name := range []string{"hooks", "features"} {
		delete(before, name)
		delete(after, name)
	}
	if len(before)+len(after) > 0 && !reflect.DeepEqual(before, after) {
		return nil, errors.New("the hooks can't be added without a change of the rest")
	}
	return added, nil
}

// demanded is what has Codex run hooks whatever people set, in front of the hooks; empty if
// that is demanded already.
func demanded(settings []byte) (lines string, err error) {
	set, err := features(settings)
	switch {
	case err != nil:
		return "", err
	case set["hooks"] == true:
		return "", nil
	case set != nil:
		return "", errors.New("its [features] lack hooks = true, without which people can switch hooks off: add it")
	}
	return "\n" + switchedOn, nil
}

// tomlEntry is an entry as addTOML writes it: Codex keeps the form of what it does not change.
var tomlEntry = regexp.MustCompile(`(\r?\n\[\[hooks\.\w+\]\]\r?\n)\[\[hooks\.\w+\.hooks\]\]\r?\ntype = "command"\r?\ncommand = "([^"\\\n]|\\.)*"\r?\ntimeout = \d+\r?\n`)

// tomlSibling is another hook in the same entry.
var tomlSibling = regexp.MustCompile(`^\s*\[\[hooks\.\w+\.hooks\]\]`)

// removeTOML removes the hooks of an agent, wherever they are by now.
func removeTOML(settings []byte, t target) ([]byte, error) {
	settings = withTTY(settings)
	if t.demands && len(t.events()) > 0 { // what precedes the first hook is ours
		end := newline(settings)
		first := end + "[[hooks." + t.events()[0].Native + "]]" + end
		settings = bytes.Replace(settings, []byte(end+strings.ReplaceAll(switchedOn, "\n", end)+first), []byte(first), 1)
	}
	left, done := []byte{}, 0
	for _, at := range tomlEntry.FindAllSubmatchIndex(settings, -1) {
		from, to := at[0], at[1]
		if len(commands(settings[from:to], t)) == 0 {
			continue
		}
		if tomlSibling.Match(settings[to:]) {
			from = at[3] // the entry stays
		}
		left = append(left, settings[done:from]...)
		done = to
	}
	left = append(left, settings[done:]...)
	if others := commands(left, t); len(others) > 0 {
		return nil, fmt.Errorf("%d of the hooks have another form by now: take them out by hand", len(others))
	}
	return left, nil
}

// asJSON is a configuration in TOML in the form of the others.
func asJSON(settings []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"hooks": hooksIn(settings)})
}

// quotedTOML is a basic string.
func quotedTOML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case slices.Contains([]rune{'"', '\\'}, r):
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
