package audit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestRecordsAreBounded(t *testing.T) {
	record := func(more string) string { return "{" + members + more + "}" }
	many := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf(`,"m%d":0`, i)
		}
		return text
	}
	nested := func(n int) string {
		return `,"a":` + strings.Repeat("[", n) + strings.Repeat("]", n)
	}
	for name, c := range map[string]struct {
		line string
		ok   bool
	}{
		"256 members":        {record(many(256 - 7)), true},
		"257 members":        {record(many(257 - 7)), false},
		"a name of 256":      {record(`,"` + strings.Repeat("n", 256) + `":0`), true},
		"a name of 257":      {record(`,"` + strings.Repeat("n", 257) + `":0`), false},
		"nested 256 deep":    {record(nested(256)), true},
		"nested 257 deep":    {record(nested(257)), false},
		"as long as may be":  {record(`,"a":"` + strings.Repeat("x", audit.MaxLine-len(record(`,"a":""`))) + `"`), true},
		"one byte too long":  {record(`,"a":"` + strings.Repeat("x", audit.MaxLine-len(record(`,"a":""`))+1) + `"`), false},
		"spaces are allowed": {" " + strings.ReplaceAll(record(`,"a":[1,{"b":2}]`), ",", " , ") + " ", true},
	} {
		if err := audit.CheckLine([]byte(c.line)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWritersAreBounded(t *testing.T) {
	var body []byte
	for i := range 1 << 16 {
		body = audit.Record{Writer: fmt.Sprint("w", i), WSeq: 1}.Append(body)
	}
	var history audit.Log
	if err := history.Append(message(body)); err != nil {
		t.Fatal(err)
	}
	if err := history.Append(message(audit.Record{Writer: "one-more", WSeq: 1}.Append(nil))); err == nil {
		t.Error("one writer more was accepted")
	}
}

func TestReceiptsOfOtherVersionsAreRefused(t *testing.T) {
	for _, text := range []string{`{"hookrouter_audit_receipt":3}`, `{"hookrouter_audit_receipt":0}`, `{}`, `hello`} {
		if _, err := audit.ParseReceipt([]byte(text)); err == nil {
			t.Errorf("%s: accepted", text)
		}
	}
}

func TestProveNeedsTheWholeLog(t *testing.T) {
	parts := makeLog(1, 1, "fine", router.Signer)
	parts[0].seq = 2
	if _, err := audit.Prove(t.Context(), bytes.NewReader(export(t, parts)), 1, 0); err == nil {
		t.Error("proved")
	}
}
