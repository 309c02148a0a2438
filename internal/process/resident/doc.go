// Package resident keeps an external program running and sends it requests, a line of
// JSON each, instead of starting it for each of them.
//
// # Usage
//
// [New] describes the program, [Process.Start] starts it (the first question does so
// otherwise), [Process.Ask] asks, [Process.Close] ends it.
//
// # Protocol
//
// A question is a JSON object on one line of the program's standard input. Its first
// member is id: a random text, another for each question. The program answers with a
// line on its standard output, in any order and any time:
//
//	{"id":"…","result":…}
//	{"id":"…","error":"why there is no result"}
//
// An answer counts once, for the question whose id it has. An answer with any other id, and a line
// of another form, is logged and dropped. Since nobody can guess an id, text that the
// program was given and prints by carelessness can't be an answer either.
//
// # Failure
//
// A question fails where its context is over, where the answer is an error or has
// other members, and where the program ends. The program is killed, with its
// children, where a line is longer than [Options.MaxLine] and where it hangs: when as many
// questions as it may be asked at once are each older than [Options.Timeout]. A program
// that ended is started again: at once if it has answered, else after a pause that
// doubles up to [MaxPause].
//
// # Standard error
//
// What the program writes to its standard error is logged line by line, at most
// some lines a second.
//
// # Concurrency
//
// A Process may be used by any number of goroutines. It has a few of its own and holds
// a thread; [Process.Close] waits for them.
package resident
