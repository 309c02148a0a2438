package events

import "testing"

func TestObjectWriterWritesObjects(t *testing.T) {
	w := NewObjectWriter([]byte("before "))
	w.Object("empty", func(*ObjectWriter) {})
	w.Object("outer", func(w *ObjectWriter) {
		w.Text("a", "x")
		w.Object("inner", func(w *ObjectWriter) { w.Int("b", 1) })
		w.Flag("c", true)
	})
	w.Flag("d", true)
	const want = `before {"empty":{},"outer":{"a":"x","inner":{"b":1},"c":true},"d":true}`
	if got := string(w.End()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
