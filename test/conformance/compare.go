package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"time"
)

// decode reads the one JSON document in raw and keeps numbers as they are written.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode JSON: %w: %.200q", err, raw)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("decode JSON: something follows the document: %.200q", raw)
	}
	return v, nil
}

// encode is v as compact JSON, without the escapes that are meant for HTML. It
// panics on what JSON cannot hold: its arguments come from JSON.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// strictness says how much of an object has to be expected.
type strictness bool

const (
	exact  strictness = false // the same keys
	subset strictness = true  // at least the expected keys, at every depth
)

// difference finds the first place where got is not as wanted. The path is empty
// where that is the value itself.
func difference(want, got any, s strictness) (path string, differ bool) {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return "", true
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			value, ok := got[key]
			if !ok {
				return "." + key, true
			}
			if path, differ := difference(want[key], value, s); differ {
				return "." + key + path, true
			}
		}
		if s == subset {
			return "", false
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if _, ok := want[key]; !ok {
				return "." + key, true
			}
		}
		return "", false
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return "", true
		}
		for i := range want {
			if path, differ := difference(want[i], got[i], s); differ {
				return fmt.Sprintf("[%d]%s", i, path), true
			}
		}
		return "", false
	case json.Number:
		got, ok := got.(json.Number)
		return "", !ok || !sameNumber(want, got)
	default: // null, true, false, a string
		switch got.(type) {
		case map[string]any, []any:
			return "", true
		}
		return "", want != got
	}
}

// sameNumber compares by exact value: 1 is 1.0, and 2^53 is not 2^53+1.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

// withoutStamp is got, a data object, without the router's timestamp, unless want
// speaks about it.
func withoutStamp(want, got any) any {
	if want, ok := want.(map[string]any); ok {
		if _, ok := want["timestamp"]; ok {
			return got
		}
	}
	object, ok := got.(map[string]any)
	if !ok {
		return got
	}
	object = maps.Clone(object)
	delete(object, "timestamp")
	return object
}

// stampTolerance is how far a stamp may be from this machine's clock.
const stampTolerance = 5 * time.Minute

// stamped reports why v is no timestamp that a router has just set.
func stamped(v any, now time.Time) error {
	text, ok := v.(string)
	if !ok {
		return errors.New("no string")
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	if _, offset := at.Zone(); offset != 0 {
		return errors.New("not in UTC")
	}
	if at.Sub(now).Abs() > stampTolerance {
		return fmt.Errorf("more than %s from now", stampTolerance)
	}
	return nil
}

// show is v as JSON for a person: what is long is cut in the middle.
func show(v any) string {
	const head, tail = 300, 60
	text := string(encode(v))
	if len(text) <= head+tail {
		return text
	}
	return fmt.Sprintf("%s…(%d bytes)…%s", text[:head], len(text), text[len(text)-tail:])
}

// unmet is the error of an expectation that does not hold.
func unmet(key string, want, got any) error {
	return fmt.Errorf("%s: want %s, got %s", key, show(want), show(got))
}

// compare is the error of an expectation that got does not meet, nil where it does.
func compare(key string, want, got any, s strictness) error {
	path, differ := difference(want, got, s)
	switch {
	case !differ:
		return nil
	case path == "":
		return unmet(key, want, got)
	default:
		return fmt.Errorf("%w (at %s)", unmet(key, want, got), path)
	}
}
