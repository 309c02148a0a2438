package events

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ObjectWriter appends the members of one JSON object to a buffer, without reflection. Text and
// Flag omit zero values. It is not safe for concurrent use.
type ObjectWriter struct{ buf []byte }

// NewObjectWriter begins an object at the end of buf, which may be nil.
func NewObjectWriter(buf []byte) ObjectWriter { return ObjectWriter{append(buf, '{')} }

// End completes the object and returns the buffer.
func (w *ObjectWriter) End() []byte { return append(w.buf, '}') }

func (w *ObjectWriter) name(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
}

// Raw writes a member whose value is JSON.
func (w *ObjectWriter) Raw(name string, value []byte) {
	w.name(name)
	w.buf = append(w.buf, value...)
}

// Text writes a member unless its value is empty. Invalid UTF-8 is replaced.
func (w *ObjectWriter) Text(name, value string) {
	if value != "" {
		w.String(name, value)
	}
}

// String writes a member even if its value is empty. Invalid UTF-8 is replaced.
func (w *ObjectWriter) String(name, value string) {
	w.name(name)
	w.buf, _ = jsontext.AppendQuote(w.buf, value) // the error only reports invalid UTF-8
}

// Texts writes a list, even if it is empty.
func (w *ObjectWriter) Texts(name string, values []string) {
	w.name(name)
	w.buf = append(w.buf, '[')
	for i, value := range values {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf, _ = jsontext.AppendQuote(w.buf, value)
	}
	w.buf = append(w.buf, ']')
}

// Flag writes true, or nothing for false.
func (w *ObjectWriter) Flag(name string, value bool) {
	if value {
		w.Raw(name, []byte("true"))
	}
}

// Int writes an integer.
func (w *ObjectWriter) Int(name string, value int64) {
	w.name(name)
	w.buf = strconv.AppendInt(w.buf, value, 10)
}

// Number writes a number, which must be finite.
func (w *ObjectWriter) Number(name string, value float64) {
	w.name(name)
	w.buf = strconv.AppendFloat(w.buf, value, 'g', -1, 64)
}

// Object writes an object, even if it is empty. write writes its members.
func (w *ObjectWriter) Object(name string, write func(w *ObjectWriter)) {
	w.name(name)
	w.buf = append(w.buf, '{')
	write(w)
	w.buf = append(w.buf, '}')
}

// Objects writes a list of n objects. write writes the members of the i-th.
func (w *ObjectWriter) Objects(name string, n int, write func(i int, w *ObjectWriter)) {
	w.name(name)
	w.buf = append(w.buf, '[')
	for i := range n {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, '{')
		write(i, w)
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, ']')
}
