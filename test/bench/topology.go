package main

import (
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The prefixes of the two routers and of the relay. All have the same length. The second router
// gets the further hooks on other events. With prefixFloor, the relay publishes nothing.
const (
	prefixRouter = "bench"
	prefixCrowd  = "crowd"
	prefixFloor  = "floor"
	prefixRelay  = "relay"
)

// Hooks that are not part of the chains.
const (
	furtherHooks = 10_000
	skippedHooks = 1_000
	collectHooks = 20
	silentHook   = 7 // the index of the collect hook that does not answer
)

// chains maps the last part of an event's name to its number of hooks.
var chains = map[string]int{"one": 1, "three": 3, "ten": 10, "skip": 3}

// Events of the bench.
const (
	eventOne     = "bench:one"
	eventThree   = "bench:three"
	eventTen     = "bench:ten"
	eventSkip    = "bench:skip" // like three, after the skipped hooks
	eventCollect = "bench:collect"
)

// hopID returns the id of hook i of a chain. Chains share their hooks.
func hopID(i int) string { return fmt.Sprintf("hop-%02d", i) }

func collectID(i int) string { return fmt.Sprintf("collect-%02d", i) }

// subjects returns the subjects of a valid prefix.
func subjects(prefix string) events.Subjects {
	s, err := events.NewSubjects(prefix)
	if err != nil {
		panic(err) // an invalid constant in this package
	}
	return s
}

// eventsOf returns the events of hook i.
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

// resultSize is the size of the result that the router publishes for a chain of three hooks, in
// bytes.
const resultSize = 313

// dataSize is the size of an event's data, in bytes.
const dataSize = 1024

// eventData returns the data of an event of a session: a tool's input of the size of a small edit.
// It includes the timestamp that the router would add, so that the hooks get the same bytes in both
// arms.
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
