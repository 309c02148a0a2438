package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
)

// Behavior is what a scripted hook or contributor does with one call. At most one
// field besides SleepMS is set; with none the answer is JSON null. Written as JSON it
// is what was read: a bridge gets it so.
type Behavior struct {
	Return      json.RawMessage            `json:"return,omitzero"`
	ReturnRaw   json.RawMessage            `json:"return_raw,omitzero"`
	ReturnText  *string                    `json:"return_text,omitzero"`
	ReturnEmpty bool                       `json:"return_empty,omitzero"`
	Error       *string                    `json:"error,omitzero"`
	NoResponder bool                       `json:"no_responder,omitzero"` // registered, but nobody subscribes
	Set         map[string]json.RawMessage `json:"set,omitzero"`
	Remove      *string                    `json:"remove,omitzero"`
	Increment   *string                    `json:"increment,omitzero"`
	Append      *Append                    `json:"append,omitzero"`
	Mutate      json.RawMessage            `json:"mutate,omitzero"`   // changes a copy that nobody sees
	Sequence    []Behavior                 `json:"sequence,omitzero"` // the n-th call behaves as the n-th; the last repeats
	Value       json.RawMessage            `json:"value,omitzero"`    // a contributor's contribution

	SleepMS int `json:"sleep_ms,omitzero"` // wait first, then answer, even if too late
}

// Append names the list that grows and what it grows by.
type Append struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// What hooks and what contributors can be scripted to do.
var (
	hookKeys = []string{
		"return", "return_raw", "return_text", "return_empty", "error", "no_responder",
		"set", "remove", "increment", "append", "mutate", "sequence",
	}
	contributorKeys = []string{"value", "error", "return_text", "no_responder", "sequence"}
)

// keys names the fields that are set, SleepMS apart.
func (b Behavior) keys() []string {
	var keys []string
	for _, field := range []struct {
		key string
		set bool
	}{
		{"return", b.Return != nil},
		{"return_raw", b.ReturnRaw != nil},
		{"return_text", b.ReturnText != nil},
		{"return_empty", b.ReturnEmpty},
		{"error", b.Error != nil},
		{"no_responder", b.NoResponder},
		{"set", b.Set != nil},
		{"remove", b.Remove != nil},
		{"increment", b.Increment != nil},
		{"append", b.Append != nil},
		{"mutate", b.Mutate != nil},
		{"sequence", b.Sequence != nil},
		{"value", b.Value != nil},
	} {
		if field.set {
			keys = append(keys, field.key)
		}
	}
	return keys
}

// at is the behavior of the call that n calls went before.
func (b Behavior) at(n int) Behavior {
	if len(b.Sequence) == 0 {
		return b
	}
	one := b.Sequence[min(n, len(b.Sequence)-1)]
	one.SleepMS += b.SleepMS
	return one
}

// answer is what goes back on the wire: a body, or a failure in the headers.
type answer struct {
	body  []byte
	fails bool
	cause string // of the failure
}

// answer is the reply to a call with data. It fails where the data is no object
// and the script needs one: then the router sent something it must not send.
func (b Behavior) answer(data []byte) (answer, error) {
	switch {
	case b.Return != nil:
		return answer{body: b.Return}, nil
	case b.ReturnRaw != nil:
		return answer{body: b.ReturnRaw}, nil
	case b.ReturnText != nil:
		return answer{body: []byte(*b.ReturnText)}, nil
	case b.ReturnEmpty:
		return answer{}, nil
	case b.Error != nil:
		return answer{fails: true, cause: *b.Error}, nil
	case b.Mutate != nil:
		return answer{body: []byte(`{"action":"continue"}`)}, nil
	case b.Value != nil:
		return answer{body: b.Value}, nil
	case b.Set != nil || b.Remove != nil || b.Increment != nil || b.Append != nil:
		changed, err := b.change(data)
		if err != nil {
			return answer{}, err
		}
		return answer{body: encode(map[string]any{"action": "modify", "data": changed})}, nil
	default:
		return answer{body: []byte("null")}, nil
	}
}

// change is data with the script's change made. Members it does not touch keep
// their bytes.
func (b Behavior) change(data []byte) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		return nil, fmt.Errorf("change the data of a call: no JSON object: %.200q", data)
	}
	switch {
	case b.Set != nil:
		maps.Copy(object, b.Set)
	case b.Remove != nil:
		delete(object, *b.Remove)
	case b.Increment != nil:
		object[*b.Increment] = increment(object[*b.Increment])
	case b.Append != nil:
		var list []json.RawMessage
		if err := json.Unmarshal(object[b.Append.Key], &list); err != nil {
			list = nil // missing or no list counts as empty
		}
		object[b.Append.Key] = encode(append(list, b.Append.Value))
	}
	return object, nil
}

// increment is value plus one, exactly, whatever its size. What is not written
// as an integer counts as 0.
func increment(value json.RawMessage) json.RawMessage {
	number, ok := new(big.Int).SetString(string(value), 10)
	if !ok {
		number = new(big.Int)
	}
	return json.RawMessage(number.Add(number, big.NewInt(1)).String())
}
