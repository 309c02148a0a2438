package events

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// decodeHeader decodes ce-* headers, whose names may have any case. found is false if there are
// none.
func decodeHeader(header map[string][]string) (ev Event, found bool, err error) {
	var read attributes
	for key, values := range header {
		if len(key) < 3 || key[0]|0x20 != 'c' || key[1]|0x20 != 'e' || key[2] != '-' {
			continue
		}
		for _, value := range values {
			found = true
			read.add(key, Unescape(value))
		}
	}
	switch {
	case !found:
		return Event{}, false, nil
	case read.binary != "":
		return Event{}, true, fmt.Errorf("the header %s is not text in UTF-8", strings.ToLower(clip(read.binary)))
	case read.conflict != "":
		return Event{}, true, fmt.Errorf("the header %s is given twice, with different values", strings.ToLower(clip(read.conflict)))
	}
	return read.event, true, checkAttributes(read.event, read.version)
}

// attributes are those of an event, while its headers are read.
type attributes struct {
	event   Event
	version string
	// conflict and binary are headers with two values, and with a value that is not text.
	conflict, binary string
}

// add adds the value of a ce-* header.
func (a *attributes) add(key, value string) {
	if !utf8.ValidString(value) {
		a.binary = key
	}
	set := func(attribute *string) {
		if *attribute != "" && value != "" && *attribute != value {
			a.conflict = key
		}
		if value != "" {
			*attribute = value
		}
	}
	ev := &a.event
	switch attr := strings.ToLower(key[3:]); attr {
	case "specversion":
		set(&a.version)
	case "id":
		set(&ev.ID)
	case "source":
		set(&ev.Source)
	case "type":
		set(&ev.Name)
	case "subject":
		set(&ev.Session)
	case "time":
		set(&ev.Time)
	case "datacontenttype", "dataschema":
	default:
		if ev.Extensions == nil {
			ev.Extensions = map[string]string{}
		}
		have := ev.Extensions[attr]
		set(&have)
		ev.Extensions[attr] = have
	}
}

// checkAttributes validates the attributes by the rules of CloudEvents 1.0.
func checkAttributes(ev Event, version string) error {
	for _, required := range [...]struct{ name, value string }{
		{"specversion", version}, {"id", ev.ID}, {"source", ev.Source}, {"type", ev.Name},
	} {
		if required.value == "" {
			return fmt.Errorf("the header ce-%s is missing: a CloudEvent needs ce-specversion, ce-id, ce-source and ce-type", required.name)
		}
	}
	if version != "1.0" {
		return fmt.Errorf("ce-specversion is %q: only 1.0 is known", clip(version))
	}
	if _, err := url.Parse(ev.Source); err != nil {
		return errors.New("ce-source is not a URI reference")
	}
	if ev.Time != "" {
		if _, err := time.Parse(time.RFC3339Nano, ev.Time); err != nil {
			return fmt.Errorf("ce-time %q is not an RFC 3339 time", clip(ev.Time))
		}
	}
	for name := range ev.Extensions {
		if !isAttributeName(name) {
			return fmt.Errorf("ce-%s: an attribute's name is made of a-z and 0-9", clip(name))
		}
	}
	return nil
}

func isAttributeName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// SetHeader writes the event's attributes into header in CloudEvents binary mode. It overwrites
// ce-* headers of the same names and keeps others.
func (e Event) SetHeader(header map[string][]string) {
	values := [...]string{"1.0", Escape(e.ID), Escape(e.Source), e.Name, Escape(e.Session), Escape(e.Time)}
	for i, name := range [...]string{"ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time"} {
		if values[i] != "" {
			header[name] = values[i : i+1 : i+1]
		}
	}
	extensions := make([]string, 0, len(e.Extensions)) // one allocation for all extensions
	for name, value := range e.Extensions {
		extensions = append(extensions, Escape(value))
		n := len(extensions)
		header["ce-"+name] = extensions[n-1 : n : n]
	}
}

const upperHex = "0123456789ABCDEF"

// Escape percent-encodes a header value as the CloudEvents bindings do: everything except printable
// ASCII characters, and also space, '"' and '%'.
func Escape(s string) string {
	plain := func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '%' }
	first := 0
	for first < len(s) && plain(s[first]) {
		first++
	}
	if first == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	b.WriteString(s[:first])
	for i := first; i < len(s); i++ {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}

// Unescape reverses [Escape]. It returns text that is not escaped correctly unchanged.
func Unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
