package agents

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// altered returns the gated events whose hook differs from what connect writes. A matcher, another
// type, a wrapper command, or a name that is duplicated or in another case removes the gate without
// looking like it.
func (t target) altered(settings []byte, h hooks) (natives []string) {
	var list events.Object
	plain := hujson.Standardize
	if t.toml {
		plain = asJSON
	}
	if standard, err := plain(bytes.Clone(settings)); err == nil {
		document, _ := events.ParseObject(standard) // a duplicate name makes it empty
		raw, _ := document.Get("hooks")
		list, _ = events.ParseObject(raw)
	}
	for _, e := range t.events() {
		if !e.Gated() {
			continue
		}
		want := canonical([]byte(pretty(t.entry(h.of(e)))))
		raw, _ := list.Get(e.Native)
		var entries []json.RawMessage
		_ = json.Unmarshal(raw, &entries) // stays nil on failure
		if !slices.ContainsFunc(entries, func(entry json.RawMessage) bool { return bytes.Equal(canonical(entry), want) }) {
			natives = append(natives, e.Native)
		}
	}
	return natives
}

func canonical(text []byte) []byte {
	v := jsontext.Value(bytes.Clone(text))
	_ = v.Canonicalize() // v is valid JSON
	return v
}

// replaced returns hook-agent's own files that differ from what connect writes.
func (t target) replaced(path string, h hooks) (files []string) {
	for name, want := range t.files(h) {
		file := path
		if name != "" {
			file = filepath.Join(filepath.Dir(path), name)
		}
		if text, err := read(file); err != nil || string(text) != want {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// checkHooks finds settings that keep an agent from running the hooks as connect writes them.
func (t target) checkHooks(path string, getenv func(string) string, settings []byte, h hooks, list *findings) {
	switch {
	case t.dialect == "opencode":
		if _, args := pluginOf(string(settings)); agenthook.Plugin(h.program, args) != string(settings) {
			list.say("fail", "%s is not as connect writes it: connect again", path)
		}
	case !t.merge:
		if files := t.replaced(path, h); len(files) > 0 {
			list.say("fail", "%s is not as connect writes it: connect again", strings.Join(files, " and "))
		}
	default:
		if altered := t.altered(settings, h); len(altered) > 0 {
			list.say("fail", "in %s the hook for %s is not as connect writes it: connect again", path, strings.Join(altered, ", "))
		}
		if e := t.also; e.list != "" && !e.in(settings) {
			list.say("fail", "%s lacks %q in %s: %s: connect again", path, e.text, e.list, e.why)
		}
	}
	if t.dialect == "codex" {
		t.checkFeatures(path, getenv, list)
	}
	t.checkDotenv(path, getenv, list)
	if path == "/"+t.paths[managed] {
		if other := t.machine(getenv); other != path {
			list.say("fail", "%s is set: %s reads %s in place of %s", t.instead, t.program, other, path)
		}
		return // people can't turn these off
	}
	for _, file := range t.switches(path, getenv) {
		text, _ := read(file)
		standard, err := hujson.Standardize(bytes.Clone(text))
		if err != nil {
			continue
		}
		document, _ := events.ParseObject(standard)
		off, _ := document.Get("disableAllHooks")
		config, _ := document.Get("hooksConfig")
		inner, _ := events.ParseObject(config)
		enabled, _ := inner.Get("enabled")
		disabled, _ := inner.Get("disabled")
		only, _ := document.Get("allowManagedHooksOnly")
		switch {
		case string(off) == "true" || string(enabled) == "false":
			list.say("fail", "%s switches all hooks off", file)
		case bytes.Contains(disabled, []byte("hook-agent")): // listed by command
			list.say("fail", "%s switches hooks of hook-agent off", file)
		case string(only) == "true" && file == t.machine(getenv):
			list.say("fail", "%s allows only managed hooks: connect with --scope managed", file)
		}
	}
}

// machine returns the administrator's file, which takes precedence over people's files.
func (t target) machine(getenv func(string) string) string {
	if other := getenv(t.instead); t.instead != "" && other != "" {
		return other
	}
	return "/" + t.paths[managed]
}

// switches returns the settings files in which people or the administrator may turn hooks off.
func (t target) switches(path string, getenv func(string) string) []string {
	if !t.merge || t.toml || t.dialect == "codex" {
		return nil
	}
	files := []string{path, t.machine(getenv)}
	for _, scope := range []string{user, project} {
		if file, err := t.path(scope, getenv); err == nil {
			files = append(files, file, strings.TrimSuffix(file, ".json")+".local.json")
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
