package strictyaml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

type file struct {
	Teams map[string]team `json:"teams"`
	Open  bool            `json:"open"`
}

type team struct {
	Members []string `json:"members,omitempty"`
	Size    int      `json:"size"`
}

func (t team) Check() error {
	if t.Size < 0 {
		return errors.New("a team has no negative size")
	}
	return nil
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var got file
	err := strictyaml.Decode([]byte("teams:\n  red: {members: [ann, \"7\"], size: 2}\n  blue: {}\nopen: true\n"), 100, "", &got)
	want := file{Teams: map[string]team{"red": {Members: []string{"ann", "7"}, Size: 2}, "blue": {}}, Open: true}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "1:1: the file is empty: write {}",
		"[]":                               "1:1: must be a mapping (key: value)",
		"closed: true":                     `1:1: unknown key "closed": known are teams and open`,
		"teams:":                           "teams has no value: give it one, or remove the key",
		"teams:\n  red: {members: [~]}":    "members has no value",
		"open: yes":                        "1:7: open must be true or false",
		"teams: []":                        "1:8: must be a mapping (key: value)",
		"teams:\n  red: {members: ann}":    "2:18: members must be a list",
		"teams:\n  red: {members: [7]}":    "2:19: members must be a text: quote it",
		"teams:\n  red: {members: [!x 7]}": "2:19: members must be a text: quote it",
		"teams:\n  red: {size: '2'}":       "2:15: size must be an integer",
		"teams:\n  red: {size: 2.5}":       "2:15: size must be an integer",
		"teams:\n  red: {size: -1}":        "2:9: a team has no negative size",
		"teams:\n  red: {}\n  red: {}":     `mapping key "red" already defined`,
		"open: true\n---\nopen: true":      "one document",
		"open: true # " + strings.Repeat("x", 100): "at most 100 are allowed",
	} {
		err := strictyaml.Decode([]byte(text), 100, "write {}", &file{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("teams:\n  red: {members: [ann], size: 2}\nopen: true")
	f.Add("teams: {red: {members: !0\n-0}}")
	f.Fuzz(func(t *testing.T, text string) {
		var read file
		if err := strictyaml.Decode([]byte(text), 1<<20, "write {}", &read); err != nil {
			return
		}
		for name, team := range read.Teams {
			if team.Check() != nil {
				t.Errorf("%q was read: its team %q is refused by Check", text, name)
			}
		}
	})
}
