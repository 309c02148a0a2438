package cli

import (
	"encoding/json"
	"slices"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

// Masked returns text with secrets masked by the default rules, as in approval requests. JSON
// output is not masked.
func Masked(text string) string {
	text, _ = redact.Default().ForApproval().Text(text)
	return text
}

// MaskedJSON returns a JSON value with its secrets masked; member names identify secrets too. name
// is the name of the member with this value, and may be empty.
func MaskedJSON(name string, value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return value
	}
	key, _ := json.Marshal(name) // marshaling a string can't fail
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
