package cli

import (
	"encoding/json"
	"slices"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

// Masked is what people are shown of a text: its secrets are masked by the default rules, as in
// approval requests. JSON output is exact.
func Masked(text string) string {
	text, _ = redact.Default().ForApproval().Text(text)
	return text
}

// MaskedJSON is Masked for a JSON value, in which the names of members tell secrets, too. name is
// that of the member whose value it is, and may be empty.
func MaskedJSON(name string, value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return value
	}
	key, _ := json.Marshal(name) // a string can be marshaled
	object, _ := redact.Default().ForApproval().Object(slices.Concat([]byte("{"), key, []byte(":"), value, []byte("}")))
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil || len(members) != 1 {
		return json.RawMessage(Masked(string(value)))
	}
	for _, masked := range members {
		return masked
	}
	return nil
}
