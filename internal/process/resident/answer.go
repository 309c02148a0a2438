package resident

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/process"
)

// reply is a line of the program's output.
type reply struct {
	ID     string                    `json:"id"`
	Result jsontext.Value            `json:"result"`
	Error  string                    `json:"error"`
	Others map[string]jsontext.Value `json:",embed"`
}

// hear handles a line of the output.
func (t *talk) hear(text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	var r reply
	if err := jsonv2.Unmarshal(text, &r, jsontext.AllowInvalidUTF8(true)); err != nil || r.ID == "" {
		t.notices.warn("hook process wrote a line that is not an answer", "bytes", len(text))
		return
	}
	q := t.take(r.ID)
	if q == nil {
		t.notices.warn("hook process answered a call that is over, or that nobody made", "bytes", len(text))
		return
	}
	q.answer <- answer{r.Result, r.wrong()}
}

// wrong returns the error of a reply without a valid result; nil if it has one.
func (r reply) wrong() error {
	switch {
	case len(r.Others) > 0:
		name := process.Printable([]byte(slices.Sorted(maps.Keys(r.Others))[0]))
		return fmt.Errorf("its answer has %q beside the id: what a hook answers stands in result", name)
	case r.Error != "" && r.Result != nil:
		return errors.New("its answer has both result and error")
	case r.Error != "":
		return fmt.Errorf("it failed: %s", process.Printable([]byte(r.Error)))
	case r.Result == nil:
		return errors.New("its answer has no result; null is one: continue")
	}
	return nil
}
