package term

import "testing"

func TestNothingForeignMovesTheCursor(t *testing.T) {
	if got, want := Clean("a\x1b[31mb\u009b2J\u202ec\nd\te\u00a0\xff"), "a[31mb2Jc d e \ufffd"; got != want {
		t.Errorf("cleaned %q; want %q", got, want)
	}
	text := "{\"a\":\"\u009b\u202e\U000e0041ü\"}\n"
	if got, want := escapeControls(text), "{\"a\":\"\\u009b\\u202e\\udb40\\udc41ü\"}\n"; got != want {
		t.Errorf("escaped %q; want %q", got, want)
	}
}
