package agents

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// commands returns the commands that connect wrote into a configuration by event, with timeouts in
// the target's unit.
func commands(settings []byte, t target) map[string]hook {
	found := map[string]hook{}
	entries := entriesIn(settings, t)
	for _, e := range t.events() {
		for _, raw := range entries[e.Native] {
			if h, ok := commandIn(raw, t.dialect); ok {
				h.event = e
				found[e.Native] = h
			}
		}
	}
	return found
}

// entriesIn returns the entries of a configuration by event.
func entriesIn(settings []byte, t target) map[string][]json.RawMessage {
	if t.dialect == "opencode" || len(settings) == 0 {
		return nil
	}
	plain := hujson.Standardize
	if t.toml {
		plain = asJSON
	}
	standard, err := plain(bytes.Clone(settings))
	if err != nil {
		return nil
	}
	var document struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	_ = json.Unmarshal(standard, &document) // stays empty if it has another form
	entries := map[string][]json.RawMessage{}
	for event, raw := range document.Hooks {
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // as above
		entries[event] = list
	}
	return entries
}

// commandIn parses the entry of any agent.
func commandIn(raw json.RawMessage, dialect string) (hook, bool) {
	type handler struct {
		Command    string `json:"command"`
		Bash       string `json:"bash"`
		Timeout    int64  `json:"timeout"`
		TimeoutSec int64  `json:"timeoutSec"`
	}
	var entry struct {
		handler
		Hooks []handler `json:"hooks"`
	}
	if json.Unmarshal(raw, &entry) != nil {
		return hook{}, false
	}
	for _, h := range append(entry.Hooks, entry.handler) {
		if command := h.Command + h.Bash; ours(command, dialect) {
			return hook{command: command, timeout: h.Timeout + h.TimeoutSec}, true
		}
	}
	return hook{}, false
}

// ours reports whether connect wrote a command for an agent, whatever the program is called and
// whatever else was added to the line.
func ours(command, dialect string) bool {
	words := wordsOf(command)
	at := slices.Index(words, dialect)
	if at < 0 || at == len(words)-1 {
		return false
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(words[:at], func(word string) bool { return strings.HasPrefix(word, prefix) })
	}
	d, _ := agenthook.Find(dialect)
	_, known := d.Event(words[at+1])
	return has("--server=") && has("--timeout=") ||
		known && slices.ContainsFunc(words[:at], func(word string) bool { return filepath.Base(word) == "hook-agent" })
}

// written returns the flags with which connect wrote a configuration.
func written(settings []byte, t target) (hooks, bool) {
	for _, h := range commands(settings, t) {
		if !h.event.Obeys() {
			continue
		}
		words := wordsOf(h.command)
		if len(words) < 4 {
			return hooks{}, false
		}
		args := slices.DeleteFunc(words[1:len(words)-3], func(word string) bool { return word == managedFlag }) // which hooks.of adds
		return hooks{program: words[0], args: args, timeout: time.Duration(h.timeout) * t.unit, target: t}, true
	}
	return hooks{}, false
}

// wordsOf splits a command line into words, and undoes quoted.
func wordsOf(line string) []string {
	var words []string
	word, inQuotes := "", false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			inQuotes = !inQuotes
		case c == '\\' && !inQuotes && i+1 < len(line):
			i++
			word += line[i : i+1]
		case c == ' ' && !inQuotes:
			words, word = append(words, word), ""
		default:
			word += string(c)
		}
	}
	return append(words, strings.TrimSpace(word))
}
