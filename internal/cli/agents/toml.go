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

// config is Codex's TOML settings file, next to its hooks.json. Codex reads hooks from both files,
// and warns if both have some.
const config = "config.toml"

// requirements is the file with an administrator's requirements for Codex. Its hooks need no trust.
const requirements = "requirements.toml"

// switchedOn keeps people from turning all hooks off.
const switchedOn = "[features]\nhooks = true\n"

// chosen returns the file that has the hooks, or would get them. For Codex this is config.toml if
// it has hooks that can be extended and hooks.json is empty, and hooks.json otherwise. An existing
// connection keeps its file.
func (t target) chosen(path string) (target, string) {
	if t.dialect != "codex" {
		return t, path
	}
	if filepath.Base(path) == requirements {
		t.toml, t.demands = true, true
		return t, path
	}
	beside := filepath.Join(filepath.Dir(path), config)
	inJSON, _ := read(path) // the next reader reports an unreadable file
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

// hooksIn returns the hooks of a TOML configuration by event, without the record of trusted hooks
// that Codex keeps there.
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

// demanded returns the lines that make Codex run hooks regardless of people's settings. They
// precede the hooks. It returns "" if the file already requires that.
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

// tomlEntry matches an entry as addTOML writes it. Codex keeps the format of what it does not
// change.
var tomlEntry = regexp.MustCompile(`(\r?\n\[\[hooks\.\w+\]\]\r?\n)\[\[hooks\.\w+\.hooks\]\]\r?\ntype = "command"\r?\ncommand = "([^"\\\n]|\\.)*"\r?\ntimeout = \d+\r?\n`)

// tomlSibling matches another hook in the same entry.
var tomlSibling = regexp.MustCompile(`^\s*\[\[hooks\.\w+\.hooks\]\]`)

// removeTOML removes the hooks of an agent, wherever they are in the file.
func removeTOML(settings []byte, t target) ([]byte, error) {
	settings = withTTY(settings)
	if t.demands && len(t.events()) > 0 { // the lines before the first hook are hook-agent's
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
			from = at[3] // keep the entry
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

// asJSON converts the hooks of a TOML configuration to the JSON form of the other agents.
func asJSON(settings []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"hooks": hooksIn(settings)})
}

// quotedTOML returns text as a TOML basic string.
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
