package claudescript

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// MaxText bounds each text of a script in characters, as in Claude Code.
const MaxText = 10_000

// output is the answer of a script on standard output.
type output struct {
	Continue       *bool    `json:"continue"`
	StopReason     string   `json:"stopReason"`
	SuppressOutput bool     `json:"suppressOutput"`
	SystemMessage  string   `json:"systemMessage"`
	Decision       string   `json:"decision"`
	Reason         string   `json:"reason"`
	Specific       specific `json:"hookSpecificOutput"`
}

// specific is the part of an output that belongs to one hook event.
type specific struct {
	HookEventName            string         `json:"hookEventName"`
	PermissionDecision       string         `json:"permissionDecision"`
	PermissionDecisionReason string         `json:"permissionDecisionReason"`
	UpdatedInput             jsontext.Value `json:"updatedInput"`
	AdditionalContext        string         `json:"additionalContext"`
	UpdatedToolOutput        jsontext.Value `json:"updatedToolOutput"`
	UpdatedMCPToolOutput     jsontext.Value `json:"updatedMCPToolOutput"`
	Decision                 struct {
		Behavior     string         `json:"behavior"`
		Message      string         `json:"message"`
		UpdatedInput jsontext.Value `json:"updatedInput"`
	} `json:"decision"`
}

// parseOutput parses JSON output and ignores unknown members.
func parseOutput(hookEvent string, stdout []byte) (output, error) {
	var out output
	if err := jsonv2.Unmarshal(stdout, &out); err != nil {
		return output{}, fmt.Errorf("%w: it begins like JSON and is not what a hook answers: %w", chain.ErrInvalidResult, withoutValues(err))
	}
	var members map[string]jsontext.Value
	_ = jsonv2.Unmarshal(stdout, &members) // known to be an object
	if v, given := members["hookSpecificOutput"]; given && v.Kind() == '{' {
		if name := out.Specific.HookEventName; name != hookEvent {
			return output{}, fmt.Errorf("hookSpecificOutput.hookEventName must be %q here, not %q", hookEvent, clip(name))
		}
	}
	return out, nil
}

// withoutValues returns a decoder's error without values from the output.
func withoutValues(err error) error {
	if sem, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		return fmt.Errorf("%s is of the wrong type", strings.ReplaceAll(strings.TrimPrefix(string(sem.JSONPointer), "/"), "/", "."))
	}
	if syn, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("no JSON at byte %d", syn.ByteOffset)
	}
	return err
}

func isJSON(stdout []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(stdout), []byte("{")) }

// text returns a script's text as valid UTF-8, trimmed and cut to MaxText.
func text(said string) string {
	return shorten.Runes(strings.TrimSpace(strings.ToValidUTF8(said, "�")), MaxText, "")
}

// joined joins the texts that are not empty, one per line.
func joined(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t = text(t); t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n")
}

// clip shortens untrusted text in an error.
func clip(s string) string { return shorten.Bytes(s, 40, "...") }
