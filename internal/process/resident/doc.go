// Package resident keeps an external program running and sends it requests as lines of JSON,
// instead of starting it for each request.
//
// # Usage
//
// [New] configures the program, [Process.Start] starts it (otherwise the first question does),
// [Process.Ask] asks a question, and [Process.Close] ends the program.
//
// # Protocol
//
// A question is a JSON object on one line of the program's standard input. Its first member is id,
// a random string that is unique for each question. The program answers with a line on its standard
// output, in any order and at any time:
//
//	{"id":"…","result":…}
//	{"id":"…","error":"why there is no result"}
//
// The first answer with the id of an open question is used. Other answers and invalid lines are
// logged and dropped. Since ids can't be guessed, untrusted text that the program prints by
// accident can't pass as an answer.
//
// # Failure
//
// A question fails if its context ends, if the answer is an error or has unknown members, or if the
// program exits. The program is killed with its children if a line is longer than
// [Options.MaxLine], or if it hangs: when all [Options.InFlight] questions are older than
// [Options.Timeout]. A program that exited is restarted: immediately if it has answered, otherwise
// after a delay that doubles up to [MaxPause].
//
// # Standard error
//
// The program's standard error is logged line by line, with a rate limit.
//
// # Concurrency
//
// A Process is safe for concurrent use. It has several goroutines and occupies a thread;
// [Process.Close] waits for them.
package resident
