package index

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// maxID is the maximum length of an id.
const maxID = 4 << 10

// idsOf returns the distinct ids under which a message is indexed. Malformed records have none:
// readers of the whole log find those.
func idsOf(body []byte) (ids []string) {
	lines, err := audit.Lines(body)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	add := func(id []byte) {
		if len(id) > 0 && len(id) <= maxID && !seen[string(id)] {
			ids = append(ids, string(id))
			seen[ids[len(ids)-1]] = true
		}
	}
	for _, line := range lines {
		lineIDs(line, add)
	}
	return ids
}

// lineIDs calls add with the ids of one record. Only top-level members count: an agent may write
// anything into nested data.
func lineIDs(line []byte, add func(id []byte)) {
	var kind, action []byte
	members(line, func(name, value []byte) {
		switch string(name) {
		case "chain_id", "session_id", "event_id", "approval_id":
			add(text(value))
		case "kind":
			kind = text(value)
		case "action":
			action = text(value)
		}
	})
	if string(action) == "deny" && slices.Contains([]string{string(audit.ChainResult), string(audit.ApprovalDecided)}, string(kind)) {
		add([]byte(Denied))
	}
}

// members calls handle with each string member of a JSON object on one line. It stops if the
// line is not in the form that routers write.
func members(line []byte, handle func(name, value []byte)) {
	if len(line) == 0 || line[0] != '{' {
		return
	}
	for rest := line[1:]; ; {
		name, after, ok := quoted(rest)
		if !ok || len(after) < 2 || after[0] != ':' {
			return
		}
		rest = after[1:]
		if rest[0] == '"' {
			var value []byte
			if value, rest, ok = quoted(rest); !ok {
				return
			}
			handle(name[1:len(name)-1], value)
		} else if rest = skip(rest); rest == nil {
			return
		}
		if len(rest) == 0 || rest[0] != ',' {
			return
		}
		rest = rest[1:]
	}
}

// quoted splits off a JSON string, with its quotes.
func quoted(text []byte) (value, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	for at := 1; ; {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return nil, nil, false
		}
		at += i
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		at++
		if escapes%2 == 0 {
			return text[:at], text[at:], true
		}
	}
}

// skip skips a value that is not a string. It returns nil if the value is truncated.
func skip(text []byte) []byte {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			_, rest, ok := quoted(text[i:])
			if !ok {
				return nil
			}
			i = len(text) - len(rest) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return text[i:]
			}
			depth--
		case ',':
			if depth == 0 {
				return text[i:]
			}
		}
	}
	return nil
}

// text decodes a JSON string; empty if it is invalid.
func text(value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return nil
	}
	return []byte(s)
}
