package approvalview_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/approvalview"
)

// Within JSON a text of several lines stands line by line, and passes for nothing else.
func TestLinesOfNestedTextsAreReal(t *testing.T) {
	for value, want := range map[string]string{
		`"a\nb"`: "a\nb",
		`{"script":"import os\nprint(1)\n","n":9007199254740993,"x":"a\tb <"}`: "{\n  \"script\":\n    │ import os\n    │ print(1)\n  \"n\": 9007199254740993,\n  \"x\": \"a\\tb <\"\n}",
		`[1,"a\n\"b\": 2",[{}],{"c":[]},null]`:                                 "[\n  1,\n  │ a\n  │ \"b\": 2\n  [\n    {}\n  ],\n  {\n    \"c\": []\n  },\n  null\n]",
		`{"a\nb":1,"a\nb":2}`:                                                  "{\n  \"a\\nb\": 1,\n  \"a\\nb\": 2\n}",
		`{"a":1} x`:                                                            `{"a":1} x`,
		`{"a":`:                                                                `{"a":`,
		`{"a":"x` + strings.Repeat(`\n`, 100) + `y"}`:                          "{\n  \"a\":\n    │ x\n    │ ⟨99 empty lines⟩\n    │ y\n}",
		`7`: `7`,
	} {
		if diff := cmp.Diff(want, approvalview.Lines([]byte(value))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}
