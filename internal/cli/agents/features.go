package agents

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// ttyFeature is the Codex feature that types into running programs (write_stdin) without firing a
// hook. It is on unless a configuration turns it off.
const ttyFeature = "unified_exec_tty"

// Each edit ends in a comment by which it is found again. If the edit replaced a value, the comment
// ends with the rest of the replaced line.
const (
	ttyOff      = "false # hookctl connect"
	ttyInstead  = ttyOff + ": was "
	ttyLine     = ttyFeature + " = " + ttyOff
	ttyUngated  = "what Codex types into a program that runs is not gated"
	featureLine = "[features]"
)

// The positions of a feature in TOML. The result of an edit at one of them is parsed before it is
// used.
var (
	ttyValue    = regexp.MustCompile(`(?m)^[ \t]*(?:features\.)?` + ttyFeature + `[ \t]*=[ \t]*`)
	tableHeader = regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*features[ \t]*\][^\n]*\n`)
	dottedKey   = regexp.MustCompile(`(?m)^[ \t]*features\.`)

	innerCapital = regexp.MustCompile(`([a-z])([A-Z])`)

	ttyReplaced = regexp.MustCompile(`(?m)^([ \t]*(?:features\.)?` + ttyFeature + `[ \t]*=[ \t]*)` + ttyInstead)
	ttyTable    = regexp.MustCompile(`(?m)^\r?\n\[features\]\r?\n` + ttyLine + `\r?\n((?:\r?\n)*(?:\[|\z))`)
	ttyAdded    = regexp.MustCompile(`(?m)^(?:features\.)?` + ttyLine + `\r?\n`)
)

// features returns the features that a TOML configuration sets.
func features(settings []byte) (map[string]any, error) {
	var document struct {
		Features map[string]any `toml:"features"`
	}
	err := toml.Unmarshal(settings, &document)
	return document.Features, err
}

// onlyManaged reports whether the machine's requirements keep Codex from running people's hooks.
func onlyManaged(requirements []byte) bool {
	var document struct {
		Only bool `toml:"allow_managed_hooks_only"`
	}
	return toml.Unmarshal(requirements, &document) == nil && document.Only // Codex does not start with a broken file
}

// withoutTTY turns ttyFeature off. All other bytes stay as they are.
func withoutTTY(settings []byte) ([]byte, error) {
	set, err := features(settings)
	if err != nil {
		return nil, err
	}
	if set[ttyFeature] == false {
		return settings, nil
	}
	end := newline(settings)
	line := []byte(ttyLine + end)
	whole := settings
	if len(whole) > 0 && !bytes.HasSuffix(whole, []byte("\n")) {
		whole = slices.Concat(whole, []byte(end))
	}
	var forms [][]byte
	for _, at := range ttyValue.FindAllIndex(settings, -1) {
		forms = append(forms, slices.Insert(bytes.Clone(settings), at[1], []byte(ttyInstead)...))
	}
	for _, at := range tableHeader.FindAllIndex(whole, -1) {
		forms = append(forms, slices.Insert(bytes.Clone(whole), at[1], line...))
	}
	for _, at := range dottedKey.FindAllIndex(whole, -1) {
		forms = append(forms, slices.Insert(bytes.Clone(whole), at[0], append([]byte("features."), line...)...))
	}
	forms = append(forms, slices.Concat(whole, []byte(end+featureLine+end), line))
	for _, form := range forms {
		if ttyOnly(settings, form) {
			return form, nil
		}
	}
	return nil, fmt.Errorf("its features lack %s = false, without which %s: add it", ttyFeature, ttyUngated)
}

// ttyOnly reports whether an edit turns ttyFeature off and changes nothing else.
func ttyOnly(before, after []byte) bool {
	var was, is map[string]any
	if errors.Join(toml.Unmarshal(before, &was), toml.Unmarshal(after, &is)) != nil {
		return false
	}
	set, _ := is["features"].(map[string]any)
	old, _ := was["features"].(map[string]any)
	off := set[ttyFeature] == false
	for _, features := range []map[string]any{set, old} {
		delete(features, ttyFeature)
	}
	for _, all := range []map[string]any{was, is} {
		if features, ok := all["features"].(map[string]any); ok && len(features) == 0 {
			delete(all, "features")
		}
	}
	return off && (len(was)+len(is) == 0 || reflect.DeepEqual(was, is))
}

// withTTY undoes withoutTTY.
func withTTY(settings []byte) []byte {
	settings = ttyReplaced.ReplaceAll(settings, []byte("$1"))
	settings = ttyTable.ReplaceAll(settings, []byte("$1"))
	return append([]byte{}, ttyAdded.ReplaceAll(settings, nil)...)
}

// ttyChange returns the change to the config.toml next to Codex's hooks.
func ttyChange(hooks string, connect bool) (change, error) {
	path := filepath.Join(filepath.Dir(hooks), config)
	now, err := read(path)
	if err != nil {
		return change{}, err
	}
	if err := (target{toml: true}).broken(now); err != nil {
		return change{}, fmt.Errorf("edit %s: repair it first: %w", path, err)
	}
	original, err := read(path + backup)
	if err != nil {
		return change{}, err
	}
	again, err := withoutTTY(original)
	switch {
	case now == nil:
		original = nil
	case err != nil || !bytes.Equal(again, now) || bytes.Equal(original, now): // the file was edited since
		original = withTTY(now)
	}
	if !connect {
		return change{path: path, before: now, after: original}, nil
	}
	after, err := withoutTTY(original)
	if err != nil {
		return change{}, fmt.Errorf("edit %s: %w", path, err)
	}
	return change{path: path, before: now, after: after, original: original, keep: true}, nil
}

// checkFeatures finds Codex features that keep it from calling the hooks.
func (t target) checkFeatures(path string, getenv func(string) string, list *findings) {
	set := func(file string) map[string]any {
		text, _ := read(file)
		all, _ := features(text) // Codex does not start with a broken file
		return all
	}
	own, demanded, machine := path, set(path), path
	if !t.demands {
		machine = "/" + t.paths[managed]
		own, demanded = filepath.Join(filepath.Dir(path), config), set(machine)
	}
	if demanded["hooks"] == false {
		list.say("fail", "%s switches all hooks off", machine)
	}
	if text, _ := read(machine); !t.demands && onlyManaged(text) {
		list.say("fail", "%s allows only managed hooks: connect with --scope managed", machine)
	}
	if demanded[ttyFeature] != false && set(own)[ttyFeature] != false {
		list.say("fail", "%s lacks %s = false below %s: %s: connect again", own, ttyFeature, featureLine, ttyUngated)
	}
	if t.demands {
		return // people can't turn these off
	}
	files := []string{own}
	if settings, err := t.path(user, getenv); err == nil {
		person := filepath.Join(filepath.Dir(settings), config)
		files = append(files, person)
		t.checkDisabled(path, person, list)
	}
	if here, err := filepath.Abs(filepath.Join(".codex", config)); err == nil {
		files = append(files, here) // takes precedence over the user's file
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		all := set(file)
		if all["hooks"] == false && demanded["hooks"] != true {
			list.say("fail", "%s switches all hooks off", file)
		}
		if file != own && all[ttyFeature] == true && demanded[ttyFeature] != false && !t.ofProject(path, getenv("HOME")) {
			list.say("fail", "%s has %s = true: %s", file, ttyFeature, ttyUngated)
		}
	}
}

// checkDisabled finds gated hooks of hook-agent that the user disabled with /hooks. Codex records
// that in the user's settings by file, event and position.
func (t target) checkDisabled(path, person string, list *findings) {
	var states struct {
		Hooks struct {
			State map[string]struct {
				Enabled *bool `toml:"enabled"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	settings, _ := read(person)
	_ = toml.Unmarshal(settings, &states) // Codex does not start with a broken file
	text, _ := read(path)
	real, _ := filepath.EvalSymlinks(path)
	entries := entriesIn(text, t)
	for _, e := range t.events() {
		event := strings.ToLower(innerCapital.ReplaceAllString(e.Native, "${1}_$2"))
		for i, raw := range entries[e.Native] {
			if _, found := commandIn(raw, t.dialect); !found || !e.Gated() {
				continue
			}
			for key, state := range states.Hooks.State {
				place := fmt.Sprintf(":%s:%d:", event, i)
				if state.Enabled != nil && !*state.Enabled && (strings.HasPrefix(key, path+place) || strings.HasPrefix(key, real+place)) {
					list.say("fail", "%s disables the hook for %s: start codex and enable it in /hooks", person, e.Native)
				}
			}
		}
	}
}
