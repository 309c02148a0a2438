package wire_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/wire"
)

func TestEscapeJSON(t *testing.T) {
	ascii := func(r rune) bool { return r >= 0x7f }
	for text, want := range map[string]string{
		`{"a":"b"}`: `{"a":"b"}`,
		`"é\u0000"`: `"\u00e9\u0000"`,
		`"😀x"`:      `"\ud83d\ude00x"`,
	} {
		if got := wire.EscapeJSON(text, ascii); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
