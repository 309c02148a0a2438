package audit_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestReceiptsSayOneThingToAllReaders(t *testing.T) {
	receipt, err := audit.Prove(t.Context(), bytes.NewReader(exported()), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(receipt)
	if err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(receipt, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	forged, err := json.Marshal(strings.Replace(receipt.Line, `"deny"`, `"allow"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	text := string(compact)
	first := func(members string) string { return "{" + members + "," + text[1:] }
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"as it is made":             {text, true},
		"indented":                  {string(indented) + "\n", true},
		"another line before":       {first(`"line":` + string(forged)), false},
		"another LINE before":       {first(`"LINE":` + string(forged)), false},
		"the true line as LINE":     {strings.Replace(first(`"line":`+string(forged)), `"line":"{\"time`, `"LINE":"{\"time`, 2), false},
		"another line with escapes": {first(`"l\u0069ne":` + string(forged)), false},
		"the same line twice":       {first(text[strings.Index(text, `"line":`):strings.Index(text, `,"seq":`)]), false},
		"a name in another case":    {strings.Replace(text, `"seq"`, `"Seq"`, 1), false},
		"an unknown name":           {first(`"approved_by":"boss"`), false},
		"text behind it":            {text + ` {"approved_by":"boss"}`, false},
		"text before it":            {"approved " + text, false},
		"what is not UTF-8":         {strings.Replace(text, "guard", "gu\xffrd", 1), false},
		"half a character":          {strings.Replace(text, "guard", `gu\ud800rd`, 1), false},
		"no name":                   {strings.Replace(text, `"line":`, ``, 1), false},
	} {
		r, err := audit.ParseReceipt([]byte(c.text))
		if err == nil && c.ok {
			_, _, err = r.Check(keys)
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
