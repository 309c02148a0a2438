// Package conformance replays the conformance suite against a live router.
//
// The suite (testdata/public.json, described in FORMAT.md) is a list of cases:
// hooks with a scripted behavior, steps that an agent takes, and what must hold
// after each step. The package is a second reading of the wire protocol: it
// speaks NATS and JSON and nothing of this module, so that a mistake shared by
// the router and its client libraries does not cancel out here.
//
// # Usage
//
//	cases, err := conformance.Load("testdata/public.json")
//	...
//	for _, c := range cases {
//		if err := conformance.Run(ctx, conformance.Target{Conn: nc, Prefix: "hooks"}, c); err != nil {
//			// every expectation that was not met, one a line
//		}
//	}
//
// # Isolation
//
// A case registers its hooks, ends the sessions it is about to use, and
// unregisters when it is over. It assumes that nobody else uses the prefix
// meanwhile: the suite's cases name the same sessions and listen to the same
// events. Cases that are to run at the same time need a router and a prefix each;
// they may share a connection.
//
// # Sessions
//
// The bytes of a step's data are sent as they stand in the case. Where no step of
// the case executes, they travel as plain JSON. A case that executes needs the
// memory of a session, which much of the suite's data does not name; its events
// are CloudEvents in binary mode and name the session in ce-subject.
//
// # Ordering
//
// All deliveries of a case come out of one channel in the order in which the
// connection read them, and are logged before anything is done about them. When a
// step has its reply, the log is closed with a mark sent through the same channel,
// so a call that was made before the reply is never missed.
//
// # Approvals
//
// The scripted approval system hears of an approval request by approval:required, so the
// router has to publish data in full (its default).
//
// # Testing
//
// TestConformance starts its own routers. With HOOKROUTER_NATS_URL it replays the
// suite against the router that serves HOOKROUTER_PREFIX ("hooks" where it is not
// set) on that server; several prefixes, with a comma between them, are several
// routers. Cases that need the execute side are skipped, and counted, where nobody
// serves it.
//
// # Client libraries
//
// Target.Hooks has the scripted hooks run by a client library, in a process of its own
// that speaks JSON lines: see [Hooks]. This package then gets a copy of each call, so what
// a case expects of calls is still read from the wire. TestConformanceOfHooks runs the
// command in HOOKROUTER_HOOKS_COMMAND, or else a bridge to pkg/worker.
//
// Target.Agent has a client library send the events and act on the answers: see [Agent].
// TestConformanceOfAgents runs the command in HOOKROUTER_AGENT_COMMAND.
//
// TestConformanceWithin replays the suite with pkg/local, without a router.
//
// # Failure
//
// [Run] tells an expectation that is not met from a case that could not be
// replayed (a refused request, no reply) only by its text: both fail the case. The
// first goes on with the next step, the second ends the case.
package conformance
