// Package limits is the builtin limits: it stops an agent that calls too many tools, or uses too
// many tokens or too much money, until the use expires or its session ends.
//
//	hooks:
//	  - id: limits
//	    builtin:
//	      limits:
//	        rules:
//	          - {per: [session], calls: 60, within: 1m}
//	          - {per: [agent], tools: [shell], calls: 1000, within: 1h, then: ask}
//	          - {per: [session], cost: 5}
//
// The default rules allow each session 120 calls per minute and 5000 in all.
//
// # Counting
//
// A call counts when the agent asks for it, whatever later hooks decide. A denied call does not
// count for the rule that denied it, but may count for others. A count expires a twelfth of the
// window late, so that no span as long as the window ever has more calls than allowed. Replicas
// share exact counts and use the clock of NATS.
//
// Tokens and cost are taken from llm:response. They count after they were used; once a limit is
// reached, the next tools, prompts and model calls are stopped. The cost is the one in the event,
// or is computed from prices. For an agent that reports usage with provider:response, list that
// event in the hook's events instead of llm:response; with both, usage would count twice.
//
// Events without a session count as one session. "Agent" means the source of the event. The sender
// chooses the source, the session and the parent session; only its identity is authenticated. So
// only a limit per identity can't be evaded with a new session. All senders without an identity
// count as one.
//
// # Failure
//
// limits is a guard: if the counts are unavailable, it fails, and its on_failure applies, which is
// deny by default.
package limits
