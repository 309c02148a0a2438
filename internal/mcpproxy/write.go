package mcpproxy

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Error codes of JSON-RPC. codeRefused is for messages that the proxy or a policy refuses.
const (
	codeParse   = -32700
	codeInvalid = -32600
	codeParams  = -32602
	codeRefused = -32000
)

// reply returns a response with a result.
func reply(id jsontext.Value, result []byte) []byte {
	w := events.NewObjectWriter(nil)
	w.String("jsonrpc", "2.0")
	w.Raw("id", orNull(id))
	w.Raw("result", result)
	return w.End()
}

// failure returns a response with an error. A nil id means that the id is unknown.
func failure(id jsontext.Value, code int, text string) []byte {
	w := events.NewObjectWriter(nil)
	w.String("jsonrpc", "2.0")
	w.Raw("id", orNull(id))
	w.Object("error", func(w *events.ObjectWriter) {
		w.Int("code", int64(code))
		w.String("message", text)
	})
	return w.End()
}

func orNull(id jsontext.Value) []byte {
	if id == nil {
		return []byte("null")
	}
	return id
}

// toolError returns a failed tool result with a reason for the model. modern is set for protocol
// revisions with a resultType in results.
func toolError(text string, modern bool) []byte {
	w := events.NewObjectWriter(nil)
	if modern {
		w.String("resultType", "complete")
	}
	w.Raw("content", contentOf(text))
	w.Flag("isError", true)
	return w.End()
}

// contentOf returns the content of a tool result with one text.
func contentOf(text string) []byte { return append(append([]byte{'['}, textContent(text)...), ']') }

func textContent(text string) []byte {
	w := events.NewObjectWriter(nil)
	w.String("type", "text")
	w.String("text", text)
	return w.End()
}

// progress returns a progress notification for a request.
func progress(token jsontext.Value, done float64, text string) []byte {
	w := events.NewObjectWriter(nil)
	w.String("jsonrpc", "2.0")
	w.String("method", "notifications/progress")
	w.Object("params", func(w *events.ObjectWriter) {
		w.Raw("progressToken", token)
		w.Number("progress", done)
		w.String("message", text)
	})
	return w.End()
}

// with returns an object with one member replaced, or added at the end. The other members keep
// their bytes and their order.
func with(o events.Object, name string, value []byte) []byte {
	w := events.NewObjectWriter(make([]byte, 0, len(o.Bytes())+len(value)+len(name)+4))
	found := false
	for n, v := range o.All() {
		if n == name {
			v, found = value, true
		}
		w.Raw(quoted(n), v)
	}
	if !found {
		w.Raw(name, value)
	}
	return w.End()
}

// quoted returns the JSON encoding of a member's name without the quotes.
func quoted(name string) string {
	text, _ := jsontext.AppendQuote(nil, name) // parsed as JSON before
	return string(text[1 : len(text)-1])
}

// appended returns a result with a text added to the end of its content.
func appended(result events.Object, text string) []byte {
	content, _ := result.Get("content")
	list := bytes.TrimSpace(content)
	if content.Kind() != '[' {
		return with(result, "content", contentOf(text))
	}
	list = bytes.TrimRight(list[:len(list)-1], " \t\r\n")
	longer := append(make([]byte, 0, len(list)+len(text)+32), list...)
	if len(longer) > 1 {
		longer = append(longer, ',')
	}
	return with(result, "content", append(append(longer, textContent(text)...), ']'))
}
