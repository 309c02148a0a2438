package main

import (
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The prefixes of the two routers and of the relay, of one length. The second router is the one
// that gets further hooks on other events. As the floor, the relay publishes nothing.
const (
	prefixRouter = "bench"
	prefixCrowd  = "crowd"
	prefixFloor  = "floor"
	prefixRelay  = "relay"
)

// What there is besides the chains.
const (
	furtherHooks = 10_000
	skippedHooks = 1_000
	collectHooks = 20
	silentHook   = 7 // the one of them that does not answer
)

// chains maps the last part of an event's name to how many hooks it has.
var chains = map[string]int{"one": 1, "three": 3, "ten": 10, "skip": 3}

// Events of the bench.
const (
	eventOne     = "bench:one"
	eventThree   = "bench:three"
	eventTen     = "bench:ten"
	eventSkip    = "bench:skip" // as three, behind the skipped hooks
	eventCollect = "bench:collect"
)

// hopID is the id of the hook at a place of a chain; chains share their hooks.
func hopID(i int) string { return fmt.Sprintf("hop-%02d", i) }

func collectID(i int) string { return fmt.Sprintf("collect-%02d", i) }

// subjects of a prefix that is known to be good.
func subjects(prefix string) events.Subjects {
	s, err := events.NewSubjects(prefix)
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return s
}

// eventsOf are the events on which the hook at a place is registered.
func eventsOf(i int) []string {
	switch {
	case i < 1:
		return []string{eventOne, eventThree, eventTen, eventSkip}
	case i < 3:
		return []string{eventThree, eventTen, eventSkip}
	default:
		return []string{eventTen}
	}
}

// resultSize is the size of what the router publishes of a chain of three hooks, in bytes.
const resultSize = 313

// dataSize is the size of an event's data, in bytes.
const dataSize = 1024

// eventData is the data of an event of a session: a tool's input of the size of
// a small edit. It has the timestamp that the router would put there, so that the
// hooks get the same bytes in both arms.
func eventData(session string) []byte {
	const line = `fmt.Fprintf(w, \"%d of %d\\n\", done, all) // one more line of a file\n`
	head := `{"session_id":"` + session + `","tool_name":"Write","tool_input":{"command":"write","file_path":"/srv/app/main.go","content":"`
	tail := `"},"timestamp":"` + events.Now() + `"}`
	room := dataSize - len(head) - len(tail)
	content := ""
	for len(content)+len(line) <= room {
		content += line
	}
	for len(content) < room {
		content += "x"
	}
	return []byte(head + content + tail)
}
