package redaction

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options of the builtin. The zero Options mask what is a secret by its form, in all
// members of the data but those that say what the event is about.
type Options struct {
	// Emails masks mail addresses too.
	Emails bool `json:"emails"`
	// Rules is a file of rules, as that of hook-router --audit-redact; its path is
	// found from the worker file. Rules also know secrets by name, and mail addresses
	// unless they say otherwise.
	Rules string `json:"rules"`
	// Members are the only members of the data that are looked at; empty means all.
	Members []string `json:"members"`
	// Keep are members of the data that are left alone.
	Keep []string `json:"keep"`
	// Mask is what a secret is replaced by; empty means [REDACTED:kind]. {kind} in it
	// stands for what it was.
	Mask string `json:"mask"`
	// Quiet tells the user nothing of what was masked.
	Quiet bool `json:"quiet"`
}

// Builtin is redaction.
var Builtin = builtin.Of("Masks secrets in prompts, in what tools are given, and in what they return.",
	chain.Registration{Events: []string{events.ToolPre, events.ToolPost, events.PromptSubmit}, Priority: 3, OnFailure: chain.FailClosed, ReplaySafe: true}, New)

// identity are the members that identify an event and its context. They are never changed.
var identity = []string{
	"session_id", "sessionId", "timestamp", "tool_name", "toolName", "tool_use_id", "tool_call_id", "turn_id", "prompt_id", "agent_id", "parent_id",
	"conversation_id", "generation_id", "cwd", "transcript_path", "hook_event_name", "permission_mode", "model",
}

// hook is a configured redaction hook.
type hook struct {
	Options
	redact func([]byte) ([]byte, int)
}

// maxMask limits the mask, in characters.
const maxMask = 80

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	h := hook{Options: o, redact: redact.Options{Emails: o.Emails, Nested: true}.Object}
	if o.Mask != "" && (utf8.RuneCountInString(o.Mask) > maxMask || !utf8.ValidString(o.Mask) || strings.ContainsAny(o.Mask, "\"\\") || strings.ContainsFunc(o.Mask, unicode.IsControl)) {
		return kind.Hook{}, kind.At("/mask", "must be one line of at most %d characters, without quotes and backslashes, which would end the string that it stands in", maxMask)
	}
	if _, found := redact.Text(o.Mask); found > 0 {
		return kind.Hook{}, kind.At("/mask", "looks like a secret itself")
	}
	for i, name := range o.Members {
		if slices.Contains(identity, name) || slices.Contains(o.Keep, name) {
			return kind.Hook{}, kind.At(jsontext.Pointer(fmt.Sprintf("/members/%d", i)), "%s is never changed: remove it", name)
		}
	}
	if o.Rules == "" {
		return kind.Hook{Handler: h.handle}, nil
	}
	path := s.Worker.Path(o.Rules)
	rules, err := load(path, o)
	if err != nil {
		return kind.Hook{}, err
	}
	h.redact = rules.Object
	return kind.Hook{Handler: h.handle, Files: []string{path}}, nil
}

// load reads the rules file.
func load(path string, o Options) (*redact.Rules, error) {
	if o.Emails {
		return nil, kind.At("/emails", "is for redaction without rules: a rules file says itself whether mail addresses are masked")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, kind.At("/rules", "can't be read: %w", err)
	}
	rules, err := redact.ParseRules(o.Rules, text)
	if err != nil {
		return nil, kind.At("/rules", "%w", err)
	}
	return rules, nil
}

func (h hook) handle(_ context.Context, ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	var places []string
	masked := 0
	changed := data.Map(func(name string, value jsontext.Value) []byte {
		if !h.looksAt(name) {
			return value
		}
		safe, n := h.member(name, value)
		if n == 0 {
			return value
		}
		masked, places = masked+n, append(places, name)
		return safe
	})
	if masked == 0 {
		return chain.Result{}, nil
	}
	what := fmt.Sprintf("%d secrets masked in %s", masked, list(places))
	if masked == 1 {
		what = "1 secret masked in " + list(places)
	}
	result := chain.Result{Action: chain.Modify, Data: changed, Reason: what}
	if !h.Quiet {
		result.UserMessage, result.UserMessageLevel = what, chain.LevelWarning
	}
	return result, nil
}

// looksAt reports whether secrets are masked in a member of the data.
func (h hook) looksAt(name string) bool {
	return (len(h.Members) == 0 || slices.Contains(h.Members, name)) && !slices.Contains(h.Keep, name) && !slices.Contains(identity, name)
}

// Limits of the list of members with secrets: the sender chooses their names.
const (
	maxPlaces = 10
	maxPlace  = 80 // bytes of a name
)

// list returns a limited list of member names.
func list(places []string) string {
	var names []string
	for _, place := range places[:min(len(places), maxPlaces)] {
		names = append(names, shorten.Bytes(place, maxPlace, "..."))
	}
	if more := len(places) - maxPlaces; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// member masks secrets in the value of a member. Rules may match the member's name.
func (h hook) member(name string, value jsontext.Value) (changed []byte, masked int) {
	quoted, _ := jsontext.AppendQuote(nil, name)
	head := slices.Concat([]byte{'{'}, quoted, []byte{':'})
	whole, n := h.redact(slices.Concat(head, value, []byte{'}'}))
	if n == 0 {
		return nil, 0
	}
	changed = whole[len(head) : len(whole)-1]
	if h.Mask != "" && !mark.Match(value) {
		changed = mark.ReplaceAllFunc(changed, func(m []byte) []byte {
			return []byte(strings.ReplaceAll(h.Mask, "{kind}", string(mark.FindSubmatch(m)[1])))
		})
	}
	return changed, n
}

// mark matches the text with which package redact replaces a secret. If the original value has such
// a text, the marks in it are not replaced by the configured mask.
var mark = regexp.MustCompile(`\[REDACTED:([a-z0-9-]+)\]`)
