package main

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestStylesOfATerminalBecomeClasses(t *testing.T) {
	for text, want := range map[string][]part{
		"plain":                          {{"plain", ""}},
		"\x1b[31mdeny\x1b[0m  why":       {{"deny", "r"}, {"  why", ""}},
		"\x1b[1;31mDENIED\x1b[0m":        {{"DENIED", "b r"}},
		"\x1b[2K\x1b]0;title\x07\x1b(Bx": {{"x", ""}},
		"":                               nil,
	} {
		if got := parse(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestThePictureIsXML(t *testing.T) {
	svg := draw("a <b> & c", []line{
		{typed: true, parts: []part{{"$ ", "d"}, {"echo '<&>'", "b"}}},
		{parts: []part{{"<&>  two", ""}}},
		{},
	})
	d := xml.NewDecoder(strings.NewReader(svg))
	var said strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if text, ok := token.(xml.CharData); ok {
			said.Write(text)
		}
	}
	for _, want := range []string{"a <b> & c", "echo '<&>'", "<&>  two"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the picture lacks %q:\n%s", want, svg)
		}
	}
}
