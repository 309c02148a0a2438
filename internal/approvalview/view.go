package approvalview

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/textdiff"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// View is the presentation of an approval request's data.
type View struct {
	// Subject is what it is about: commands, or else paths, or else addresses.
	Subject []Text `json:"subject"`
	// Edits are texts that the tool replaces.
	Edits []Change `json:"edits"`
	// Reason is why the hook asks; empty where the prompt says it already.
	Reason string `json:"reason,omitempty"`
	// Changed is what hooks changed since the agent sent it.
	Changed []Change `json:"changed"`
	// Rest is all other data, as texts and JSON of many lines.
	Rest []Text `json:"rest"`
	// Masked says that secrets are masked: in the data, or in what hooks took out of it.
	Masked bool `json:"masked,omitempty"`
}

// Text is a value with a name.
type Text struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Of returns the view of an approval request.
func Of(r approval.Record) View {
	v := View{Subject: []Text{}, Edits: []Change{}, Reason: Reason(r), Changed: Patch(ByHooks(r)), Rest: []Text{}, Masked: masked(r)}
	v.subject(r)
	data, err := events.ParseObject(r.Data)
	if err != nil {
		if len(r.Data) > 0 {
			v.Rest = append(v.Rest, Text{"data", string(r.Data)})
		}
		return v
	}
	for name, value := range data.All() {
		if input, err := events.ParseObject(value); err == nil && (name == "tool_input" || name == "arguments" || name == "input") {
			v.input(input)
			continue
		}
		v.rest(name, value)
	}
	return v
}

// rest adds a value. It replaces a long run of blanks or empty lines with its length, so that it
// can't push the rest out of view.
func (v *View) rest(name string, value []byte) {
	v.Rest = append(v.Rest, Text{name, approval.Visible(Lines(value))})
}

// maxSubjects limits the subjects at the top. All of them are also in the data below.
const maxSubjects = 10

// subject adds the commands, paths or addresses of the event's tools.
func (v *View) subject(r approval.Record) {
	more := 0
	for _, tool := range events.ToolsOf(r.Event, r.Data) {
		name, texts := "command", []string{tool.Command}
		if tool.Command == "" {
			name, texts = "path", tool.Paths
		}
		if len(texts) == 0 {
			name, texts = "address", tool.URLs
		}
		for _, text := range texts {
			switch {
			case text == "":
			case len(v.Subject) < maxSubjects:
				v.Subject = append(v.Subject, Text{name, approval.Visible(text)})
			default:
				more++
			}
		}
	}
	if more > 0 {
		v.Subject = append(v.Subject, Text{"more", fmt.Sprintf("%d more, which stand in the data below", more)})
	}
}

// replaced are pairs of members with an old and a new text.
var replaced = [][2]string{{"old_string", "new_string"}, {"old_str", "new_str"}, {"oldString", "newString"}, {"old_text", "new_text"}, {"oldText", "newText"}}

// input adds the input of a tool.
func (v *View) input(input events.Object) {
	used := map[string]bool{}
	for _, pair := range replaced {
		if diff, ok := edit(input, pair); ok {
			whole := diff.Hidden == 0 // otherwise also show the complete texts
			used[pair[0]], used[pair[1]] = whole, whole
			v.Edits = append(v.Edits, Change{Name: pair[0] + " → " + pair[1], Diff: diff})
		}
	}
	for name, value := range input.All() {
		if used[name] || name == "edits" && v.several(value) {
			continue
		}
		v.rest(name, value)
	}
}

func edit(o events.Object, pair [2]string) (d textdiff.Diff, ok bool) {
	before, had := o.Get(pair[0])
	after, has := o.Get(pair[1])
	if !had || !has || before.Kind() != '"' || after.Kind() != '"' {
		return d, false
	}
	return textdiff.Of(Lines(before), Lines(after)), true
}

// several adds a list of edits. It returns false and adds nothing if an element is not an edit.
func (v *View) several(list jsontext.Value) bool {
	var edits []jsontext.Value
	if json.Unmarshal(list, &edits) != nil || len(edits) == 0 {
		return false
	}
	var changes []Change
	var rest []Text
	for i, one := range edits {
		o, err := events.ParseObject(one)
		if err != nil {
			return false
		}
		inner := View{}
		inner.input(o)
		if len(inner.Edits) != 1 {
			return false
		}
		inner.Edits[0].Name = fmt.Sprintf("edit %d of %d", i+1, len(edits))
		changes = append(changes, inner.Edits...)
		for _, text := range inner.Rest {
			rest = append(rest, Text{fmt.Sprintf("edit %d, %s", i+1, text.Name), text.Text})
		}
	}
	v.Edits, v.Rest = append(v.Edits, changes...), append(v.Rest, rest...)
	return true
}
